//! Defines the errors of an evaluation.

use std::path::PathBuf;

use crate::place::Place;

/// Why an evaluation failed: one variant per fix.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the variant's message explains each field")]
pub enum EvalError {
    /// The file of questions is missing or is not UTF-8.
    #[error("cannot read the questions in {path}")]
    Unreadable {
        /// The file as it was named.
        path: PathBuf,
        /// Missing, a folder, unreadable, or not UTF-8.
        source: std::io::Error,
    },
    /// A record is not JSON, or a field is missing.
    #[error("{path}, {place}: not a question")]
    NotAQuestion {
        /// The file as it was named.
        path: PathBuf,
        /// The record: its line, or its place in a list.
        place: Place,
        /// Which field, at which column.
        source: serde_json::Error,
    },
    /// A question without a gold answer cannot be scored.
    #[error("{path}, {place}: question `{id}` has no gold answer")]
    NoAnswer {
        /// The file as it was named.
        path: PathBuf,
        /// The record: its line, or its place in a list.
        place: Place,
        /// Its id in the file.
        id: String,
    },
    /// The question's id identifies its rows, so it may occur only once.
    #[error("{path}, {place}: question `{id}` already occurs on {first}")]
    SameId {
        /// The file as it was named.
        path: PathBuf,
        /// The record: its line, or its place in a list.
        place: Place,
        /// Its id in the file.
        id: String,
        /// The earlier record with this id.
        first: Place,
    },
    /// The first record has the fields of no known format.
    #[error("{path} is in no known format; known are {known}")]
    UnknownFormat {
        /// The file as it was named.
        path: PathBuf,
        /// The names of all formats, with commas between them.
        known: String,
    },
    /// The user named an unknown format.
    #[error("there is no format `{name}`; choose from {known}")]
    NoSuchFormat {
        name: String,
        /// The names of all formats, with commas between them.
        known: String,
    },
    /// A method's parameter is malformed.
    #[error("`{label}`: `{part}` is not a parameter; write `method:name=value`")]
    BadMethod {
        /// The method with all its parameters, as the user wrote it.
        label: String,
        /// The part between two colons that is not `name=value`.
        part: String,
    },
    /// The user named an unknown preset.
    #[error("there is no preset `{name}`; choose from {known}")]
    NoSuchPreset {
        name: String,
        /// The names of all presets, with commas between them.
        known: String,
    },
    /// A data set of a preset is missing.
    #[error("there is no data set `{name}` in {folder}; looked for {names}")]
    NoDataSet {
        /// The name in the preset, not that of a file.
        name: String,
        /// The folder that was searched.
        folder: PathBuf,
        /// The file names that were tried.
        names: String,
    },
    /// A built-in data file is broken: a bug of ours.
    #[error("our own `{file}` is broken: {reason}")]
    Data {
        file: &'static str,
        /// The defect.
        reason: String,
    },
    /// A template of the report is broken: a bug of ours.
    #[error("cannot write the report as a page")]
    Page { source: pikerag_prompt::MarkupError },
    /// A report could not be written as JSON.
    #[error("cannot write the report as JSON")]
    Report { source: serde_json::Error },
}
