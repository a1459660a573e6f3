//! Names texts and chunks that wait: those above a node, and of some files alone.

use pikerag_knowledge::StoreError;

use crate::error::Context;

/// Which of the texts of a set are meant.
pub(super) struct Which<'a> {
    pub(super) embedder: &'a str,
    /// Those above this node.
    pub(super) after: i64,
    /// Those of these files alone, a JSON list.
    pub(super) only: Option<&'a str>,
}

/// Files as a JSON list, for a parameter of a query.
pub(super) fn only(files: Option<&[String]>) -> Result<Option<String>, StoreError> {
    files.map(|files| serde_json::to_string(files).context("listing files")).transpose()
}

/// The sources of the files of a JSON list, which is the parameter of this number.
pub(super) fn of_files(parameter: usize) -> String {
    format!("(SELECT f.id FROM main.sources f, json_each(?{parameter}) e WHERE f.file = e.value)")
}
