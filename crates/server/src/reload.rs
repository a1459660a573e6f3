//! Replaces the settings of a running server.

use pikerag_engine::knowledge::Role;
use pikerag_engine::settings::{
    ChatChoice, SearchModel, SearchModelChoice, ServerSettings, Settings,
};
use pikerag_engine::{EngineError, Session, SetChatResponse, SetSearchModelResponse};
use tokio::sync::MutexGuard;
use tracing::info;

use crate::app::App;
use crate::live::Live;
use crate::problem::{Fault, Problem};
use crate::settings_file::SettingsFile;

/// Gives a running server other settings. A clone refers to the same server.
#[derive(Clone)]
pub struct Reloader(App);

impl Reloader {
    pub(crate) fn new(app: App) -> Self {
        Self(app)
    }

    /// Waits until no administrator changes the settings file. None changes it while the result
    /// exists: read the file and call [`Reloader::reload`] meanwhile.
    pub async fn hold_file(&self) -> MutexGuard<'_, ()> {
        self.0.changing.lock().await
    }

    /// Changes a model in the settings file and uses the changed settings. Changes wait for each
    /// other, because two at a time could restore each other's text.
    ///
    /// # Errors
    /// The change is refused or cannot be written; then nothing has changed. A file that was
    /// written stays if its settings cannot be used.
    pub(crate) async fn change_model(
        self,
        own: Session,
        file: SettingsFile,
        change: ModelChange,
    ) -> Result<Changed, Problem> {
        let _held = self.hold_file().await;
        let changed = tokio::task::spawn_blocking(move || {
            let (place, again) = (file.place(), &*file.again);
            match change {
                ModelChange::SetChat(choice) => {
                    pikerag_engine::set_chat(&own, place, &choice, again)
                }
                ModelChange::UnsetChat(role) => pikerag_engine::unset_chat(place, role, again),
                ModelChange::SetSearch(choice) => {
                    pikerag_engine::set_search_model(&own, place, &choice, again).map(of_search)
                }
                ModelChange::UnsetSearch(of) => {
                    pikerag_engine::unset_search_model(place, of, again).map(of_search)
                }
            }
        });
        let changed = changed.await.map_err(|_| Problem::new(500, "defect", Fault::Server))?;
        let SetChatResponse { settings, is_here, needs_key } = changed?;
        Ok(Changed { is_here, needs_key, needs_restart: self.reload(settings)? })
    }

    /// Uses these settings for all later requests; running requests keep theirs. Prices and the cap
    /// apply to every later call. Settings that a running server cannot change (its address, its
    /// paths, the folders of its bases) stay the same. Returns the names of changed settings that
    /// need a restart.
    ///
    /// # Errors
    /// [`EngineError::NoProgram`]; then nothing has changed.
    pub fn reload(&self, mut settings: Settings) -> Result<Vec<&'static str>, EngineError> {
        let live = self.0.live();
        let before = live.engine.settings();
        let mut differ = Differ(Vec::new());
        differ.keep("base", &before.base, &mut settings.base);
        differ.keep("postgres", &before.postgres, &mut settings.postgres);
        let (then, now) = (&before.server, &mut settings.server);
        differ.keep("server.host", &then.host, &mut now.host);
        differ.keep("server.port", &then.port, &mut now.port);
        differ.keep("server.keys", &then.keys, &mut now.keys);
        differ.keep("server.audit", &then.audit, &mut now.audit);
        differ.keep("server.bases_folder", &then.bases_folder, &mut now.bases_folder);
        differ.keep("server.watch", &then.watch, &mut now.watch);
        differ.keep("server.body_mib", &then.body_bytes, &mut now.body_bytes);
        differ.keep("server.requests", &then.requests, &mut now.requests);
        differ.keep("server.runs", &then.runs, &mut now.runs);
        differ.keep("server.runs_waiting", &then.runs_waiting, &mut now.runs_waiting);
        differ.keep("server.grace_seconds", &then.grace, &mut now.grace);
        differ.keep("server.drain_seconds", &then.drain, &mut now.drain);
        differ.keep("server.wrong_keys", &then.wrong_keys, &mut now.wrong_keys);
        differ.keep("server.run_jobs", &then.run_jobs, &mut now.run_jobs);
        // A kept name must mean the same folder, because jobs and running requests refer to it.
        let mut folders = now.bases.clone();
        for (name, folder) in &mut folders {
            if let Some(earlier) = then.bases.get(name) {
                folder.clone_from(earlier);
            }
        }
        differ.keep("server.bases", &folders, &mut now.bases);
        let bounded = ServerSettings {
            requests: live.settings.requests,
            runs: live.settings.runs,
            ..now.clone()
        };
        let engine = live.engine.with_settings(settings)?;
        let next = Live::new(engine, bounded);
        let new: Vec<String> =
            next.bases.keys().filter(|name| !live.bases.contains_key(*name)).cloned().collect();
        self.0.set_live(next);
        for name in &new {
            self.0.jobs.go_on(&self.0.host(), name);
        }
        info!(needs_restart = ?differ.0, bases = ?new, "the settings were reloaded");
        Ok(differ.0)
    }
}

/// Endpoints need no file of a model.
fn of_search(set: SetSearchModelResponse) -> SetChatResponse {
    let SetSearchModelResponse { settings, needs_key } = set;
    SetChatResponse { settings, is_here: true, needs_key }
}

/// A change of a model in the settings file.
pub(crate) enum ModelChange {
    /// A chat model for a role, or for all roles without one of their own.
    SetChat(ChatChoice),
    /// A role loses its own chat model.
    UnsetChat(Role),
    /// An endpoint for an embedder or a reranker.
    SetSearch(SearchModelChoice),
    /// The embedder or the reranker loses its endpoint.
    UnsetSearch(SearchModel),
}

/// A change that was written to the settings file and is in use.
pub(crate) struct Changed {
    /// Whether the file of a model that pikerag serves is here; true for an endpoint.
    pub(crate) is_here: bool,
    /// The variable that must hold the key and is not set.
    pub(crate) needs_key: Option<&'static str>,
    /// Other changed settings of the file that need a restart.
    pub(crate) needs_restart: Vec<&'static str>,
}

/// The settings that differ and cannot be changed now.
struct Differ(Vec<&'static str>);

impl Differ {
    fn keep<T: Clone + PartialEq>(&mut self, name: &'static str, before: &T, now: &mut T) {
        if before != now {
            self.0.push(name);
            now.clone_from(before);
        }
    }
}
