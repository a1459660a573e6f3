//! Opens a base, and runs reads and writes on it off the async threads.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{Filter, KnowledgeBase, Snapshots, StoreError};
use rusqlite::Connection;

use super::counters::{FORGETTINGS, counter};
use super::gate::Held;
use super::inner::{DATABASE, Freshness, Inner};
use super::snapshot::{Snapshot, View};
use super::threads::{self, Place};
use crate::error::Context;

/// A knowledge base in a folder, as it stands at each call; within a snapshot, as it stood then.
#[derive(Clone)]
pub struct Base {
    pub(super) inner: Arc<Inner>,
    held: Option<Arc<Snapshot>>,
    /// Files whose chunks alone are pending; all, if `None`.
    only: Option<Arc<[String]>>,
    /// How often something had been forgotten when what is kept through this handle began to be read; `None` where that does
    /// not matter.
    began_at: Option<i64>,
}

impl Base {
    /// Opens the base in `folder`, or makes an empty one there.
    ///
    /// # Errors
    /// [`StoreError::NotOurs`] where the file is no base of a layout that is known: it is left as it is, to the
    /// byte. [`BaseProblem::ReadOnly`](crate::BaseProblem::ReadOnly).
    pub fn open_or_create(folder: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder)
            .context(&format!("creating the folder {}", folder.display()))?;
        let base = Self::connected(folder, Freshness::Now)?;
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
            return Self::connected(folder, freshness);
        }
        Err(StoreError::NotOurs {
            path: folder.display().to_string(),
            reason: "there is no knowledge base yet".to_owned(),
        })
    }

    fn connected(folder: &Path, freshness: Freshness) -> Result<Self, StoreError> {
        Ok(Self { inner: Inner::open(folder, freshness)?, held: None, only: None, began_at: None })
    }

    /// The folder of the base.
    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }

    /// Whether it can be asked and not changed. What is paid for is then kept in memory alone.
    pub fn is_read_only(&self) -> bool {
        self.inner.writer.is_none()
    }

    /// The same base, of which the chunks of these files alone are pending: what a job of theirs indexes.
    #[must_use]
    pub fn pending_of(&self, files: Vec<String>) -> Self {
        Self { only: Some(files.into()), ..self.clone() }
    }

    /// The same base, for a question that begins now. Once something was forgotten since, nothing more is kept through it: no
    /// reply, no verified answer and not the run, for they may hold what was forgotten. [`Base::forgotten_run`] tells of the run.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn for_a_question(&self) -> Result<Self, StoreError> {
        let began = self
            .looking("reading the state of the base", |connection| counter(connection, FORGETTINGS))
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

    /// Waits until all that was being written is written, also what its caller no longer waits for.
    pub async fn settled(&self) {
        drop(self.inner.under_way.write().await);
    }

    /// Runs `work` on a connection for reading, off the async threads.
    pub(super) async fn reading<T, F>(&self, what: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Inner, &Connection) -> Result<T, StoreError> + Send + 'static,
    {
        self.viewing(what, move |view| work(view.inner, view.connection)).await
    }

    /// As [`Base::reading`], for what asks the derived indexes.
    pub(super) async fn viewing<T, F>(&self, what: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&View<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let base = self.clone();
        threads::reading(what, move || base.view(what, work)).await
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
                // One state for all statements of a port call, and one taking of the file's lock.
                let connection = &connection.unchecked_transaction().context(what)?;
                work(&View { inner: &self.inner, connection, snapshot: None })
            }),
        }
    }

    /// As [`Base::reading`], for work that needs the database alone.
    pub(super) async fn looking<T, F>(&self, what: &'static str, work: F) -> Result<T, StoreError>
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
        let inner = Arc::clone(&self.inner);
        // It goes on when its caller is dropped: [`Base::settled`] waits for it.
        let under_way = Arc::clone(&inner.under_way).read_owned().await;
        threads::writing(what, move || {
            let written = inner.transaction(what, work);
            drop(under_way);
            written
        })
        .await
    }

    /// The base as it stands now, and of it what the filter admits. So many are held at a time in this process, and the others
    /// wait.
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
            base.at_a_state(&visible, &filter, (held, place))
        })
        .await
    }

    fn at_a_state(
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
