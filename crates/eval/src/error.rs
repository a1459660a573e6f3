//! Why could an evaluation not be run?

use std::path::PathBuf;

/// Why an evaluation failed: one variant per thing to mend.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The file of questions is missing or is not UTF-8.
    #[error("cannot read the questions in {path}")]
    Unreadable {
        /// The file as it was named.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line is not JSON, or lacks a field.
    #[error("{path}, line {line}: not a question")]
    NotAQuestion {
        /// The file as it was named.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Which field, at which column.
        source: serde_json::Error,
    },
    /// A question without a gold answer cannot be scored.
    #[error("{path}, line {line}: question `{id}` has no gold answer")]
    NoAnswer {
        /// The file as it was named.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The question.
        id: String,
    },
    /// Rows are told apart by the question's id, so it may occur once only.
    #[error("{path}, line {line}: question `{id}` stands on line {first} already")]
    SameId {
        /// The file as it was named.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The question.
        id: String,
        /// The line that has it too, counted from 1.
        first: usize,
    },
    /// A report could not be written as JSON.
    #[error("cannot write the report as JSON")]
    Report {
        /// What the writer said.
        source: serde_json::Error,
    },
}
