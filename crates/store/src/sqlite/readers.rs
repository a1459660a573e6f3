//! Lends connections that read; few of them stay open while nobody reads.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Weak};
use std::time::{Duration, Instant};

use pikerag_knowledge::StoreError;
use rusqlite::{Connection, OpenFlags};

use super::inner::{DATABASE, Inner};
use super::locks::locked;
use super::opening::{self, tune};
use crate::error::Context;

/// Connections that stay open.
const KEPT: usize = 4;
/// How long a further one is kept for the next read, and how often that is looked at.
const IDLE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_secs(1);

/// Connections that nobody has at the moment, the one that was used last at the end.
#[derive(Default)]
pub(super) struct Readers {
    idle: Mutex<VecDeque<(Connection, Instant)>>,
    is_shrinking: AtomicBool,
}

impl Readers {
    /// Closes those that were not used for so long, but for a few.
    fn shrink(&self, idle_for: Duration) -> usize {
        let mut idle = locked(&self.idle);
        while KEPT < idle.len()
            && idle.front().is_some_and(|(_, since)| idle_for <= since.elapsed())
        {
            idle.pop_front();
        }
        idle.len()
    }
}

impl Inner {
    pub(super) fn with_reader<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let connection = self.reader()?;
        let result = work(&connection);
        self.put_back(connection);
        result
    }

    /// A connection that nobody else has; whoever has it puts it back.
    pub(super) fn reader(&self) -> Result<Connection, StoreError> {
        let path = self.folder.join(DATABASE);
        if self.writer.is_none() {
            // A new one each time: somebody who can write may have begun to.
            return opening::reader(&path);
        }
        let idle = locked(&self.readers.idle).pop_back();
        if let Some((connection, _)) = idle {
            return Ok(connection);
        }
        let doing = "opening the database to read";
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).context(doing)?;
        tune(&connection).context(doing)?;
        Ok(connection)
    }

    pub(super) fn put_back(&self, connection: Connection) {
        if self.writer.is_none() {
            return;
        }
        let mut idle = locked(&self.readers.idle);
        idle.push_back((connection, Instant::now()));
        let is_more = KEPT < idle.len();
        drop(idle);
        if is_more && !self.readers.is_shrinking.swap(true, Ordering::AcqRel) {
            let me = Weak::clone(&self.me);
            let shrinking = move || {
                while let Some(inner) = {
                    std::thread::sleep(LOOK);
                    me.upgrade()
                } {
                    if inner.readers.shrink(IDLE) <= KEPT {
                        inner.readers.is_shrinking.store(false, Ordering::Release);
                        return;
                    }
                }
            };
            // Without a thread they are closed another time.
            if std::thread::Builder::new().name("readers".to_owned()).spawn(shrinking).is_err() {
                self.readers.is_shrinking.store(false, Ordering::Release);
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(locked(&inner.readers.idle).len(), 40);
        assert_eq!(inner.readers.shrink(Duration::ZERO), KEPT);
        // The logs that they had open are closed with them.
        let log = folder.path().join(format!("{DATABASE}-wal"));
        let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return };
        let open = open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        assert!(open.filter(|path| *path == log).count() <= KEPT + 1);
    }
}
