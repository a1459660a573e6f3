//! Sums the costs of this user's questions over all bases, for forecasts. It stores sums by model
//! and method, and no question, text or name of a base.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pikerag_eval::cost_model::{Asked, Bill};
use serde::{Deserialize, Serialize};

use crate::state_file::{read, update};

/// The fewest questions that a forecast may learn from.
const FEWEST: u64 = 5;

/// The sums, in a file in the user's own folder; none if there is no such folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs {
    pub(crate) path: Option<PathBuf>,
}

/// Sums by model, then by method with its parameters.
type Sums = BTreeMap<String, BTreeMap<String, Sum>>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Sum {
    questions: u64,
    calls: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
}

impl Costs {
    /// The cost of a method with a model, if it is known from at least [`FEWEST`] questions. An
    /// unreadable file counts as empty.
    pub(crate) fn known(&self, model: &str, method: &str) -> Option<Asked> {
        let sums: Sums = read(self.path.as_ref()?)?;
        let Sum { questions, calls, prompt_tokens, completion_tokens } =
            *sums.get(model)?.get(method)?;
        let bill = Bill { calls, prompt_tokens, completion_tokens };
        (FEWEST <= questions).then_some(Asked { questions, bill })
    }

    /// Adds the cost of questions. If it cannot be stored, only forecasts lack it.
    pub(crate) fn add(&self, model: &str, method: &str, asked: Asked) {
        if 0 < asked.questions
            && let Err(error) = self.write(model, method, asked)
        {
            tracing::debug!(%error, "the cost of questions could not be kept for forecasts");
        }
    }

    fn write(&self, model: &str, method: &str, asked: Asked) -> std::io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        update(path, |sums: &mut Sums| {
            let by_method = sums.entry(model.to_owned()).or_default();
            let sum = by_method.entry(method.to_owned()).or_default();
            sum.questions += asked.questions;
            sum.calls += asked.bill.calls;
            sum.prompt_tokens += asked.bill.prompt_tokens;
            sum.completion_tokens += asked.bill.completion_tokens;
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(questions: u64) -> Asked {
        let bill = Bill {
            calls: 2 * questions,
            prompt_tokens: 100 * questions,
            completion_tokens: questions,
        };
        Asked { questions, bill }
    }

    #[test]
    fn sums_grow_and_count_from_five_questions() {
        let folder = tempfile::tempdir().unwrap();
        let costs = Costs { path: Some(folder.path().join("state/costs.json")) };
        costs.add("m", "kar3", asked(3));
        assert_eq!(costs.known("m", "kar3"), None);
        costs.add("m", "kar3", asked(4));
        assert_eq!(costs.known("m", "kar3"), Some(asked(7)));
        assert_eq!((costs.known("m", "kar3:n=3"), costs.known("other", "kar3")), (None, None));
    }

    #[test]
    fn a_missing_folder_and_a_broken_file_count_as_empty() {
        Costs::default().add("m", "kar3", asked(9));
        assert_eq!(Costs::default().known("m", "kar3"), None);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("costs.json");
        std::fs::write(&path, b"\xff{\"m\"").unwrap();
        let costs = Costs { path: Some(path) };
        assert_eq!(costs.known("m", "kar3"), None);
        costs.add("m", "kar3", asked(9));
        assert_eq!(costs.known("m", "kar3"), Some(asked(9)));
    }
}
