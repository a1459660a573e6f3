//! Defines limits on the demands of a file.

use serde::{Deserialize, Serialize};

/// Limits on the demands of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// The most bytes of a file; a larger one is [`crate::ParseError::TooLarge`].
    pub max_bytes: usize,
    /// The most records of a JSON or JSONL file; the rest is skipped, as a problem.
    pub max_records: usize,
    /// The deepest nesting: deeper HTML is read flat, deeper JSON is skipped, as a problem. JSON
    /// nested deeper than 128 is always refused.
    pub max_depth: usize,
    /// The most cells of all tables of a file; further rows are skipped, as a problem.
    pub max_cells: usize,
    /// The most pages of a document; the rest is skipped, as a problem.
    pub max_pages: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 256 << 20,
            max_records: 1_000_000,
            max_depth: 256,
            max_cells: 20_000_000,
            max_pages: 5_000,
        }
    }
}
