//! Fits connections, requests, questions and held states into the open files that the system allows.

use pikerag_engine::EngineLimits;
use pikerag_engine::settings::ServerSettings;

/// The largest number of connections at a time.
pub(crate) const CONNECTIONS: usize = 4096;
/// The fewest connections, even with fewer open files.
const FEWEST_CONNECTIONS: usize = 16;
/// Connections have one of this many parts of the open files. Half of the rest is for open states
/// of bases, which have two files each; the other half is for models and child processes.
pub(crate) const CONNECTIONS_PART: usize = 2;
/// Held states are one of this many parts of the open files.
pub(crate) const STATES_PART: usize = 8;
/// One of this many connections is for health checks, not for requests.
pub(crate) const SPARE_CONNECTIONS_PART: usize = 8;
/// One of this many held states is for searches and exports, not for questions.
pub(crate) const SPARE_STATES_PART: usize = 4;

/// The numbers that hold at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) connections: usize,
    pub(crate) requests: usize,
    pub(crate) runs: usize,
    /// States of bases.
    pub(crate) states: usize,
}

impl Bounds {
    /// The settings, lowered to the open files of the process.
    pub(crate) fn within(descriptors: usize, settings: &ServerSettings) -> Self {
        let connections = (descriptors / CONNECTIONS_PART).clamp(FEWEST_CONNECTIONS, CONNECTIONS);
        let store = EngineLimits::OURS.store;
        let states = (descriptors / STATES_PART).clamp(store.fewest_states, store.states);
        Self {
            connections,
            requests: settings.requests.min(connections - connections / SPARE_CONNECTIONS_PART),
            runs: settings.runs.min(states - states / SPARE_STATES_PART),
            states,
        }
    }
}

#[cfg(test)]
mod tests {
    use pikerag_engine::settings::Settings;

    use super::*;

    #[test]
    fn few_open_files_lower_all_numbers() {
        let settings = Settings::defaults().unwrap().server;
        let within = |descriptors| {
            let Bounds { connections, requests, runs, states } =
                Bounds::within(descriptors, &settings);
            (connections, requests, runs, states)
        };
        assert_eq!(within(1 << 16), (4096, 1024, 64, 160));
        assert_eq!(within(1024), (512, 448, 64, 128));
        assert_eq!(within(256), (128, 112, 24, 32));
        assert_eq!(within(8), (16, 14, 3, 4));
    }
}
