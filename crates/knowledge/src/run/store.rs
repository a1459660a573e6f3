//! The port to where runs are kept.

use async_trait::async_trait;

use super::{RunEvent, RunRecord};
use crate::id::RunId;
use crate::ports::StoreError;
use crate::time::Millis;

/// Which runs are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunQuery<'a> {
    /// The latest first, at most so many.
    Latest(usize),
    /// Those whose name begins so, at most two: enough to see that a name is not clear.
    Named(&'a str),
}

/// Where runs are kept.
#[async_trait]
pub trait RunStore: Send + Sync {
    /// Keeps a run, or what changed of it, and new events of it; all or nothing.
    ///
    /// # Errors
    /// The store cannot be written.
    async fn keep_run(&self, run: RunRecord, events: Vec<RunEvent>) -> Result<(), StoreError>;

    /// Runs without their events.
    ///
    /// # Errors
    /// The store cannot be read.
    async fn runs(&self, query: RunQuery<'_>) -> Result<Vec<RunRecord>, StoreError>;

    /// The events of a run, in order; none for a run that is not kept.
    ///
    /// # Errors
    /// The store cannot be read.
    async fn run_events(&self, run: &RunId) -> Result<Vec<RunEvent>, StoreError>;

    /// Forgets runs that began before `before`, and all but the `keep` latest; how many went. Of the
    /// latter, what still runs stays.
    ///
    /// # Errors
    /// The store cannot be written.
    async fn prune_runs(&self, before: Millis, keep: usize) -> Result<usize, StoreError>;
}
