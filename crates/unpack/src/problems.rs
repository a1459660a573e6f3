//! Collects the problems of a file that was read in part.

use pikerag_knowledge::{Problem, ProblemFact};

/// The most problems that are listed; further ones are only counted, so that a file of a million
/// bad lines does not give a million messages.
const MOST: usize = 1_000;

/// The problems of one file, in the order of discovery.
#[derive(Debug, Default)]
pub struct Problems {
    list: Vec<Problem>,
    more: usize,
}

impl Problems {
    /// Adds a problem; `place` is empty for the file as a whole.
    pub fn add(&mut self, place: impl Into<String>, fact: ProblemFact) {
        self.push(Problem::new(place, fact));
    }

    /// Adds a problem of a file inside this one.
    pub fn push(&mut self, problem: Problem) {
        if self.list.len() < MOST {
            self.list.push(problem);
        } else {
            self.more += 1;
        }
    }

    /// The last problem found; unchanged after the thousandth.
    pub fn last(&self) -> Option<&Problem> {
        self.list.last()
    }

    /// The list, followed by the number of unlisted problems.
    pub fn finish(mut self) -> Vec<Problem> {
        if 0 < self.more {
            self.list.push(Problem::new("", ProblemFact::NotListed { problems: self.more }));
        }
        self.list
    }
}
