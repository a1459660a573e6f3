//! Holds unused connections, and keeps only a few of them open, without their pages.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::locks::locked;

/// The number of unused connections that stay open.
pub(super) const KEPT: usize = 4;

/// Connections for reading, the most recently used last.
#[derive(Default)]
pub(super) struct Idle {
    connections: Mutex<VecDeque<Unused>>,
    is_shrinking: AtomicBool,
}

struct Unused {
    connection: Connection,
    since: Instant,
    /// Whether it holds any pages in memory.
    has_pages: bool,
}

impl Idle {
    pub(super) fn take(&self) -> Option<Connection> {
        locked(&self.connections).pop_back().map(|unused| unused.connection)
    }

    /// Takes a connection back. Returns whether the caller must [`shrink`](Idle::shrink) them from
    /// now on.
    pub(super) fn put(&self, connection: Connection) -> bool {
        let unused = Unused { connection, since: Instant::now(), has_pages: true };
        locked(&self.connections).push_back(unused);
        !self.is_shrinking.swap(true, Ordering::AcqRel)
    }

    /// Closes connections that were unused for this time, except a few, which give back their
    /// memory. Returns whether only such a few are left.
    pub(super) fn shrink(&self, idle_for: Duration) -> bool {
        let mut connections = locked(&self.connections);
        while KEPT < connections.len()
            && connections.front().is_some_and(|first| idle_for <= first.since.elapsed())
        {
            connections.pop_front();
        }
        for unused in connections.iter_mut() {
            if unused.has_pages && idle_for <= unused.since.elapsed() {
                // It is about memory alone: a connection that fails keeps its pages.
                let _ = unused.connection.execute_batch("PRAGMA shrink_memory");
                unused.has_pages = false;
            }
        }
        let is_done =
            connections.len() <= KEPT && connections.iter().all(|unused| !unused.has_pages);
        if is_done {
            self.rest();
        }
        is_done
    }

    /// Notes that nobody shrinks them any more.
    pub(super) fn rest(&self) {
        self.is_shrinking.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::super::inner::DATABASE;
    use super::*;
    use crate::Base;

    #[test]
    fn few_connections_stay_open_after_many_reads_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let inner = &base.inner;
        let many: Vec<_> = (0..40).map(|_| inner.reader().unwrap()).collect();
        for connection in many {
            inner.put_back(connection);
        }
        assert!(!inner.idle.shrink(Duration::from_hours(1)));
        assert!(inner.idle.shrink(Duration::ZERO));
        assert_eq!(locked(&inner.idle.connections).len(), KEPT);
        // The logs that they had open are closed with them.
        let log = folder.path().join(format!("{DATABASE}-wal"));
        let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return };
        let open = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        assert!(open.filter(|path| *path == log).count() <= KEPT + 1);
    }
}
