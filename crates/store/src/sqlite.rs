//! How is a base opened? A folder with `base.sqlite` (write-ahead log) and the indexes derived
//! from it; readers never wait for the writer.

mod admit;
mod backup;
mod busy;
mod check;
mod claims;
mod codes;
mod corrections;
mod counters;
mod counts;
mod distil;
mod export;
mod follow;
mod forget;
mod graph;
mod header;
mod layers;
mod layouts;
mod ledger;
mod names;
mod opening;
mod originals;
mod progress;
mod put;
mod read;
mod records;
mod references;
mod refusals;
mod root;
mod rows;
mod runs;
mod snapshot;
mod tags;
mod texts;
mod tree;
mod vectors;
mod verified;
mod write;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use pikerag_knowledge::{StoreError, VectorSet};
use rusqlite::{Connection, OpenFlags};

pub use backup::Copied;
pub use check::{Finding, Health, Part, Repair};
pub use export::ExportLine;
pub use forget::Remains;
pub use layouts::LAYOUT;
pub use originals::Originals;
pub use root::FileCounts;

use self::counters::{TEXT_GENERATION, advance, counter, generation};
use crate::error::{BaseProblem, Context};
use crate::fulltext::{FullText, Seen, TextSnapshot, guarded};

/// The file that makes a folder a knowledge base.
pub const DATABASE: &str = "base.sqlite";

/// A knowledge base in a folder, as it stands at each call; within a snapshot, as it stood then.
#[derive(Clone)]
pub struct Base {
    inner: Arc<Inner>,
    held: Option<Arc<snapshot::Snapshot>>,
}

/// What a read sees: one state of the base.
struct View<'a> {
    inner: &'a Inner,
    connection: &'a Connection,
    snapshot: Option<&'a snapshot::Snapshot>,
}

/// How soon words that were stored are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// At once: a search waits until full text has caught up with the database.
    #[default]
    Now,
    /// A search never waits: what is not found yet is caught up with meanwhile, at most once in this time. For
    /// a process that is asked much while it indexes. [`refresh`](pikerag_knowledge::SearchWriter::refresh)
    /// waits all the same, and a base without any full text is searched only when it has some.
    Within(Duration),
}

struct Inner {
    /// For work that goes on behind a search.
    me: Weak<Self>,
    folder: PathBuf,
    freshness: Freshness,
    catching_up: follow::CatchingUp,
    /// Told from other bases that may once have stood in this folder.
    identity: String,
    readers: Mutex<Vec<Connection>>,
    /// Closed last: only the last connection folds the log into the database. `None` where nothing can be written.
    writer: Option<Mutex<Connection>>,
    fulltext: Mutex<Option<Arc<FullText>>>,
    vectors: codes::Loaded,
    names: names::Borne,
    ledger: ledger::Queue,
    who: claims::Who,
}

impl Base {
    /// Opens the base in `folder`, or makes an empty one there.
    ///
    /// # Errors
    /// [`StoreError::NotOurs`] where the file is no base of a layout that is known: it is left as it is, to the
    /// byte. [`BaseProblem::ReadOnly`].
    pub fn open_or_create(folder: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder)
            .context(&format!("creating the folder {}", folder.display()))?;
        let base = Self::connect(folder, Freshness::Now)?;
        match base.is_read_only() {
            true => Err(base.inner.read_only("opening the base to write")),
            false => Ok(base),
        }
    }

    /// Opens the base in `folder`, to read alone where it cannot be written.
    ///
    /// # Errors
    /// [`StoreError::NotOurs`] where there is none, or none of a layout that is known.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_with(folder, Freshness::Now)
    }

    /// The same for a process that says how long its searches may be behind.
    ///
    /// # Errors
    /// [`StoreError::NotOurs`] where there is none.
    pub fn open_with(folder: &Path, freshness: Freshness) -> Result<Self, StoreError> {
        if folder.join(DATABASE).is_file() {
            return Self::connect(folder, freshness);
        }
        Err(StoreError::NotOurs {
            path: folder.display().to_string(),
            reason: "there is no knowledge base yet".to_owned(),
        })
    }

    fn connect(folder: &Path, freshness: Freshness) -> Result<Self, StoreError> {
        let path = folder.join(DATABASE);
        let writer = opening::to_write(&path)?;
        let identity = |connection: &Connection| {
            connection
                .query_row("SELECT value FROM meta WHERE key = 'identity'", [], |row| row.get(0))
        };
        let identity = match &writer {
            Some(writer) => identity(writer),
            None => identity(&opening::reader(&path)?),
        };
        let identity = identity.map_err(|error| StoreError::NotOurs {
            path: path.display().to_string(),
            reason: error.to_string(),
        })?;
        Ok(Self {
            inner: Arc::new_cyclic(|me| Inner {
                me: Weak::clone(me),
                folder: folder.to_owned(),
                freshness,
                catching_up: follow::CatchingUp::default(),
                identity,
                writer: writer.map(Mutex::new),
                readers: Mutex::default(),
                fulltext: Mutex::default(),
                vectors: codes::Loaded::default(),
                names: names::Borne::default(),
                ledger: ledger::Queue::default(),
                who: claims::Who::this_process(),
            }),
            held: None,
        })
    }

    /// The folder of the base.
    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// Whether it can be asked and not changed. What is paid for is then kept in memory alone.
    pub fn is_read_only(&self) -> bool {
        self.inner.writer.is_none()
    }

    /// Runs `work` on a connection for reading, off the async threads.
    async fn reading<T, F>(&self, what: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Inner, &Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.viewing(what, move |view| work(view.inner, view.connection)).await
    }

    /// As [`Base::reading`], for what asks the derived indexes.
    async fn viewing<T, F>(&self, what: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&View<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let base = self.clone();
        tokio::task::spawn_blocking(move || base.view(what, work)).await.context(what)?
    }

    /// As [`Base::viewing`], on this thread.
    fn view<T>(
        &self,
        what: &str,
        work: impl FnOnce(&View<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match &self.held {
            Some(snapshot) => snapshot.view(what, work),
            None => self.inner.with_reader(|connection| {
                // One state for all statements of a port call, and one taking of the file's lock.
                let connection = &connection.unchecked_transaction().context(what)?;
                work(&View { inner: &self.inner, connection, snapshot: None })
            }),
        }
    }

    /// As [`Base::reading`], for work that needs the database alone.
    async fn looking<T, F>(&self, what: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        self.reading(what, move |_, connection| work(connection).context(what)).await
    }

    /// Runs `work` in one transaction, off the async threads.
    async fn writing<T, F>(&self, what: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let inner = Arc::clone(&self.inner);
        tokio::task::spawn_blocking(move || inner.transaction(what, work)).await.context(what)?
    }
}

impl Inner {
    fn with_reader<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let connection = self.reader()?;
        let result = work(&connection);
        self.put_back(connection);
        result
    }

    /// A connection that nobody else has; whoever has it puts it back.
    fn reader(&self) -> Result<Connection, StoreError> {
        let path = self.folder.join(DATABASE);
        if self.writer.is_none() {
            // A new one each time: somebody who can write may have begun to.
            return opening::reader(&path);
        }
        let idle = locked(&self.readers).pop();
        if let Some(connection) = idle {
            return Ok(connection);
        }
        let doing = "opening the database to read";
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).context(doing)?;
        tune(&connection).context(doing)?;
        Ok(connection)
    }

    fn put_back(&self, connection: Connection) {
        if self.writer.is_some() {
            locked(&self.readers).push(connection);
        }
    }

    fn transaction<T>(
        &self,
        what: &str,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| self.read_only(what))?;
        let mut writer = locked(writer);
        // Immediate: a transaction that begins by reading must not fail when it turns to writing.
        let transaction = writer
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .context(what)?;
        let result = work(&transaction).context(what)?;
        transaction.commit().context(what)?;
        Ok(result)
    }

    fn read_only(&self, what: &str) -> StoreError {
        let problem = BaseProblem::ReadOnly { folder: self.folder.clone() };
        StoreError::Failed { what: what.to_owned(), source: problem.into() }
    }

    /// As [`Inner::transaction`], for what may be lost with the power: it waits for no disk.
    fn fleeting<T>(
        &self,
        what: &str,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let writer = self.writer.as_ref().ok_or_else(|| self.read_only(what))?;
        let mut writer = locked(writer);
        writer.pragma_update(None, "synchronous", "NORMAL").context(what)?;
        let done = (|| {
            let behavior = rusqlite::TransactionBehavior::Immediate;
            let transaction = writer.transaction_with_behavior(behavior)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok::<T, rusqlite::Error>(result)
        })();
        writer.pragma_update(None, "synchronous", "FULL").context(what)?;
        done.context(what)
    }

    fn stamp(&self, generation: i64) -> String {
        format!("{}:{generation}", self.identity)
    }
}

/// How the one connection that writes is set. Identifiers are hashes, so a transaction touches pages all over
/// the file: each of them would be read, written out and read again within it, had they no room in memory
/// (64 MiB at most, taken as it is needed). And who writes much, writes the same pages in one transaction after
/// the other: they are folded into the file every 32 MiB of the log, not every four, and are as safe.
const WRITING: &str =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;
    PRAGMA wal_autocheckpoint = 8192;";

/// A lock whose holder panicked still guards consistent data: every change is a transaction.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl View<'_> {
    /// Searches full text in this state, or in the closest that there is, for chunks that are seen. An index that
    /// proves to be damaged is made again.
    fn in_text<T>(
        &self,
        search: impl Fn(&TextSnapshot, Seen) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let doing = "searching the full-text index";
        let (text, seen) = match self.snapshot {
            Some(snapshot) => snapshot.text(),
            None => (self.inner.text_at(self.connection)?.snapshot(), None),
        };
        let failed = match guarded(doing, || search(&text, seen)) {
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        let remade = self.inner.remade_text(failed)?.snapshot();
        let (text, seen) = match self.snapshot {
            Some(snapshot) => snapshot.replace_text(self.connection, remade)?,
            None => (remade, None),
        };
        guarded(doing, || search(&text, seen))
    }

    /// The chunks that are seen; all of them, where it does not say.
    fn seen(&self) -> Option<Arc<HashSet<u64>>> {
        self.snapshot.and_then(snapshot::Snapshot::seen)
    }

    /// The codes of a set in this state, and which of them are seen.
    fn codes(&self, set: VectorSet) -> Result<snapshot::Looked, StoreError> {
        match self.snapshot {
            Some(snapshot) => snapshot.codes(self.connection, set),
            None => Ok((self.inner.codes(self.connection, set)?, None)),
        }
    }
}

fn tune(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(busy::LOCKED_FOR)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;",
    )
}
#[cfg(test)]
mod tests {
    use pikerag_knowledge::{CallRecord, Ledger, Usage};

    use super::*;

    #[tokio::test]
    async fn what_was_recorded_under_a_bare_name_goes_to_the_first_that_asks() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        assert!(base.inherits("m", "one").await.unwrap());
        assert!(!base.inherits("m", "other").await.unwrap());
        assert!(base.inherits("m", "one").await.unwrap());
        assert!(base.inherits("n", "other").await.unwrap());
    }

    /// Keys are hashes: each record meets another page. Read and written anew for each of them, the pages of
    /// the key's index alone would be many times the file.
    #[tokio::test]
    async fn a_large_transaction_writes_each_page_about_once() {
        let written = || {
            let io = std::fs::read_to_string("/proc/self/io").ok()?;
            io.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse::<u64>().ok())
        };
        let Some(before) = written() else {
            pikerag_test_support::absent("/proc/self/io", "does not count what is written");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let call = |n: u64| CallRecord {
            key: blake3::hash(&n.to_le_bytes()).to_hex().to_string(),
            role: "answer".to_owned(),
            model: "fake".to_owned(),
            request: "x".repeat(100),
            reply: "y".repeat(100),
            usage: Usage::default(),
            unusable: false,
        };
        base.keep_all((0..40_000).map(call).collect()).await.unwrap();
        drop(base);
        let size = folder.path().join(DATABASE).metadata().unwrap().len();
        let written = written().unwrap() - before;
        // The log, and from there the file.
        assert!(written < 3 * size, "{written} bytes for a file of {size}");
    }
}
