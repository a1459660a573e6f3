//! Keeps the servers of this machine's models: starts each when it is first needed, starts it again
//! if it ends, and stops it when nobody has used it for a while.
//!
//! Each process has servers of its own. Two processes that use one model share the pages of its
//! file, which llama.cpp maps, but not the memory of its context; the check of the free memory
//! before each start counts both.

mod memory;
mod running;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use pikerag_knowledge::ModelError;
use pikerag_models::open_models::{KeptModel, ModelFolder, catalogue};
use pikerag_models::openai::LOCAL;
use pikerag_models::{ModelServer, Serving, Transport};
use tokio::time::{Instant, sleep};

pub(crate) use self::memory::free_memory;
use self::running::Note;
pub use self::running::RunningServer;
pub(crate) use self::running::running;
use crate::local_error::LocalModelError;
use crate::sandbox::{ModelProcess, ServedModel, ServerProgram};
use crate::settings::LocalSettings;

/// A server that ends so often within [`WINDOW`] is not started again for now.
const MOST_ENDINGS: usize = 3;
/// The shortest time between two looks at an idle server.
const SHORTEST_WAIT: Duration = Duration::from_millis(100);
const WINDOW: Duration = Duration::from_mins(1);

/// The servers of a process by the name of their model.
#[derive(Debug, Default)]
pub(crate) struct LocalServers(Mutex<HashMap<String, LocalServer>>);

impl LocalServers {
    /// The server of a model; it does not run yet. Other settings than before give a new one, and
    /// the old one stops after its last call.
    pub(crate) fn of(
        &self,
        name: &str,
        settings: &LocalSettings,
        transport: &Transport,
    ) -> LocalServer {
        let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || LocalServer::new(name, settings.clone(), transport.clone());
        let server = servers.entry(name.to_owned()).or_insert_with(new);
        if server.0.settings != *settings {
            *server = new();
        }
        server.clone()
    }
}

/// The server of one model. A clone is the same server.
#[derive(Clone, Debug)]
pub(crate) struct LocalServer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    settings: LocalSettings,
    transport: Transport,
    state: tokio::sync::Mutex<State>,
    use_of_it: Arc<Use>,
}

#[derive(Debug, Default)]
struct State {
    running: Option<Running>,
    /// The times when the server ended by itself.
    endings: Vec<Instant>,
}

/// A server of this process.
#[derive(Debug)]
struct Running {
    process: ModelProcess,
    /// `None` if the folder of the models cannot be written.
    _note: Option<Note>,
}

/// How much a server is used.
#[derive(Debug)]
struct Use {
    calls: AtomicUsize,
    /// The end of the latest call.
    last: Mutex<Instant>,
}

impl Use {
    /// The time without a call; `None` during a call.
    fn idle(&self) -> Option<Duration> {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        (self.calls.load(Ordering::SeqCst) == 0).then(|| last.elapsed())
    }
}

/// Counts as a call until it is dropped.
struct Held(Arc<Use>);

impl Held {
    fn new(of: &Arc<Use>) -> Self {
        of.calls.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(of))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

impl LocalServer {
    fn new(name: &str, settings: LocalSettings, transport: Transport) -> Self {
        let last = Mutex::new(Instant::now());
        let use_of_it = Arc::new(Use { calls: AtomicUsize::new(0), last });
        let name = name.to_owned();
        Self(Arc::new(Inner {
            name,
            settings,
            transport,
            state: tokio::sync::Mutex::default(),
            use_of_it,
        }))
    }

    /// Starts the server unless it runs, and waits until it answers.
    ///
    /// # Cancel safety
    /// Dropping the future ends a server that has not answered yet.
    pub(crate) async fn serving(&self) -> Result<Serving, LocalModelError> {
        let inner = &self.0;
        let mut state = inner.state.lock().await;
        if state.running.as_mut().is_some_and(|running| running.process.has_ended()) {
            tracing::warn!(model = %inner.name, "the server of the model has ended");
            state.running = None;
            state.endings.push(Instant::now());
        }
        let running = match state.running.take() {
            Some(running) => running,
            None => {
                let started = inner.start(&mut state.endings).await?;
                // A task of its own, since no call is there to notice that nobody calls.
                tokio::spawn(stop_when_idle(Arc::downgrade(inner)));
                started
            }
        };
        let Running { process, .. } = state.running.insert(running);
        let (base_url, api_key) = (process.base_url.clone(), process.key.clone());
        // While the state is locked: the server is not idle before the call begins.
        let held = Box::new(Held::new(&inner.use_of_it));
        Ok(Serving { base_url, api_key, held })
    }

    /// Waits until the server has ended by itself, or was stopped.
    pub(crate) async fn ended(&self) {
        loop {
            {
                let mut state = self.0.state.lock().await;
                if state.running.as_mut().is_none_or(|running| running.process.has_ended()) {
                    return;
                }
            }
            sleep(SHORTEST_WAIT).await;
        }
    }
}

#[async_trait]
impl ModelServer for LocalServer {
    async fn ready(&self) -> Result<Serving, ModelError> {
        self.serving().await.map_err(|error| ModelError::NotStarted {
            model: format!("{LOCAL}{}", self.0.name),
            source: error.into(),
        })
    }
}

impl Inner {
    async fn start(&self, endings: &mut Vec<Instant>) -> Result<Running, LocalModelError> {
        let file = find_model(&self.settings, &self.name)?;
        let program = find_program(&self.settings)?;
        let LocalSettings { context_tokens, parallel, .. } = self.settings;
        let model = ServedModel { file: file.path, context_tokens, parallel };
        endings.retain(|ending| ending.elapsed() < WINDOW);
        if MOST_ENDINGS <= endings.len() {
            return Err(LocalModelError::KeepsEnding { times: endings.len(), log: model.log() });
        }
        let needed = catalogue::memory(&self.name, file.bytes, self.settings.all_tokens());
        if let Some(free) = free_memory().filter(|free| *free < needed) {
            let (name, needed_mib, free_mib) = (self.name.clone(), needed >> 20, free >> 20);
            return Err(LocalModelError::NoMemory { name, needed_mib, free_mib });
        }
        let started = ModelProcess::start(&program, &model, &self.transport).await;
        if matches!(started, Err(LocalModelError::Ended { .. })) {
            endings.push(Instant::now());
        }
        let process = started?;
        let note =
            process.group().map(|group| Note::write(&self.settings.folder, &self.name, group));
        let note = note.and_then(|note| {
            note.inspect_err(|error| tracing::warn!(%error, "others cannot see the running server"))
                .ok()
        });
        Ok(Running { process, _note: note })
    }
}

/// The file of a model, which must be here.
fn find_model(settings: &LocalSettings, name: &str) -> Result<KeptModel, LocalModelError> {
    let folder = ModelFolder::new(&settings.folder);
    let own = || name.to_owned();
    match (folder.kept(name), folder.file(name)) {
        (Some(kept), _) => Ok(kept),
        (None, None) => Err(LocalModelError::BadName { name: own() }),
        (None, Some(_)) if catalogue::find(name).is_some() => {
            Err(LocalModelError::NotHere { name: own() })
        }
        (None, Some(_)) => Err(LocalModelError::NoSuchModel { name: own() }),
    }
}

/// Whether the file of a model is here.
///
/// # Errors
/// The name cannot be one of a model, or no model is known by it.
pub(crate) fn is_model_here(settings: &LocalSettings, name: &str) -> Result<bool, LocalModelError> {
    match find_model(settings, name) {
        Ok(_) => Ok(true),
        Err(LocalModelError::NotHere { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The program that serves models.
pub(crate) fn find_program(settings: &LocalSettings) -> Result<ServerProgram, LocalModelError> {
    let LocalSettings { server, path, environment, python, .. } = settings;
    let pythons = std::iter::once(environment).chain(python).map(PathBuf::as_path);
    let pythons: Vec<&Path> = pythons.collect();
    ServerProgram::find(server.as_deref(), path, &pythons)
}

/// Stops a server that has had no call for the time that is set.
async fn stop_when_idle(server: Weak<Inner>) {
    loop {
        let wait = {
            let Some(inner) = server.upgrade() else { return };
            let mut state = inner.state.lock().await;
            if state.running.is_none() {
                return;
            }
            let limit = inner.settings.idle;
            match inner.use_of_it.idle() {
                Some(idle) if limit <= idle => {
                    state.running = None;
                    tracing::debug!(model = %inner.name, "stopped: idle");
                    return;
                }
                Some(idle) => limit.saturating_sub(idle),
                None => limit,
            }
        };
        sleep(wait.max(SHORTEST_WAIT)).await;
    }
}

#[cfg(test)]
mod tests;
