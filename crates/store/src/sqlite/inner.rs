//! Holds the data that all copies of a base share: its folder, its connections, and the derived
//! indexes in memory.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use pikerag_knowledge::StoreError;
use rusqlite::Connection;
use tokio::sync::RwLock;

use super::claims::ProcessIdentity;
use super::data;
use super::gate::Gate;
use super::idle::Idle;
use super::loaded::Loaded;
use super::locks::locked;
use super::names::NamesInUse;
use super::opening;
use super::queue::Queue;
use super::scope::Scope;
use crate::error::{BaseProblem, Context};
use crate::fulltext::FullText;
use crate::scopes::Scopes;

/// The file that makes a folder a knowledge base.
pub const DATABASE: &str = "base.sqlite";

/// Counts how often this process opened a base.
static OPENINGS: AtomicU64 = AtomicU64::new(0);

/// A number that no other opening of a base in this process has, in whichever store.
pub fn next_opening() -> u64 {
    OPENINGS.fetch_add(1, Ordering::Relaxed)
}

/// How soon a search finds stored words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// At once: a search waits until full text has caught up with the database.
    #[default]
    Now,
    /// A search never waits: full text catches up in the background, at most once in this time.
    /// This suits a process that answers many searches while it indexes.
    /// [`refresh`](pikerag_knowledge::SearchWriter::refresh) still waits. A base without any full
    /// text is searched only after it is built.
    Within(Duration),
}

/// The data that all copies of a base share.
pub(super) struct Inner {
    /// For work in the background of a search.
    pub(super) me: Weak<Self>,
    pub(super) folder: PathBuf,
    pub(super) freshness: Freshness,
    pub(super) last_update: LastUpdate,
    /// Distinguishes this base from others that were in this folder before.
    pub(super) identity: String,
    /// Distinguishes this opening from all others of this process.
    pub(super) opening: u64,
    pub(super) idle: Idle,
    /// Closed last, because only the last connection folds the log into the database. `None` if
    /// nothing can be written.
    pub(super) writer: Option<Mutex<Connection>>,
    pub(super) fulltext: Mutex<Option<Arc<FullText>>>,
    pub(super) vectors: Loaded,
    pub(super) names: NamesInUse,
    /// What the last filters admitted.
    pub(super) scopes: Scopes<Scope>,
    pub(super) ledger: Queue,
    pub(super) who: ProcessIdentity,
    pub(super) gate: Arc<Gate>,
    /// Held by each write of a port while it runs.
    pub(super) under_way: Arc<RwLock<()>>,
}

/// When full text was last updated in the background; `None` during an update.
pub(super) struct LastUpdate(pub(super) Mutex<Option<Instant>>);

impl Default for LastUpdate {
    fn default() -> Self {
        Self(Mutex::new(Some(Instant::now())))
    }
}

impl Inner {
    /// Opens the base in a folder, for reading only if it cannot be written.
    pub(super) fn open(folder: &Path, freshness: Freshness) -> Result<Arc<Self>, StoreError> {
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
        Ok(Arc::new_cyclic(|me| Self {
            me: Weak::clone(me),
            folder: folder.to_owned(),
            freshness,
            last_update: LastUpdate::default(),
            identity,
            opening: next_opening(),
            writer: writer.map(Mutex::new),
            idle: Idle::default(),
            fulltext: Mutex::default(),
            vectors: Loaded::default(),
            names: NamesInUse::default(),
            scopes: Scopes::default(),
            ledger: Queue::default(),
            who: ProcessIdentity::this_process(),
            gate: Gate::of(folder),
            under_way: Arc::default(),
        }))
    }

    pub(super) fn transaction<T>(
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
        data::sweep(&transaction).context(what)?;
        transaction.commit().context(what)?;
        drop(writer);
        self.shorten_log_if_long();
        Ok(result)
    }

    pub(super) fn read_only(&self, what: &str) -> StoreError {
        let problem = BaseProblem::ReadOnly { folder: self.folder.clone() };
        StoreError::Failed { what: what.to_owned(), source: problem.into() }
    }

    /// As [`Inner::transaction`], for changes that a power failure may lose: it does not wait for
    /// the disk.
    pub(super) fn unsynced_transaction<T>(
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
        drop(writer);
        self.shorten_log_if_long();
        done.context(what)
    }

    pub(super) fn stamp(&self, generation: i64) -> String {
        format!("{}:{generation}", self.identity)
    }
}
