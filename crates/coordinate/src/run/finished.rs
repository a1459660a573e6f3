//! What is left of a run that has ended?

use pikerag_knowledge::{Answer, Event, ForkPoint, RunEvent, RunRecord};

use crate::ports::SolveError;

/// A run that has ended, in whichever way.
#[derive(Debug)]
pub struct Finished {
    /// Its state, its cost, its answer.
    pub record: RunRecord,
    /// What happened, in order.
    pub events: Vec<RunEvent>,
    /// The answer, or why there is none.
    pub result: Result<Answer, SolveError>,
}

impl Finished {
    /// What happened, without numbers and times.
    pub fn trace(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().map(|event| &event.event)
    }

    /// Where it was forked, if it was.
    pub fn forked(&self) -> Option<&ForkPoint> {
        self.record.forked.as_ref()
    }
}
