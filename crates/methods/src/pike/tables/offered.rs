//! Says what the tables offer for a question before it is answered: their names and columns, and whether rules are sure how it reads.

use pikerag_knowledge::{Question, TaskClass};
use pikerag_tables::outline;

use super::{Reader, class_of};

/// Characters of the tables that a plan is made from, at most.
const SHOWN: usize = 4000;

impl Reader {
    /// Whether rules account for every word of the question, as a question for a figure or for a forecast.
    pub(in crate::pike) fn is_settled(&self, question: &Question) -> bool {
        match self.asks.ahead {
            true => self.foreseeing(question).is_some(),
            false => self.certain().is_some(),
        }
    }

    /// The class of the question as rules read it over the tables; `None` where they are not sure.
    pub(in crate::pike) fn class(&self) -> Option<TaskClass> {
        self.certain().map(class_of)
    }

    /// The tables in words for a model, those that the question names first.
    pub(in crate::pike) fn in_words(&self, question: &Question) -> String {
        outline(question.query(), &self.catalog, SHOWN)
    }
}
