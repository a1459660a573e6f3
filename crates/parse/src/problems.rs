//! What could not be read of a file whose rest was kept?

use pikerag_knowledge::Problem;

/// Problems listed one by one; the rest are counted, so that a file of a million bad lines does
/// not answer with a million complaints.
const MOST: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct Problems {
    list: Vec<Problem>,
    more: usize,
}

impl Problems {
    /// Adds one; `place` is empty for the file as a whole.
    pub(crate) fn add(&mut self, place: impl Into<String>, reason: impl Into<String>) {
        if self.list.len() < MOST {
            self.list.push(Problem { place: place.into(), reason: reason.into() });
        } else {
            self.more += 1;
        }
    }

    /// The one found last; after the thousandth it stays the same.
    pub(crate) fn last(&self) -> Option<&Problem> {
        self.list.last()
    }

    /// The list, closed by a count of those left out.
    pub(crate) fn finish(mut self) -> Vec<Problem> {
        if 0 < self.more {
            let reason = format!("{} more problems are not listed", self.more);
            self.list.push(Problem { place: String::new(), reason });
        }
        self.list
    }
}
