//! How much may a file ask of us?

use serde::{Deserialize, Serialize};

/// How much a file may ask of us.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Bytes of a file; a larger one is [`crate::ParseError::TooLarge`].
    pub max_bytes: usize,
    /// Records of a JSON or JSONL file; the rest is skipped, as a problem.
    pub max_records: usize,
    /// Nesting: HTML below it is read flat, JSON below it is left out, as a problem. JSON nested
    /// deeper than 128 is refused whatever this says.
    pub max_depth: usize,
    /// Cells of all tables of a file; further rows are skipped, as a problem.
    pub max_cells: usize,
    /// Pages of a document; the rest is skipped, as a problem.
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
