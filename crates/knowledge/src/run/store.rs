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

/// The longest that a pause between two runs counts.
const PAUSE: Millis = 7 * 24 * 60 * 60 * 1000;

/// Which runs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunsToKeep {
    /// The time by the clock.
    pub now: Millis,
    /// Those of so much time, as the base has lived it: see [`RunsToKeep::pause`].
    pub age: Millis,
    /// The latest so many.
    pub number: usize,
}

impl RunsToKeep {
    /// The longest that a pause between two runs counts: a week, and a quarter of the age at most. A clock that leaps ahead makes
    /// no run old.
    pub fn pause(&self) -> Millis {
        PAUSE.min(self.age / 4)
    }

    /// Of these times of runs, the latest first, the first that is too old; and how far the clock leaped ahead of the run before,
    /// where runs seem old for that.
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
        // Where no clock would make a run old, none need be told of.
        let is_old = times.last().is_some_and(|time| self.age < self.now.saturating_sub(*time));
        (oldest, leap.filter(|_| is_old))
    }
}

/// What came of forgetting old runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many went.
    pub forgotten: usize,
    /// How far the clock is ahead of the run before: then none went for its age.
    pub leap: Option<Millis>,
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

    /// Forgets runs that are too old, and all but the latest; of the latter, what still runs stays. Where the clock leaped ahead,
    /// none is too old.
    ///
    /// # Errors
    /// The store cannot be written.
    async fn prune_runs(&self, keep: RunsToKeep) -> Result<Pruned, StoreError>;
}
