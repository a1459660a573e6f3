//! Opens a base of a database, and runs reads and writes on it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pikerag_knowledge::{CallRecord, Filter, KnowledgeBase, Snapshots, StoreError};
use pikerag_store::BaseProblem;
use pikerag_store::shared::ProcessIdentity;
use tokio::runtime::Handle;
use tokio::sync::RwLock;

use crate::database::Database;
use crate::error::Context;
use crate::fault::Sql;
use crate::location::Location;
use crate::search::WordTotals;
use crate::snapshot::Snapshot;
use crate::tables::Mirrors;
use crate::tx::{Access, Tx};

/// A knowledge base in a database: its state at each call, or the state of a snapshot.
#[derive(Clone)]
pub struct Base {
    pub(crate) inner: Arc<Inner>,
    held: Option<Arc<Snapshot>>,
    /// The only files whose chunks are pending; `None` means all.
    only: Option<Arc<[String]>>,
    /// The number of forget operations when the question that stores through this handle began;
    /// `None` if that does not matter.
    began_at: Option<i64>,
}

/// The data that all copies of a base share.
pub(crate) struct Inner {
    pub(crate) database: Arc<Database>,
    /// The base's number in every table.
    pub(crate) number: i32,
    /// Distinguishes this base from others that had its name before.
    pub(crate) identity: String,
    /// Its address without the password.
    shown: PathBuf,
    pub(crate) who: ProcessIdentity,
    /// For exports, whose callers are on threads of their own.
    pub(crate) runtime: Handle,
    /// Replies that are not known to be written, by key; each with the number of forget operations
    /// when its question began.
    pub(crate) unwritten: Mutex<HashMap<String, (CallRecord, Option<i64>)>>,
    /// Released claims that are still in the database: (holder, key).
    pub(crate) released: Mutex<Vec<(u64, String)>>,
    /// The totals of full text, with their generation.
    pub(crate) word_totals: Mutex<Option<(i64, WordTotals)>>,
    pub(crate) mirrors: Mirrors,
    /// Held by each write of a port while it runs.
    pub(crate) under_way: Arc<RwLock<()>>,
}

impl Base {
    /// Opens the base of an address, or creates an empty one.
    ///
    /// # Errors
    /// [`BaseProblem::ReadOnly`] if the database cannot be written.
    pub async fn open_or_create(
        database: &Arc<Database>,
        location: &Location,
    ) -> Result<Self, StoreError> {
        if database.is_read_only {
            let problem = BaseProblem::ReadOnly { folder: location.shown_path() };
            return Err(problem).context("opening the base to write");
        }
        let found = database.find_or_make(location.base()).await?;
        Ok(Self::of(database, location, found))
    }

    /// Opens the base of an address.
    ///
    /// # Errors
    /// [`StoreError::NotOurs`] if there is none.
    pub async fn open(database: &Arc<Database>, location: &Location) -> Result<Self, StoreError> {
        match database.find(location.base()).await? {
            Some(found) => Ok(Self::of(database, location, found)),
            None => Err(StoreError::NotOurs {
                path: location.shown(),
                reason: "there is no knowledge base yet".to_owned(),
            }),
        }
    }

    fn of(database: &Arc<Database>, location: &Location, found: (i32, String)) -> Self {
        let (number, identity) = found;
        let inner = Inner {
            database: Arc::clone(database),
            number,
            identity,
            shown: location.shown_path(),
            who: ProcessIdentity::this_process(),
            runtime: Handle::current(),
            unwritten: Mutex::default(),
            released: Mutex::default(),
            word_totals: Mutex::default(),
            mirrors: Mirrors::default(),
            under_way: Arc::default(),
        };
        Self { inner: Arc::new(inner), held: None, only: None, began_at: None }
    }

    /// The address of the base without its password, in place of a folder.
    pub fn folder(&self) -> &Path {
        &self.inner.shown
    }

    /// Whether the base can be read but not changed. Paid replies are then kept in memory only.
    pub fn is_read_only(&self) -> bool {
        self.inner.database.is_read_only
    }

    /// The same base, in which only the chunks of these files are pending. A job uses it to index
    /// its own files.
    #[must_use]
    pub fn pending_of(&self, files: Vec<String>) -> Self {
        Self { only: Some(files.into()), ..self.clone() }
    }

    /// The same base, for a question that begins now. After a later forget operation, nothing more
    /// is stored through it: no reply, no verified answer, no run.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn for_a_question(&self) -> Result<Self, StoreError> {
        let began = self
            .reading("reading the state of the base", |tx| async move {
                counter(&tx, FORGETTINGS).await
            })
            .await?;
        Ok(Self { began_at: Some(began), ..self.clone() })
    }

    /// See [`Base::for_a_question`].
    pub(crate) fn began_at(&self) -> Option<i64> {
        self.began_at
    }

    /// The files that [`Base::pending_of`] names.
    pub(crate) fn only(&self) -> Option<&[String]> {
        self.only.as_deref()
    }

    /// The state that this handle shows; `None` for the live base.
    pub(crate) fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.held.as_ref()
    }

    /// Waits until all running writes are done, including those whose caller no longer waits.
    pub async fn settled(&self) {
        drop(self.inner.under_way.write().await);
    }

    /// Runs `work` on one state of the base: that of the snapshot, or the latest.
    pub(crate) async fn reading<T, F, R>(
        &self,
        what: &'static str,
        work: F,
    ) -> Result<T, StoreError>
    where
        T: Send,
        F: FnOnce(Arc<Tx>) -> R + Send,
        R: Future<Output = Sql<T>> + Send,
    {
        if let Some(snapshot) = &self.held {
            return work(Arc::clone(snapshot.tx())).await.map_err(|fault| fault.in_words(what));
        }
        let tx = Arc::new(self.inner.database.begin(self.inner.number, Access::Read).await?);
        let read = work(Arc::clone(&tx)).await.map_err(|fault| fault.in_words(what))?;
        // It changed nothing, so a failed commit means nothing.
        let _ = tx.commit().await;
        Ok(read)
    }

    /// Runs `work` in one transaction, which goes on if its caller is dropped.
    pub(crate) async fn writing<T, F, R>(
        &self,
        what: &'static str,
        access: Access,
        work: F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(Arc<Tx>) -> R + Send + 'static,
        R: Future<Output = Sql<T>> + Send + 'static,
    {
        if self.is_read_only() {
            return Err(BaseProblem::ReadOnly { folder: self.folder().to_owned() }).context(what);
        }
        let inner = Arc::clone(&self.inner);
        let under_way = Arc::clone(&inner.under_way).read_owned().await;
        let written = tokio::spawn(async move {
            let _under_way = under_way;
            let tx = Arc::new(inner.database.begin(inner.number, access).await?);
            let done = async {
                let done = work(Arc::clone(&tx)).await?;
                if matches!(access, Access::Documents | Access::Forget) {
                    crate::tables::sweep(&tx).await?;
                }
                tx.commit().await?;
                Ok(done)
            };
            let done: Sql<T> = done.await;
            done.map_err(|fault| fault.in_words(what))
        });
        written.await.context(what)?
    }

    /// A snapshot of the base that shows what the filters admit. The number of snapshots held in
    /// this process is limited, and further callers wait.
    ///
    /// # Errors
    /// The base cannot be read, or does not have a field of the filter.
    pub async fn seen_through(
        &self,
        visible: &Filter,
        filter: &Filter,
    ) -> Result<Self, StoreError> {
        let snapshot = Snapshot::take(&self.inner, visible, filter).await?;
        Ok(Self { held: Some(Arc::new(snapshot)), only: None, ..self.clone() })
    }
}

#[async_trait]
impl Snapshots for Base {
    async fn snapshot(
        &self,
        visible: &Filter,
        filter: &Filter,
    ) -> Result<Arc<dyn KnowledgeBase>, StoreError> {
        Ok(Arc::new(self.seen_through(visible, filter).await?))
    }
}

/// Advances with every change of chunks.
pub(crate) const TEXT_GENERATION: &str = "text_generation";
/// Advances with every forget operation.
pub(crate) const FORGETTINGS: &str = "forgettings";
/// The mark that forgotten content may still be in dead rows of the tables.
pub(crate) const UNFINISHED: &str = "forgetting";
/// Advances with every change of typed tables and their rows.
pub(crate) const DATA_VERSION: &str = "data_version";
/// The number of the last job.
pub(crate) const LAST_JOB: &str = "last_job";

/// A counter of `meta`; 0 before its first advance.
pub(crate) async fn counter(tx: &Tx, key: &str) -> Sql<i64> {
    let sql = "SELECT value::bigint FROM meta WHERE key = $1";
    match tx.optional(sql, &[&key]).await? {
        Some(row) => Ok(row.try_get(0)?),
        None => Ok(0),
    }
}

/// Advances a counter, and returns it. Its row is locked until the transaction ends, so a counter grows in the order of
/// commits.
pub(crate) async fn advance(tx: &Tx, key: &str) -> Sql<i64> {
    let sql = "INSERT INTO meta AS m (key, value) VALUES ($1, '1')
         ON CONFLICT (base, key) DO UPDATE SET value = (m.value::bigint + 1)::text
         RETURNING value::bigint";
    tx.number(sql, &[&key]).await
}

/// A text of `meta`.
pub(crate) async fn fact(tx: &Tx, key: &str) -> Sql<Option<String>> {
    let row = tx.optional("SELECT value FROM meta WHERE key = $1", &[&key]).await?;
    row.map(|row| Ok(row.try_get(0)?)).transpose()
}

/// Stores a text in `meta`, in place of an earlier one.
pub(crate) async fn set_fact(tx: &Tx, key: &str, value: &str) -> Sql<()> {
    let sql = "INSERT INTO meta (key, value) VALUES ($1, $2)
         ON CONFLICT (base, key) DO UPDATE SET value = excluded.value";
    tx.run(sql, &[&key, &value]).await.map(drop)
}

/// Whether content was forgotten since a question began: see [`Base::for_a_question`].
pub(crate) async fn is_forgotten_since(tx: &Tx, began_at: Option<i64>) -> Sql<bool> {
    match began_at {
        Some(began) => Ok(began < counter(tx, FORGETTINGS).await?),
        None => Ok(false),
    }
}

/// A lock whose holder panicked still guards consistent data.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
