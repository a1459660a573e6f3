//! Closes the queues of bases that get another name or are deleted.

use std::sync::{Arc, PoisonError};

use super::Jobs;
use super::line::Line;

impl Jobs {
    /// Closes the queue of a base that gets another name. Returns false, and changes nothing, while a
    /// job waits or runs, or while none may begin.
    pub(crate) async fn close_idle(&self, base: &str) -> bool {
        let Some(line) = self.line_of(base) else { return true };
        // No job can arrive while the order is held.
        let _order = line.order.lock().await;
        // A deletion of files may hold the gate.
        let gate = line.gate.try_write();
        let is_idle = gate.is_ok() && self.waiting(base) == 0;
        if is_idle {
            self.close(&line);
        }
        is_idle
    }

    /// Closes the queue of a base that is deleted. Waiting jobs are dropped with the base; nothing
    /// may use the base any more.
    pub(crate) async fn close_deleted(&self, base: &str) {
        let Some(line) = self.line_of(base) else { return };
        let _order = line.order.lock().await;
        self.close(&line);
    }

    /// Closes the queue of a base that another server renamed or deleted. No job of this server runs
    /// there.
    pub(crate) fn close_changed(&self, base: &str) {
        if let Some(line) = self.line_of(base) {
            self.close(&line);
        }
    }

    fn line_of(&self, base: &str) -> Option<Arc<Line>> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.get(base).cloned()
    }

    fn close(&self, line: &Line) {
        line.closed.cancel();
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).remove(&line.base);
        let mut states = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        states.retain(|(base, _), _| *base != line.base);
    }
}
