//! Ends a run, and holds the record, the events and the answer of one that has ended.

use pikerag_knowledge::{
    Answer, Event, ForkPoint, RunEvent, RunRecord, RunState, ScoredReply, Structured, error_chain,
};

use super::Run;
use crate::ports::SolveError;
use crate::verdict::bare;

/// A run that has ended: answered, failed or cancelled.
#[derive(Debug)]
pub struct Finished {
    /// Its state, its cost, its answer.
    pub record: RunRecord,
    /// The events, in order.
    pub events: Vec<RunEvent>,
    /// The answer, or why there is none.
    pub result: Result<Answer, SolveError>,
    /// The replies that came with log-probabilities, in the order made.
    pub scored: Vec<ScoredReply>,
    /// What was read as records for the question, also by a run that failed later.
    pub structured: Vec<Structured>,
}

impl Finished {
    /// The events, without numbers and times.
    pub fn trace(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().map(|event| &event.event)
    }

    /// The perplexity, from 1, of the reply that gave the answer: the last with log-probabilities that holds
    /// its words, else the last of all. `None` for a refusal, and where no reply had log-probabilities.
    pub fn perplexity(&self) -> Option<f64> {
        let answer = self.result.as_ref().ok().filter(|answer| !answer.refused)?;
        let words = bare(&answer.text);
        let holds = |reply: &&ScoredReply| !words.is_empty() && bare(&reply.text).contains(&words);
        let own = self.scored.iter().rev().find(holds).or(self.scored.last())?;
        Some(own.probability.recip())
    }

    /// Where it was forked, if it was.
    pub fn forked(&self) -> Option<&ForkPoint> {
        self.record.forked.as_ref()
    }
}

impl Run {
    /// Ends the run with its result.
    pub fn end(mut self, result: Result<Answer, SolveError>) -> Finished {
        let result = match self.divergence() {
            Some(error) if result.is_ok() => Err(error),
            _ => result,
        };
        match &result {
            Ok(answer) => {
                self.record.state = RunState::Answered;
                self.record.answer = Some(answer.clone());
            }
            Err(SolveError::Cancelled) => self.record.state = RunState::Cancelled,
            Err(error) => {
                self.record.state = RunState::Failed;
                self.record.error = Some(error_chain(error));
            }
        }
        self.record.ended = Some((self.params.clock)());
        self.send_record();
        Finished {
            record: self.record,
            events: self.events,
            result,
            scored: self.account.scored,
            structured: self.structured,
        }
    }
}
