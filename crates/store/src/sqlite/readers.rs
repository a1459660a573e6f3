//! Lends connections for reading: as many as are needed at a time, of which few stay open.

use std::sync::{Mutex, Weak};
use std::time::Duration;

use pikerag_knowledge::StoreError;
use rusqlite::{Connection, OpenFlags};

use super::inner::{DATABASE, Inner};
use super::opening::{self, PAGE_CACHE, set_page_cache, tune};
use super::threads;
use crate::error::Context;

/// Up to this many held states have a full page cache each, further ones a small one. A burst of
/// requests then does not fill the memory with copies of the same pages.
pub(super) const FEW: usize = 8;
pub(super) const SMALL_PAGE_CACHE: u32 = 2_048;

/// How long an unused connection stays open and keeps its pages, and how often that is checked.
pub(super) const IDLE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_secs(1);
/// The threads of a burst end when they were unused for 10 s; their memory can be returned then.
const THREADS_END: Duration = Duration::from_secs(12);

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

    /// A connection for the caller alone, who puts it back.
    pub(super) fn reader(&self) -> Result<Connection, StoreError> {
        let path = self.folder.join(DATABASE);
        if self.writer.is_none() {
            // A new one each time, because another process may have begun to write.
            return opening::reader(&path);
        }
        let connection = match self.idle.take() {
            Some(connection) => connection,
            None => self.fresh_reader()?,
        };
        let cache = if threads::n_held() <= FEW { PAGE_CACHE } else { SMALL_PAGE_CACHE };
        set_page_cache(&connection, cache).context("setting the page cache")?;
        Ok(connection)
    }

    /// A connection that no other caller had or will have.
    pub(super) fn fresh_reader(&self) -> Result<Connection, StoreError> {
        let path = self.folder.join(DATABASE);
        if self.writer.is_none() {
            return opening::reader(&path);
        }
        let doing = "opening the database to read";
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).context(doing)?;
        tune(&connection).context(doing)?;
        Ok(connection)
    }

    pub(super) fn put_back(&self, connection: Connection) {
        if self.writer.is_some() && self.idle.put(connection) {
            let me = Weak::clone(&self.me);
            let begun =
                std::thread::Builder::new().name("readers".to_owned()).spawn(move || shrink(&me));
            if begun.is_err() {
                // They are closed another time.
                self.idle.rest();
            }
        }
    }
}

/// Closes unused connections and drops the pages of others, until nothing is left to give back or
/// the base is closed.
fn shrink(base: &Weak<Inner>) {
    loop {
        std::thread::sleep(LOOK);
        let Some(inner) = base.upgrade() else { return };
        if inner.idle.shrink(IDLE) {
            // A writer at work keeps its pages.
            if let Some(Ok(writer)) = inner.writer.as_ref().map(Mutex::try_lock) {
                let _ = writer.execute_batch("PRAGMA shrink_memory");
            }
            break;
        }
    }
    return_memory();
    std::thread::sleep(THREADS_END);
    return_memory();
}

/// Returns freed memory to the system, because glibc keeps the memory of a burst's threads: 600 MiB
/// after 256 searches at once.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn return_memory() {
    // SAFETY: takes no pointer, and may be called by any thread at any time.
    #[expect(unsafe_code, reason = "glibc has no other way to return memory")]
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn return_memory() {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Base;

    #[tokio::test]
    async fn states_of_a_burst_have_small_page_caches() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let kibibytes = || -> i64 {
            let connection = base.inner.reader().unwrap();
            let size: i64 =
                connection.query_row("PRAGMA cache_size", [], |row| row.get(0)).unwrap();
            base.inner.put_back(connection);
            -size
        };
        assert_eq!(kibibytes(), i64::from(PAGE_CACHE));
        let mut held = Vec::new();
        for _ in 0..=FEW {
            held.push(threads::place().await.unwrap());
        }
        assert_eq!(kibibytes(), i64::from(SMALL_PAGE_CACHE));
        drop(held);
        assert_eq!(kibibytes(), i64::from(PAGE_CACHE));
    }
}
