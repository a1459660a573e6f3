//! Defines `[postgres]`: the connections to a database of bases.

use std::num::NonZeroUsize;
use std::time::Duration;

use pikerag_postgres::{Connections, Location};
use serde::Deserialize;

use super::Settings;

/// The connections of this process; each server and each worker has its own.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PostgresTable {
    /// For reads at a time.
    pub(super) reads: Option<NonZeroUsize>,
    /// For writes at a time.
    pub(super) writes: Option<NonZeroUsize>,
    /// For questions and searches at a time.
    pub(super) states: Option<NonZeroUsize>,
    /// The longest wait for a connection.
    pub(super) wait_seconds: Option<u64>,
}

impl PostgresTable {
    pub(super) fn resolve(self) -> Connections {
        let usual = Connections::default();
        let wait = self.wait_seconds.map(|seconds| Duration::from_secs(seconds.max(1)));
        Connections {
            reads: self.reads.map_or(usual.reads, NonZeroUsize::get),
            writes: self.writes.map_or(usual.writes, NonZeroUsize::get),
            states: self.states.map_or(usual.states, NonZeroUsize::get),
            wait: wait.unwrap_or(usual.wait),
        }
    }
}

impl Settings {
    /// The address of the database that keeps limits and caps for several processes: that of the
    /// base, else of the first base of the server that is in a database.
    pub(crate) fn shared_database(&self) -> Option<Location> {
        let bases = std::iter::once(&self.base).chain(self.server.bases.values());
        let address =
            bases.filter(|base| Location::is_address(base)).find_map(|base| base.to_str())?;
        Location::parse(address).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_settings_have_their_defaults_and_a_wait_is_at_least_a_second() {
        let table: PostgresTable = toml::from_str("states = 40\nwait_seconds = 0").unwrap();
        let connections = table.resolve();
        let usual = Connections::default();
        assert_eq!(connections, Connections { states: 40, wait: Duration::from_secs(1), ..usual });
        assert!(toml::from_str::<PostgresTable>("reads = 0").is_err());
    }
}
