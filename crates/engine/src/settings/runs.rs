//! What does `[runs]` hold?

use serde::Deserialize;

use super::RunLimits;

/// How long runs are kept.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RunsTable {
    /// The latest so many; 0 keeps none.
    pub(super) keep: usize,
    /// Those of so many days.
    pub(super) days: u64,
}

impl Default for RunsTable {
    fn default() -> Self {
        let RunLimits { number, age } = RunLimits::default();
        Self { keep: number, days: age.as_secs() / (24 * 60 * 60) }
    }
}
