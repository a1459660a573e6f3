//! The port to the store of runs.

use async_trait::async_trait;

use super::{RunEvent, RunRecord};
use crate::id::RunId;
use crate::ports::StoreError;
use crate::time::Millis;

/// The runs to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunQuery<'a> {
    /// The latest first, at most this number.
    Latest(usize),
    /// Those whose name begins so, at most two: enough to detect an ambiguous name.
    Named(&'a str),
}

/// The longest pause between two runs that counts.
const PAUSE: Millis = 7 * 24 * 60 * 60 * 1000;

/// Limits on the kept runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunsToKeep {
    /// The current time.
    pub now: Millis,
    /// The largest age, not counting long pauses: see [`RunsToKeep::pause`].
    pub age: Millis,
    /// The number of latest runs.
    pub number: usize,
}

impl RunsToKeep {
    /// The longest pause between two runs that counts: a week, and a quarter of the age at most. So
    /// a jump of the clock makes no run old.
    pub fn pause(&self) -> Millis {
        PAUSE.min(self.age / 4)
    }

    /// The first of these times of runs, latest first, that is too old; and the size of a jump of
    /// the clock, if it makes runs seem old.
    pub fn too_old(&self, times: &[Millis]) -> (Option<Millis>, Option<Millis>) {
        let (mut last, mut lived) = (self.now, 0);
        let (mut oldest, mut leap) = (None, None);
        for (place, time) in times.iter().enumerate() {
            let pause = last.saturating_sub(*time);
            if place < 2 && self.pause() < pause {
                leap = leap.max(Some(pause));
            }
            lived += pause.min(self.pause());
            if self.age < lived && oldest.is_none() {
                oldest = Some(*time);
            }
            last = *time;
        }
        // If no run seems old, a jump need not be reported.
        let is_old = times.last().is_some_and(|time| self.age < self.now.saturating_sub(*time));
        (oldest, leap.filter(|_| is_old))
    }
}

/// The result of pruning old runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The number of removed runs.
    pub forgotten: usize,
    /// How far the clock is ahead of the run before; if set, no run was removed for its age.
    pub leap: Option<Millis>,
}

/// The store of runs.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
pub trait RunStore: Send + Sync {
    /// Stores a run, or its changes, and its new events, atomically.
    ///
    /// # Errors
    /// The store cannot be written.
    async fn keep_run(&self, run: RunRecord, events: Vec<RunEvent>) -> Result<(), StoreError>;

    /// Runs without their events.
    ///
    /// # Errors
    /// The store cannot be read.
    async fn runs(&self, query: RunQuery<'_>) -> Result<Vec<RunRecord>, StoreError>;

    /// The events of a run, in order; none for an unknown run.
    ///
    /// # Errors
    /// The store cannot be read.
    async fn run_events(&self, run: &RunId) -> Result<Vec<RunEvent>, StoreError>;

    /// Removes runs that are too old, and all but the latest; of the latter, running ones stay.
    /// After a jump of the clock, no run counts as too old.
    ///
    /// # Errors
    /// The store cannot be written.
    async fn prune_runs(&self, keep: RunsToKeep) -> Result<Pruned, StoreError>;
}
