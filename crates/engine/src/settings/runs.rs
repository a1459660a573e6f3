//! Defines `[runs]`: the runs that are kept.

use serde::Deserialize;

use super::RunLimits;

/// The number and age of runs that are kept.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RunsTable {
    /// The number of latest runs to keep; 0 keeps none.
    pub(super) keep: usize,
    /// The days for which runs are kept.
    pub(super) days: u64,
}

impl Default for RunsTable {
    fn default() -> Self {
        let RunLimits { number, age } = RunLimits::default();
        Self { keep: number, days: age.as_secs() / (24 * 60 * 60) }
    }
}
