//! Holds the shared state of a process: settings, connections and models behind endpoints, local
//! weights, open bases.

mod databases;
mod holding;
mod session;
mod shared_limits;

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use pikerag_knowledge::{Embedder, Reranker, SharedLimits};
use pikerag_methods::Catalogs;
use pikerag_models::{Meter, Transport, Upstreams};
use pikerag_postgres::Database;
use pikerag_retrieve::Known;
use pikerag_store::DATABASE;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use self::session::weights;
pub use self::session::{Cost, CostPart, Grant, Session};
pub(crate) use self::session::{DEFAULT_METHOD, SearchLedger, TrialModel};
use self::shared_limits::{share_cap, shared_limits, upstreams};
use crate::base::{Base, address_of};
use crate::error::{EngineError, Result};
use crate::in_use::InUse;
use crate::local_models::LocalServers;
use crate::sandbox::{Programs, SandboxedReader};
use crate::settings::{Settings, this_program};

/// Reads of a whole base that run at the same time; each has its own thread and connection.
pub(crate) const LONG_READS: usize = 4;
/// Exports that run at the same time, beside those reads. An export takes as long as its reader
/// does.
pub(crate) const EXPORTS: usize = 4;

/// Creates an engine. It reads, starts and calls nothing yet.
///
/// # Errors
/// [`EngineError::NoProgram`].
///
/// # Examples
/// ```no_run
/// # fn f() -> pikerag_engine::Result<()> {
/// use pikerag_engine::settings::{Environment, Flags, Settings};
///
/// let flags = Flags { base: Some("law".into()), offline: true, ..Default::default() };
/// let engine = pikerag_engine::open(Settings::load(&flags, &Environment::read())?)?;
/// println!("{}", engine.session().folder().display());
/// # Ok(())
/// # }
/// ```
pub fn open(settings: Settings) -> Result<Engine> {
    let limits = shared_limits(&settings);
    let meter = Meter::new(settings.prices.clone(), settings.cap);
    share_cap(&meter, limits.as_ref(), settings.shared_cap.as_deref());
    let upstreams = upstreams(limits.as_ref());
    let process = Process {
        meter: Arc::new(meter),
        limits,
        transport: Transport::default(),
        catalogs: Arc::default(),
        known: Known::default(),
        local_servers: LocalServers::default(),
        bases: Mutex::default(),
        databases: tokio::sync::Mutex::default(),
        users: Mutex::default(),
        held: Mutex::default(),
        long_reads: Arc::new(Semaphore::new(LONG_READS)),
        exports: Arc::new(Semaphore::new(EXPORTS)),
        cancel: CancellationToken::new(),
    };
    let reader = reader(&settings, None)?;
    Ok(Engine(Arc::new(Shared {
        settings,
        reader,
        upstreams,
        weights: Arc::default(),
        process: Arc::new(process),
    })))
}

/// Makes the reader of files that the settings describe. It shares the child processes' places with
/// `earlier` if their number is unchanged.
fn reader(settings: &Settings, earlier: Option<&SandboxedReader>) -> Result<SandboxedReader> {
    let program = match &settings.program {
        Some(program) => program.clone(),
        None => this_program().map_err(EngineError::NoProgram)?,
    };
    let programs =
        Programs::new(program.clone(), &settings.programs, settings.program_limits.clone());
    let limits = settings.parser_limits.clone();
    let shared = earlier.filter(|earlier| earlier.limits.at_once == limits.at_once);
    let places = match shared {
        Some(earlier) => Arc::clone(&earlier.places),
        None => Arc::new(Semaphore::new(limits.at_once.max(1))),
    };
    Ok(SandboxedReader {
        root: PathBuf::new(),
        program,
        limits,
        programs: Arc::new(programs),
        places,
    })
}

/// The state that all sessions share. Their costs are summed and held under one cap. A clone is the
/// same engine.
#[derive(Clone)]
pub struct Engine(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) upstreams: Upstreams,
    pub(crate) reader: SandboxedReader,
    pub(crate) weights: Arc<LocalWeights>,
    pub(crate) process: Arc<Process>,
}

/// Local weights, each opened once.
#[derive(Default)]
pub(crate) struct LocalWeights {
    pub(crate) usual: OnceLock<Result<weights::Local, String>>,
    pub(crate) multilingual: OnceLock<Option<Arc<dyn Embedder>>>,
    /// The rerankers by folder.
    pub(crate) rerankers: Mutex<HashMap<PathBuf, LocalReranker>>,
}

/// Opened weights, or a readable reason why they cannot be used.
type LocalReranker = Result<Arc<dyn Reranker>, String>;

/// State that lasts as long as the process, also when settings are read again.
pub(crate) struct Process {
    pub(crate) meter: Arc<Meter>,
    /// The limits and caps that several processes keep together.
    pub(crate) limits: Option<Arc<dyn SharedLimits>>,
    pub(crate) transport: Transport,
    pub(crate) catalogs: Arc<Catalogs>,
    pub(crate) known: Known,
    /// The servers of this machine's models.
    pub(crate) local_servers: LocalServers,
    bases: Mutex<HashMap<PathBuf, Arc<Slot>>>,
    /// The connected databases, by their addresses without a base.
    databases: tokio::sync::Mutex<HashMap<String, Arc<Database>>>,
    /// Counts the sessions over each folder: each of them and their clones holds a reference.
    users: Mutex<HashMap<PathBuf, Weak<()>>>,
    /// The bases that requests hold, by folder; see [`Engine::hold`].
    held: Mutex<HashMap<PathBuf, Weak<InUse>>>,
    long_reads: Arc<Semaphore>,
    exports: Arc<Semaphore>,
    cancel: CancellationToken,
}

/// Holds one base. Its lock is held while the base is opened, so that it is opened once.
type Slot = tokio::sync::Mutex<Option<Opened>>;

/// An open base, with the device and inode of its file, or its number in its database.
struct Opened {
    base: Base,
    file: Option<(u64, u64)>,
}

impl Engine {
    /// The settings that the engine was opened with.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The same engine with other settings, for the sessions that it makes. Prices and the cap
    /// apply to all calls from now on; existing sessions keep their other settings. Open bases,
    /// connections and spending are shared, as are weights and limits that are unchanged.
    ///
    /// # Errors
    /// [`EngineError::NoProgram`]; nothing has changed in that case.
    ///
    /// # Examples
    /// ```no_run
    /// # fn f(engine: &pikerag_engine::Engine) -> pikerag_engine::Result<()> {
    /// let mut settings = engine.settings().clone();
    /// settings.cap.money_usd = Some(5.0); // US dollars, for all calls from now on.
    /// let engine = engine.with_settings(settings)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_settings(&self, settings: Settings) -> Result<Self> {
        let before = &*self.0;
        let reader = reader(&settings, Some(&before.reader))?;
        let weights = match settings.weights == before.settings.weights {
            true => Arc::clone(&before.weights),
            false => Arc::default(),
        };
        let process = &before.process;
        process.meter.set(settings.prices.clone(), settings.cap);
        // The first base in a database may be new.
        let limits = process.limits.clone().or_else(|| shared_limits(&settings));
        share_cap(&process.meter, limits.as_ref(), settings.shared_cap.as_deref());
        Ok(Self(Arc::new(Shared {
            upstreams: before.upstreams.renewed(),
            reader,
            weights,
            process: Arc::clone(&before.process),
            settings,
        })))
    }

    /// A session over the base that the settings name, for a caller who may see and spend all.
    pub fn session(&self) -> Session {
        self.session_over(self.settings().base.clone())
    }

    /// A session over the base in another folder, for a caller who may see and spend all.
    ///
    /// # Examples
    /// ```no_run
    /// # async fn f(engine: &pikerag_engine::Engine) -> pikerag_engine::Result<()> {
    /// let law = engine.session_over("bases/law".into());
    /// let medicine = engine.session_over("bases/medicine".into());
    /// println!("{:?}", pikerag_engine::status(&law).await?.summary);
    /// println!("{:?}", pikerag_engine::status(&medicine).await?.summary);
    /// # Ok(())
    /// # }
    /// ```
    pub fn session_over(&self, folder: PathBuf) -> Session {
        Session::new(self.clone(), folder)
    }

    /// Stops all running work, for good. No model call begins after that, and running ones are
    /// aborted. Runs end as cancelled, with their trace and their cost; other verbs end with
    /// [`EngineError::Cancelled`]. Paid and stored results stay.
    ///
    /// # Examples
    /// ```no_run
    /// # use pikerag_engine::{Engine, EstimateRequest};
    /// # async fn f(engine: &Engine, request: &EstimateRequest) {
    /// engine.cancel();
    /// let ended = pikerag_engine::estimate(&engine.session(), request).await;
    /// assert!(ended.is_err_and(|error| error.is_cancelled()));
    /// # }
    /// ```
    pub fn cancel(&self) {
        self.0.process.cancel.cancel();
    }

    /// Waits until a whole base may be read. Four such reads run at a time; the others wait in line
    /// and hold nothing open.
    ///
    /// # Errors
    /// [`EngineError::Cancelled`] if the process is ending.
    ///
    /// # Examples
    /// ```no_run
    /// # async fn f(engine: &pikerag_engine::Engine) -> pikerag_engine::Result<()> {
    /// let place = engine.long_read().await?;
    /// let bytes = place.run(|| std::fs::read("graph.jsonl")).await??;
    /// println!("{} bytes", bytes.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn long_read(&self) -> Result<LongRead> {
        LongRead::wait(&self.0.process.long_reads).await
    }

    /// Waits until an export may begin. It waits for no other read, and no read waits for it.
    ///
    /// # Errors
    /// The errors of [`Engine::long_read`].
    pub async fn export(&self) -> Result<LongRead> {
        LongRead::wait(&self.0.process.exports).await
    }

    /// Whether the base in a folder is or was open.
    pub(crate) async fn has_opened(&self, folder: &Path) -> bool {
        let slot = {
            let bases = self.0.process.bases.lock().unwrap_or_else(PoisonError::into_inner);
            bases.get(folder).cloned()
        };
        match slot {
            Some(slot) => slot.lock().await.is_some(),
            None => false,
        }
    }

    /// The number of sessions over a folder, clones included. Zero means that no request and no job
    /// uses its base.
    pub fn sessions_over(&self, folder: &Path) -> usize {
        let users = self.0.process.users.lock().unwrap_or_else(PoisonError::into_inner);
        users.get(folder).map_or(0, Weak::strong_count)
    }

    /// A reference to the sessions over a folder; [`Engine::sessions_over`] counts it.
    pub(crate) fn user_of(&self, folder: &Path) -> Arc<()> {
        let mut users = self.0.process.users.lock().unwrap_or_else(PoisonError::into_inner);
        users.retain(|_, user| 0 < user.strong_count());
        if let Some(user) = users.get(folder).and_then(Weak::upgrade) {
            return user;
        }
        let user = Arc::new(());
        users.insert(folder.to_owned(), Arc::downgrade(&user));
        user
    }

    /// Closes the base in a folder, after its running writes are done. A later session opens it
    /// again.
    ///
    /// # Errors
    /// [`EngineError::Cancelled`] if the process is ending.
    pub async fn close(&self, folder: &Path) -> Result<()> {
        let slot = {
            let mut bases = self.0.process.bases.lock().unwrap_or_else(PoisonError::into_inner);
            bases.remove(folder)
        };
        let Some(slot) = slot else { return Ok(()) };
        let Some(opened) = slot.lock().await.take() else { return Ok(()) };
        opened.base.settled().await;
        // Closing the last connection writes the log into the database.
        blocking(move || drop(opened)).await
    }

    pub(crate) fn cancellation(&self) -> &CancellationToken {
        &self.0.process.cancel
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    /// The base in a folder or a database, which must exist. A folder is opened on a thread that may
    /// block. The base stays open; if another file has replaced it, it is opened again.
    pub(crate) async fn base(&self, folder: &Path) -> Result<Base> {
        let slot = {
            let mut bases = self.0.process.bases.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(bases.entry(folder.to_owned()).or_default())
        };
        let mut held = slot.lock().await;
        if let Some(location) = address_of(folder)? {
            return self.base_in_database(&location, &mut held).await;
        }
        let path = folder.join(DATABASE);
        let file = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file);
        let file = file.map(|file| (file.dev(), file.ino()));
        let file = file.ok_or_else(|| EngineError::NoBase { folder: folder.to_owned() })?;
        if let Some(opened) = &*held
            && opened.file == Some(file)
        {
            return Ok(opened.base.clone());
        }
        let at = folder.to_owned();
        let base = blocking(move || pikerag_store::Base::open(&at)).await??;
        let base = Base::new(base);
        *held = Some(Opened { base: base.clone(), file: Some(file) });
        Ok(base)
    }
}

/// The right to read a whole base.
pub struct LongRead(OwnedSemaphorePermit);

impl LongRead {
    async fn wait(places: &Arc<Semaphore>) -> Result<Self> {
        let place = Arc::clone(places).acquire_owned().await;
        place.map(Self).map_err(|_| EngineError::Cancelled)
    }

    /// Does the work on its own thread, so that short reads never wait for it.
    ///
    /// # Errors
    /// The system provides no thread, or the work panicked ([`EngineError::Cancelled`]).
    ///
    /// # Cancel safety
    /// If the future is dropped after the work has begun, the work continues to its end.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let (sender, done) = oneshot::channel();
        let read = move || {
            let _held = self.0;
            // The caller may have gone away.
            let _ = sender.send(work());
        };
        std::thread::Builder::new().name("read".to_owned()).spawn(read)?;
        done.await.map_err(|_| EngineError::Cancelled)
    }
}

/// Does blocking work on a thread for it.
///
/// # Errors
/// [`EngineError::Cancelled`] if the process is ending or the work panicked.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|_| EngineError::Cancelled)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use futures::FutureExt;
    use tokio::time::timeout;

    use super::*;
    use crate::settings::{Environment, Flags};

    /// Each export blocks until somebody reads it. Four of them delay no other read and block no
    /// thread of the searches.
    #[test]
    fn unread_exports_block_no_reads_or_searches() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        let settings = Settings::load(&Flags::default(), &Environment::default()).unwrap();
        let engine = open(settings).unwrap();
        runtime.block_on(async {
            let (readers, exports): (Vec<_>, Vec<_>) = (0..EXPORTS)
                .map(|_| {
                    let (reader, unread) = mpsc::channel::<()>();
                    let place = engine.export().now_or_never().unwrap().unwrap();
                    (reader, tokio::spawn(place.run(move || unread.recv().is_err())))
                })
                .unzip();
            tokio::task::yield_now().await;
            assert!(engine.export().now_or_never().is_none());
            let read = engine.long_read().now_or_never().unwrap().unwrap();
            assert_eq!(read.run(|| 7).await.unwrap(), 7);
            let search = tokio::task::spawn_blocking(|| 7);
            assert_eq!(timeout(Duration::from_mins(1), search).await.unwrap().unwrap(), 7);
            drop(readers);
            for export in exports {
                assert!(export.await.unwrap().unwrap());
            }
            assert!(engine.export().now_or_never().is_some());
        });
    }
}
