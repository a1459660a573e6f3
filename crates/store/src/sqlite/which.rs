//! Selects pending texts and chunks: those after a node, and only of some files.

use pikerag_knowledge::StoreError;

use crate::error::Context;

/// Selects texts of a set.
pub(super) struct Which<'a> {
    pub(super) embedder: &'a str,
    /// Only texts after this node.
    pub(super) after: i64,
    /// Only texts of these files, a JSON list.
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
