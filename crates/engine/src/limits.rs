//! Collects the limits of a process that no setting changes, for people who run a server.

use pikerag_store::StoreLimits;

use crate::descriptors::WANTED;
use crate::engine::{EXPORTS, LONG_READS};
use crate::settings::{MOST_PARSERS, MOST_RUNS, WAITING_PER_RUN};

/// The limits of a process, and the bounds of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineLimits {
    /// The open files that [`raise_descriptors`](crate::raise_descriptors) asks for.
    pub descriptors: u64,
    /// The exports at a time.
    pub exports: usize,
    /// The other reads of a whole base at a time.
    pub long_reads: usize,
    /// The requests that local models process at a time, for each processor.
    pub local_requests_per_processor: usize,
    /// The files that are read at a time by default, at most; `limits.parsers` may be higher.
    pub usual_parsers: usize,
    /// The largest value of `server.runs`.
    pub runs: usize,
    /// The default of `server.runs_waiting`, for each of `server.runs`.
    pub waiting_per_run: usize,
    /// About the most bytes that questions keep of names for later ones, over all bases.
    pub known_bytes: usize,
    /// The limits of open bases.
    pub store: StoreLimits,
}

impl EngineLimits {
    /// The limits of this process.
    pub const OURS: Self = Self {
        descriptors: WANTED,
        exports: EXPORTS,
        long_reads: LONG_READS,
        local_requests_per_processor: pikerag_weights::REQUESTS_PER_PROCESSOR,
        usual_parsers: MOST_PARSERS,
        runs: MOST_RUNS,
        waiting_per_run: WAITING_PER_RUN,
        known_bytes: pikerag_retrieve::Known::MOST_BYTES,
        store: StoreLimits::OURS,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else searches wait until a question ends, which may take minutes.
    #[test]
    fn questions_leave_threads_and_states_for_searches() {
        let ours = EngineLimits::OURS;
        for places in [ours.store.own_threads, ours.store.states] {
            assert!(ours.runs < places, "{places}");
        }
    }
}
