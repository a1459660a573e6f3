//! How is a base opened? A folder with `base.sqlite` (write-ahead log) and the indexes derived
//! from it; readers never wait for the writer.

mod backup;
mod check;
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
mod put;
mod read;
mod records;
mod references;
mod rows;
mod runs;
mod tags;
mod texts;
mod tree;
mod vectors;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pikerag_knowledge::StoreError;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

pub use backup::Copied;
pub use check::{Finding, Health, Part, Repair};
pub use export::ExportLine;
pub use forget::Remains;
pub use layouts::LAYOUT;
pub use originals::Originals;

use crate::error::{BaseProblem, Context};
use crate::fulltext::FullText;

/// The file that makes a folder a knowledge base.
pub const DATABASE: &str = "base.sqlite";

/// A knowledge base in a folder.
#[derive(Clone)]
pub struct Base {
    inner: Arc<Inner>,
}

struct Inner {
    folder: PathBuf,
    /// Told from other bases that may once have stood in this folder.
    identity: String,
    readers: Mutex<Vec<Connection>>,
    /// Closed last: only the last connection folds the write-ahead log into the database. `None` where nothing
    /// can be written.
    writer: Option<Mutex<Connection>>,
    fulltext: Mutex<Option<Arc<FullText>>>,
    vectors: vectors::Loaded,
    names: names::Borne,
    ledger: ledger::Queue,
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
        let base = Self::connect(folder)?;
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
        if folder.join(DATABASE).is_file() {
            return Self::connect(folder);
        }
        Err(StoreError::NotOurs {
            path: folder.display().to_string(),
            reason: "there is no knowledge base yet".to_owned(),
        })
    }

    fn connect(folder: &Path) -> Result<Self, StoreError> {
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
            inner: Arc::new(Inner {
                folder: folder.to_owned(),
                identity,
                writer: writer.map(Mutex::new),
                readers: Mutex::default(),
                fulltext: Mutex::default(),
                vectors: vectors::Loaded::default(),
                names: names::Borne::default(),
                ledger: ledger::Queue::default(),
            }),
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
        let inner = Arc::clone(&self.inner);
        tokio::task::spawn_blocking(move || {
            inner.with_reader(|connection| {
                // One snapshot for all statements of a port call, and one taking of the file's lock.
                let snapshot = connection.unchecked_transaction().context(what)?;
                work(&inner, &snapshot)
            })
        })
        .await
        .context(what)?
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
        let path = self.folder.join(DATABASE);
        if self.writer.is_none() {
            // A new one each time: somebody who can write may have begun to.
            return work(&opening::reader(&path)?);
        }
        let idle = locked(&self.readers).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => {
                let doing = "opening the database to read";
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let connection = Connection::open_with_flags(path, flags).context(doing)?;
                tune(&connection).context(doing)?;
                connection
            }
        };
        let result = work(&connection);
        locked(&self.readers).push(connection);
        result
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

    fn stamp(&self, generation: i64) -> String {
        format!("{}:{generation}", self.identity)
    }
}

/// A lock whose holder panicked still guards consistent data: every change is a transaction.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tune(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_mins(1))?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1000;",
    )
}

/// A counter of the `meta` table; 0 before it was first advanced.
fn counter(connection: &Connection, key: &str) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
        .map(Option::unwrap_or_default)
}

fn advance(connection: &Connection, key: &str) -> rusqlite::Result<i64> {
    connection.execute(
        "INSERT INTO meta(key, value) VALUES (?1, '1')
         ON CONFLICT(key) DO UPDATE SET value = CAST(value AS INTEGER) + 1",
        [key],
    )?;
    counter(connection, key)
}

/// Advances with every change of chunks; full text catches up with it.
const TEXT_GENERATION: &str = "text_generation";
/// Advances with every change of vectors; the codes are rebuilt when they lag behind.
const VECTOR_GENERATION: &str = "vector_generation";
