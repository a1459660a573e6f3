//! Takes the jobs of a base, for a worker that visits several bases in turn.

use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError};

use pikerag_engine::knowledge::{Share, Taking};
use pikerag_engine::{Session, shares_jobs};

use super::line::Line;
use super::{Host, Jobs, offer, run};
use crate::problem::Problem;

/// The files of a job that a worker takes at a time.
const BATCH: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

impl Jobs {
    /// The jobs of a base that a worker visits: nothing runs by itself.
    pub(crate) fn visited(&self, base: &str) -> Arc<Line> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(lines.entry(base.to_owned()).or_insert_with(|| Arc::new(Line::new(base))))
    }

    /// Runs the next part of a base's jobs. Returns whether there was one.
    pub(crate) async fn run_next(host: &Arc<dyn Host>, line: &Line) -> Result<bool, Problem> {
        run::next(host, line).await
    }

    /// Offers the remaining work of a base, if a part ran since the last time.
    pub(crate) async fn offer_rest(host: &Arc<dyn Host>, line: &Line) -> Result<(), Problem> {
        match line.take_uncounted() {
            true => offer::offer(host, line).await,
            false => Ok(()),
        }
    }

    /// A request for a part of a base's jobs.
    pub(super) fn taking(&self, session: &Session) -> Taking {
        let share = match shares_jobs(session) {
            true => Share::Files(BATCH),
            false => Share::Whole,
        };
        Taking { worker: self.worker.clone(), holds: self.holds, share }
    }
}
