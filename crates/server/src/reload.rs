//! Replaces the settings of a running server.

use pikerag_engine::EngineError;
use pikerag_engine::settings::{ServerSettings, Settings};
use tracing::info;

use crate::app::App;
use crate::live::Live;

/// Gives a running server other settings. A clone refers to the same server.
#[derive(Clone)]
pub struct Reloader(App);

impl Reloader {
    pub(crate) fn new(app: App) -> Self {
        Self(app)
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
        let (then, now) = (&before.server, &mut settings.server);
        differ.keep("server.host", &then.host, &mut now.host);
        differ.keep("server.port", &then.port, &mut now.port);
        differ.keep("server.keys", &then.keys, &mut now.keys);
        differ.keep("server.audit", &then.audit, &mut now.audit);
        differ.keep("server.watch", &then.watch, &mut now.watch);
        differ.keep("server.body_mib", &then.body_bytes, &mut now.body_bytes);
        differ.keep("server.requests", &then.requests, &mut now.requests);
        differ.keep("server.runs", &then.runs, &mut now.runs);
        differ.keep("server.runs_waiting", &then.runs_waiting, &mut now.runs_waiting);
        differ.keep("server.grace_seconds", &then.grace, &mut now.grace);
        differ.keep("server.wrong_keys", &then.wrong_keys, &mut now.wrong_keys);
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
