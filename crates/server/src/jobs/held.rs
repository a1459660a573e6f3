//! Keeps the jobs of a base from beginning, here and in other processes.

use std::sync::Arc;

use pikerag_engine::knowledge::{Jobs as JobStore, Lease};
use tokio::runtime::Handle;
use tokio::sync::OwnedRwLockWriteGuard;
use tracing::warn;

use super::Host;
use super::line::Line;

/// No part of a job begins until this is dropped, if a part was stopped for it.
pub(crate) struct HeldJobs {
    /// Of this process.
    pub(super) gate: Option<OwnedRwLockWriteGuard<()>>,
    /// Of all processes.
    pub(super) hold: Option<(Arc<dyn JobStore>, Lease)>,
    line: Arc<Line>,
    runtime: Handle,
}

impl HeldJobs {
    pub(super) fn new(host: &Arc<dyn Host>, line: &Arc<Line>) -> Self {
        let (line, runtime) = (Arc::clone(line), host.runtime().clone());
        Self { gate: None, hold: None, line, runtime }
    }
}

impl Drop for HeldJobs {
    fn drop(&mut self) {
        let gate = self.gate.take();
        let Some((store, lease)) = self.hold.take() else { return };
        let line = Arc::clone(&self.line);
        let releasing = async move {
            if let Err(error) = store.release_lease(lease).await {
                warn!(base = line.base, %error, "jobs wait until the hold on them runs out");
            }
            drop(gate);
            line.wake.notify_one();
        };
        drop(self.runtime.spawn(releasing));
    }
}
