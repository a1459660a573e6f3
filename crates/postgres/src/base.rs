//! Opens a base of a database, and runs reads and writes on it.

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pikerag_knowledge::{Filter, KnowledgeBase, Lease, Snapshots, StoreError};
use pikerag_store::BaseProblem;
use pikerag_store::shared::{ProcessIdentity, Scopes, next_opening};
use tokio::runtime::Handle;

use crate::database::Database;
use crate::error::Context;
use crate::fault::Sql;
use crate::inner::Inner;
use crate::location::Location;
use crate::meta::{FORGETTINGS, counter};
use crate::mirror::Mirrors;
use crate::snapshot::Snapshot;
use crate::sweep::sweep;
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
    /// The lease of the job that writes through this handle.
    lease: Option<Lease>,
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
        check_writable(database, location)?;
        let number = database.find_or_make(location.base()).await?;
        Ok(Self::of(database, location, number))
    }

    /// Creates an empty base; `None` if there is one.
    pub(crate) async fn create(
        database: &Arc<Database>,
        location: &Location,
    ) -> Result<Option<Self>, StoreError> {
        check_writable(database, location)?;
        let made = database.make(location.base()).await?;
        Ok(made.map(|number| Self::of(database, location, number)))
    }

    /// Opens the base of an address.
    ///
    /// # Errors
    /// [`StoreError::NotOurs`] if there is none.
    pub async fn open(database: &Arc<Database>, location: &Location) -> Result<Self, StoreError> {
        match database.find(location.base()).await? {
            Some(number) => Ok(Self::of(database, location, number)),
            None => Err(StoreError::NotOurs {
                path: location.shown(),
                reason: "there is no knowledge base yet".to_owned(),
            }),
        }
    }

    fn of(database: &Arc<Database>, location: &Location, number: i32) -> Self {
        let inner = Inner {
            database: Arc::clone(database),
            number,
            opening: next_opening(),
            shown: location.shown_path(),
            who: ProcessIdentity::this_process(),
            runtime: Handle::current(),
            unwritten: Mutex::default(),
            released: Mutex::default(),
            chunks: Mutex::default(),
            word_totals: Mutex::default(),
            mirrors: Mirrors::default(),
            scopes: Scopes::default(),
            under_way: Arc::default(),
        };
        Self { inner: Arc::new(inner), held: None, only: None, began_at: None, lease: None }
    }

    /// The address of the base without its password, in place of a folder.
    pub fn folder(&self) -> &Path {
        &self.inner.shown
    }

    /// The number of this opening of the base; clones and snapshots share it. No other opening of a
    /// base in any store of this process has it.
    pub fn opening(&self) -> u64 {
        self.inner.opening
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

    /// The same base, for a worker. After its lease has ended, writes of documents and of results
    /// fail with [`StoreError::LeaseLost`]. Paid replies are still kept.
    #[must_use]
    pub fn leased(&self, lease: Lease) -> Self {
        Self { lease: Some(lease), ..self.clone() }
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
        let lease = self.lease.filter(|_| access == Access::Documents);
        let under_way = Arc::clone(&inner.under_way).read_owned().await;
        let written = tokio::spawn(async move {
            let _under_way = under_way;
            let tx = Arc::new(inner.database.begin(inner.number, access).await?);
            let done = async {
                if let Some(lease) = lease {
                    tx.hold_lease(lease).await?;
                }
                let done = work(Arc::clone(&tx)).await?;
                if matches!(access, Access::Documents | Access::Forget) {
                    sweep(&tx).await?;
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

fn check_writable(database: &Database, location: &Location) -> Result<(), StoreError> {
    match database.is_read_only {
        true => Err(BaseProblem::ReadOnly { folder: location.shown_path() })
            .context("opening the base to write"),
        false => Ok(()),
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
