//! Collects the limits of a process that holds bases open, for people who run a server.

use std::time::Duration;

use super::opening::{PAGE_CACHE, WRITER_PAGE_CACHE};
use super::{forget, gate, idle, log, readers, threads};
use crate::scopes;

/// The limits of a process that holds bases open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreLimits {
    /// The states of bases that are held at a time.
    pub states: usize,
    /// The fewest states to which [`hold_at_most`](super::hold_at_most) lowers that.
    pub fewest_states: usize,
    /// The reads of a base on a thread at a time, for each processor.
    pub reads_per_processor: usize,
    /// The questions and searches that have a thread of their own at a time.
    pub own_threads: usize,
    /// The writes on a thread at a time.
    pub writes: usize,
    /// The bytes from which a log of the database is long, and the wait of new questions then.
    pub long_log: (u64, Duration),
    /// The same for a very long log.
    pub very_long_log: (u64, Duration),
    /// A failed attempt to shorten a log is repeated after this many times the wait.
    pub log_pause: u32,
    /// The unused connections of a base that stay open, and the time for which others do.
    pub idle: (usize, Duration),
    /// The longest wait of a deletion for questions and exports that read the deleted text.
    pub forget_wait: Duration,
    /// The filters of a base whose admitted passages are kept, and the most passages of all of them.
    pub scopes: (usize, usize),
    /// The page caches of connections.
    pub page_caches: PageCaches,
}

/// The largest page caches of connections. SQLite fills them as it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCaches {
    /// Of the connection that writes to a base, in bytes.
    pub writer: u64,
    /// Of a connection that reads, in bytes, while at most `few` states are held.
    pub reader: u64,
    /// The number of held states up to which readers have a full cache.
    pub few: usize,
    /// Of a connection that reads, in bytes, while more states are held.
    pub small: u64,
}

impl StoreLimits {
    /// The limits of this process, before [`hold_at_most`](super::hold_at_most).
    pub const OURS: Self = Self {
        states: threads::STATES,
        fewest_states: threads::FEWEST_STATES,
        reads_per_processor: threads::READS_PER_PROCESSOR,
        own_threads: threads::MOST_THREADS,
        writes: threads::MOST_WRITES,
        long_log: (gate::LONG, log::SHORT_WAIT),
        very_long_log: (log::VERY_LONG, log::LONG_WAIT),
        log_pause: log::PAUSE,
        idle: (idle::KEPT, readers::IDLE),
        forget_wait: forget::MAX_WAIT,
        scopes: (scopes::MOST, scopes::KEPT),
        page_caches: PageCaches {
            writer: kibibytes(WRITER_PAGE_CACHE),
            reader: kibibytes(PAGE_CACHE),
            few: readers::FEW,
            small: kibibytes(readers::SMALL_PAGE_CACHE),
        },
    };

    /// The sum of all page caches over one base, in bytes, with this many processors and held
    /// states.
    pub fn all_page_caches(&self, processors: usize, states: usize) -> u64 {
        let PageCaches { writer, reader, few, small } = self.page_caches;
        let full = states.min(few) + self.reads_per_processor * processors;
        let rest = states.saturating_sub(few);
        writer + full as u64 * reader + rest as u64 * small
    }
}

/// Kibibytes in bytes.
const fn kibibytes(n: u32) -> u64 {
    // `u64::from` is not const.
    (n as u64) << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/reference/limits.md and docs/how-to/deploy.md have this figure.
    #[test]
    fn page_caches_of_two_processors_have_624_mib() {
        let ours = StoreLimits::OURS;
        assert_eq!(ours.all_page_caches(2, ours.states), 624 << 20);
        // Fewer states than the few: no small caches.
        assert_eq!(ours.all_page_caches(1, 4), (64 + 8 * 16) << 20);
    }

    #[test]
    fn the_writer_has_its_page_cache() {
        let folder = tempfile::tempdir().unwrap();
        let base = crate::Base::open_or_create(folder.path()).unwrap();
        let writer = super::super::locks::locked(base.inner.writer.as_ref().unwrap());
        let kibibytes: i64 = writer.query_row("PRAGMA cache_size", [], |row| row.get(0)).unwrap();
        assert_eq!(kibibytes.unsigned_abs() << 10, StoreLimits::OURS.page_caches.writer);
    }
}
