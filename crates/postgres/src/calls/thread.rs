//! Runs statements on a thread of its own, for synchronous callers. They are on threads of a runtime,
//! which must not be blocked by work of the same runtime.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use pikerag_knowledge::StoreError;
use tokio::runtime::Builder;
use tokio::sync::OnceCell;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::database::{Connections, Database};
use crate::error::Context;
use crate::fault::Sql;
use crate::location::Location;
use crate::tx::{Access, Tx};

/// The statements belong to no base: the numbers of bases begin with 1.
const NO_BASE: i32 = 0;
/// The longest wait for a result.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Another process may hold the row of a key, so several statements run at a time.
const CONNECTIONS: Connections =
    Connections { reads: 2, writes: 4, states: 1, wait: Duration::from_secs(10) };

/// The thread, which ends with this value, and its connections.
pub(super) struct BlockingThread {
    jobs: UnboundedSender<BoxFuture<'static, ()>>,
    connected: Arc<Connected>,
}

/// A database that is connected to when it is first used. A failed attempt is repeated with the
/// next use.
struct Connected {
    location: Location,
    database: OnceCell<Arc<Database>>,
}

impl BlockingThread {
    /// Starts a thread of this name.
    pub(super) fn start(location: &Location, name: &str) -> Result<Self, StoreError> {
        let doing = "starting a thread for the database";
        let runtime = Builder::new_current_thread().enable_all().build().context(doing)?;
        let (jobs, mut pending) = unbounded_channel::<BoxFuture<'static, ()>>();
        let work = move || {
            runtime.block_on(async move {
                while let Some(job) = pending.recv().await {
                    tokio::spawn(job);
                }
            });
        };
        thread::Builder::new().name(name.to_owned()).spawn(work).context(doing)?;
        let connected =
            Arc::new(Connected { location: location.clone(), database: OnceCell::new() });
        Ok(Self { jobs, connected })
    }

    /// Runs `work` in one transaction, and waits for its result.
    pub(super) fn run<T, F, R>(
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
        let (sender, receiver) = sync_channel::<Result<T, StoreError>>(1);
        let connected = Arc::clone(&self.connected);
        let job = async move {
            let done = connected.run(what, access, work);
            let done = tokio::time::timeout(MAX_WAIT, done).await.context(what);
            // The caller waits until the job is done or dropped.
            let _ = sender.send(done.and_then(|done| done));
        };
        // If the thread has ended, the job is dropped with its sender.
        let _ = self.jobs.send(job.boxed());
        receiver.recv().context(what)?
    }
}

impl BlockingThread {
    /// Begins work on the database and does not wait for it.
    pub(super) fn begin<F, R>(&self, work: F)
    where
        F: FnOnce(Result<Arc<Database>, StoreError>) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let connected = Arc::clone(&self.connected);
        let job = async move { work(connected.database().await).await };
        // If the thread has ended, the process is ending.
        let _ = self.jobs.send(job.boxed());
    }
}

impl Connected {
    async fn database(&self) -> Result<Arc<Database>, StoreError> {
        let connect = || Database::connect(&self.location, CONNECTIONS);
        self.database.get_or_try_init(connect).await.map(Arc::clone)
    }

    async fn run<T, F, R>(
        &self,
        what: &'static str,
        access: Access,
        work: F,
    ) -> Result<T, StoreError>
    where
        F: FnOnce(Arc<Tx>) -> R,
        R: Future<Output = Sql<T>>,
    {
        let database = self.database().await?;
        let tx = Arc::new(database.begin(NO_BASE, access).await?);
        let done = async {
            let done = work(Arc::clone(&tx)).await?;
            tx.commit().await?;
            Ok(done)
        };
        let done: Sql<T> = done.await;
        done.map_err(|fault| fault.in_words(what))
    }
}
