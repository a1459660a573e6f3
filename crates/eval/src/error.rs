//! Why could an evaluation not be run?

use std::path::PathBuf;

use crate::place::Place;

/// Why an evaluation failed: one variant per thing to mend.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum EvalError {
    /// The file of questions is missing or is not UTF-8.
    #[error("cannot read the questions in {path}")]
    Unreadable {
        /// The file as it was named.
        path: PathBuf,
        /// Missing, a folder, not readable, not UTF-8.
        source: std::io::Error,
    },
    /// A record is not JSON, or lacks a field.
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
    /// Rows are told apart by the question's id, so it may occur once only.
    #[error("{path}, {place}: question `{id}` stands on {first} already")]
    SameId {
        /// The file as it was named.
        path: PathBuf,
        /// The record: its line, or its place in a list.
        place: Place,
        /// Its id in the file.
        id: String,
        /// The record that had it before.
        first: Place,
    },
    /// The first record has the fields of no format that we know.
    #[error("{path} is in no known format; known are {known}")]
    UnknownFormat {
        /// The file as it was named.
        path: PathBuf,
        /// The names of all formats, with commas between them.
        known: String,
    },
    /// A format was named that we do not know.
    #[error("there is no format `{name}`; choose from {known}")]
    NoSuchFormat {
        name: String,
        /// The names of all formats, with commas between them.
        known: String,
    },
    /// A method's parameter is not written as one.
    #[error("`{label}`: `{part}` is no parameter; write `method:name=value`")]
    BadMethod {
        /// The method with all its parameters, as the user wrote it.
        label: String,
        /// What stands between two colons and is no `name=value`.
        part: String,
    },
    /// A preset was named that there is not.
    #[error("there is no preset `{name}`; choose from {known}")]
    NoSuchPreset {
        name: String,
        /// The names of all presets, with commas between them.
        known: String,
    },
    /// A data set of a preset is not where it was looked for.
    #[error("there is no data set `{name}` in {folder}; looked for {names}")]
    NoDataSet {
        /// As a preset names it, not as a file.
        name: String,
        /// Where it was looked for.
        folder: PathBuf,
        /// The files that would have done.
        names: String,
    },
    /// A data file that is built in is broken: a defect of ours.
    #[error("our own `{file}` is broken: {reason}")]
    Data {
        file: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A template of the report is broken: a defect of ours.
    #[error("cannot write the report as a page")]
    Page { source: pikerag_prompt::MarkupError },
    /// A report could not be written as JSON.
    #[error("cannot write the report as JSON")]
    Report { source: serde_json::Error },
}
