//! Opens a base, and runs reads and writes on it off the async threads.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{Filter, KnowledgeBase, Lease, Snapshots, StoreError};
use rusqlite::Connection;

use super::counters::{FORGETTINGS, counter};
use super::gate::Held;
use super::inner::{DATABASE, Freshness, Inner};
use super::leased::is_held;
use super::snapshot::{Snapshot, View};
use super::threads::{self, Place};
use crate::error::Context;

/// A knowledge base in a folder: its state at each call, or the state of a snapshot.
#[derive(Clone)]
pub struct Base {
    pub(super) inner: Arc<Inner>,
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
    /// Opens the base in `folder`, or creates an empty one.
    ///
    /// # Errors
    /// [`StoreError::NotOurs`] if the file is not a base of a known layout; it stays unchanged, to
    /// the byte. [`BaseProblem::ReadOnly`](crate::BaseProblem::ReadOnly) if it cannot be written.
    pub fn open_or_create(folder: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder)
            .context(&format!("creating the folder {}", folder.display()))?;
        let base = Self::connected(folder, Freshness::Now)?;
        match base.is_read_only() {
            true => Err(base.inner.read_only("opening the base to write")),
            false => Ok(base),
        }
    }

    /// Opens the base in `folder`, for reading only if it cannot be written.
    ///
    /// # Errors
    /// [`StoreError::NotOurs`] if there is no base, or none of a known layout.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_with(folder, Freshness::Now)
    }

    /// As [`Base::open`], for a process that sets how far its searches may lag behind.
    ///
    /// # Errors
    /// [`StoreError::NotOurs`] if there is no base.
    pub fn open_with(folder: &Path, freshness: Freshness) -> Result<Self, StoreError> {
        if folder.join(DATABASE).is_file() {
            return Self::connected(folder, freshness);
        }
        Err(StoreError::NotOurs {
            path: folder.display().to_string(),
            reason: "there is no knowledge base yet".to_owned(),
        })
    }

    fn connected(folder: &Path, freshness: Freshness) -> Result<Self, StoreError> {
        let inner = Inner::open(folder, freshness)?;
        Ok(Self { inner, held: None, only: None, began_at: None, lease: None })
    }

    /// The folder of the base.
    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// The number of this opening of the base; clones and snapshots share it. No other opening in
    /// this process has it, not even that of a copy of the folder, whose database is the same.
    pub fn opening(&self) -> u64 {
        self.inner.opening
    }

    /// Whether the base can be read but not changed. Paid replies are then kept in memory only.
    pub fn is_read_only(&self) -> bool {
        self.inner.writer.is_none()
    }

    /// The same base, in which only the chunks of these files are pending. A job uses it to index
    /// its own files.
    #[must_use]
    pub fn pending_of(&self, files: Vec<String>) -> Self {
        Self { only: Some(files.into()), ..self.clone() }
    }

    /// The same base, for a worker. After its lease has ended, writes fail with
    /// [`StoreError::LeaseLost`]. Paid replies are still kept.
    #[must_use]
    pub fn leased(&self, lease: Lease) -> Self {
        Self { lease: Some(lease), ..self.clone() }
    }

    /// The same base, for a question that begins now. After a later forget operation, nothing more
    /// is stored through it: no reply, no verified answer, no run. They might contain the forgotten
    /// content. [`Base::forgotten_run`] reports such a run.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn for_a_question(&self) -> Result<Self, StoreError> {
        let began = self
            .querying("reading the state of the base", |connection| {
                counter(connection, FORGETTINGS)
            })
            .await?;
        Ok(Self { began_at: Some(began), ..self.clone() })
    }

    /// See [`Base::for_a_question`].
    pub(super) fn began_at(&self) -> Option<i64> {
        self.began_at
    }

    /// The files that [`Base::pending_of`] names.
    pub(super) fn only(&self) -> Option<&[String]> {
        self.only.as_deref()
    }

    /// Waits until all running writes are done, including those whose caller no longer waits.
    pub async fn settled(&self) {
        drop(self.inner.under_way.write().await);
    }

    /// Runs `work` on a connection for reading, off the async threads unless this is a question's own.
    pub(super) async fn reading<T, F>(&self, what: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Inner, &Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.viewing(what, move |view| work(view.inner, view.connection)).await
    }

    /// As [`Base::reading`], for work that uses the derived indexes.
    pub(super) async fn viewing<T, F>(&self, what: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&View<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let base = self.clone();
        match self.held {
            Some(_) => threads::reading_held(what, move || base.view(what, work)).await,
            None => threads::reading(what, move || base.view(what, work)).await,
        }
    }

    /// As [`Base::viewing`], on this thread.
    pub(super) fn view<T>(
        &self,
        what: &str,
        work: impl FnOnce(&View<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match &self.held {
            Some(snapshot) => snapshot.view(what, work),
            None => self.inner.with_reader(|connection| {
                // One state for all statements of a port call, and one acquisition of the file's
                // lock.
                let connection = &connection.unchecked_transaction().context(what)?;
                work(&View { inner: &self.inner, connection, snapshot: None })
            }),
        }
    }

    /// As [`Base::reading`], for work that needs only the database.
    pub(super) async fn querying<T, F>(&self, what: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        self.reading(what, move |_, connection| work(connection).context(what)).await
    }

    /// Runs `work` in one transaction, off the async threads.
    pub(super) async fn writing<T, F>(&self, what: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let (inner, lease) = (Arc::clone(&self.inner), self.lease);
        // The write goes on if its caller is dropped: [`Base::settled`] waits for it.
        let under_way = Arc::clone(&inner.under_way).read_owned().await;
        threads::writing(what, move || {
            let written = inner.transaction(what, |tx| match lease {
                Some(lease) if !is_held(tx, lease)? => Ok(Err(lease.job)),
                _ => work(tx).map(Ok),
            });
            drop(under_way);
            written?.map_err(|job| StoreError::LeaseLost { job })
        })
        .await
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
        let held = Held::of(&self.inner.gate).await;
        let place = threads::place().await?;
        let (base, visible, filter) = (self.clone(), visible.clone(), filter.clone());
        threads::reading("taking a snapshot of the base", move || {
            base.take_snapshot(&visible, &filter, (held, place))
        })
        .await
    }

    fn take_snapshot(
        &self,
        visible: &Filter,
        filter: &Filter,
        place: (Held, Place),
    ) -> Result<Self, StoreError> {
        let snapshot = Snapshot::take(Arc::clone(&self.inner), visible, filter, place)?;
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

#[cfg(test)]
mod tests {
    use pikerag_knowledge::{CallOrigin, CallRecord, Ledger, Usage};

    use super::*;

    #[tokio::test]
    async fn unqualified_calls_go_to_first_endpoint() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        assert!(base.inherits("m", "one").await.unwrap());
        assert!(!base.inherits("m", "other").await.unwrap());
        assert!(base.inherits("m", "one").await.unwrap());
        assert!(base.inherits("n", "other").await.unwrap());
    }

    /// Both then count their generations from the same one.
    #[tokio::test]
    async fn a_copied_folder_is_another_opening() {
        let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        drop(Base::open_or_create(folder.path()).unwrap());
        std::fs::copy(folder.path().join(DATABASE), copy.path().join(DATABASE)).unwrap();
        let (one, other) = (Base::open(folder.path()).unwrap(), Base::open(copy.path()).unwrap());
        assert_eq!(one.inner.identity, other.inner.identity);
        assert_ne!(one.opening(), other.opening());
        let all = Filter::default();
        let seen = one.seen_through(&all, &all).await.unwrap();
        assert_eq!(seen.opening(), one.opening());
    }

    /// Keys are hashes, so each record touches another page. Reading and writing the pages of the
    /// key's index for each record would write many times the file's size.
    #[tokio::test]
    async fn a_large_transaction_writes_each_page_about_once() {
        let written = || {
            let io = std::fs::read_to_string("/proc/self/io").ok()?;
            io.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse::<u64>().ok())
        };
        let Some(before) = written() else {
            println!("skipped: the kernel does not count what is written");
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
            origin: CallOrigin::default(),
        };
        base.keep_all((0..40_000).map(call).collect()).await.unwrap();
        drop(base);
        let size = folder.path().join(DATABASE).metadata().unwrap().len();
        let written = written().unwrap() - before;
        // The log, and from there the file.
        assert!(written < 3 * size, "{written} bytes for a file of {size}");
    }
}
