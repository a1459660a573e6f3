//! Reads the right trajectories of a folder as examples for proposers.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use pikerag_methods::Demonstration;
use pikerag_train::Trajectory;
use pikerag_train::lines::{TRAJECTORIES, read_lines};

use crate::error::Result;

/// The first right trajectory of each question that has steps.
pub(super) fn read(folder: &Path) -> Result<Arc<[Demonstration]>> {
    let all: Vec<Trajectory> = read_lines(&folder.join(TRAJECTORIES))?;
    let mut seen = BTreeSet::new();
    let right = all.iter().filter(|one| one.is_right && one.steps().next().is_some());
    let first = right.filter(|one| seen.insert(one.item.as_str()));
    let demonstrations = first.map(|one| Demonstration {
        question: one.question.clone(),
        sub_questions: one.steps().map(|step| step.question.clone()).collect(),
    });
    Ok(demonstrations.collect())
}
