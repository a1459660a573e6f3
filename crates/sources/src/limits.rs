//! Limits what is read of a database.

use std::time::Duration;

/// Limits on the demands of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// The most rows of a table; a table with more is not read.
    pub rows: u64,
    /// The most MiB of text of a table; a table with more is not read.
    pub mib: u64,
    /// The longest time of one statement.
    pub statement: Duration,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { rows: 1_000_000, mib: 256, statement: Duration::from_mins(5) }
    }
}
