//! Reads the right trajectories of a folder as examples for proposers.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use pikerag_methods::Demonstration;
use pikerag_train::lines::{TRAJECTORIES, read_lines};
use pikerag_train::{TrainError, Trajectory};

use crate::error::{EngineError, QuestionFile, Result};

/// The first right trajectory of each question that has steps.
pub(super) fn read(folder: &Path) -> Result<Arc<[Demonstration]>> {
    let all: Vec<Trajectory> = read_lines(&folder.join(TRAJECTORIES)).map_err(named)?;
    let mut seen = BTreeSet::new();
    let right = all.iter().filter(|one| one.is_right && one.steps().next().is_some());
    let first = right.filter(|one| seen.insert(one.item.as_str()));
    let demonstrations = first.map(|one| Demonstration {
        question: one.question.clone(),
        sub_questions: one.steps().map(|step| step.question.clone()).collect(),
    });
    Ok(demonstrations.collect())
}

/// The error with the setting that names the folder.
fn named(error: TrainError) -> EngineError {
    let of = QuestionFile::Demonstrations;
    match error {
        TrainError::Unreadable { path, source } => {
            EngineError::QuestionsUnreadable { of, path, source }
        }
        TrainError::ForeignLine { path, line, source } => {
            EngineError::BadQuestion { of, path, line, source }
        }
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_setting() {
        let folder = tempfile::tempdir().unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("methods.demonstrations"), "{error}");
        std::fs::write(folder.path().join(TRAJECTORIES), "{}\n").unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.starts_with("line 1 of ") && error.ends_with("a trajectory"), "{error}");
    }
}
