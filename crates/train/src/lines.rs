//! Reads the files of trajectories and labels: one JSON object on each line.

use std::path::Path;

use serde::de::DeserializeOwned;

use crate::error::TrainError;

/// The file of trajectories in a folder that `train collect` wrote.
pub const TRAJECTORIES: &str = "trajectories.jsonl";
/// The file of labels in a folder that `train label` wrote.
pub const LABELS: &str = "labels.jsonl";

/// The objects of a file, in their order. An unfinished last line, which a killed run leaves, is left out.
///
/// # Errors
/// The file cannot be read; a line is of another kind.
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, TrainError> {
    let unreadable = |source| TrainError::Unreadable { path: path.to_owned(), source };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let mut all = Vec::new();
    for (line, json) in (1..).zip(text.split_inclusive('\n')) {
        match serde_json::from_str(json) {
            Ok(one) => all.push(one),
            Err(_) if !json.ends_with('\n') => {}
            Err(source) => {
                return Err(TrainError::ForeignLine { path: path.to_owned(), line, source });
            }
        }
    }
    Ok(all)
}
