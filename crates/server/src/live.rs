//! Holds the settings, engine and bases that a request begins with.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use pikerag_engine::settings::{DEFAULT_BASE, ServerSettings};
use pikerag_engine::{Engine, MadeBases, Session};
use tracing::warn;

/// The state of a request for its whole duration: the engine with its settings, and the bases by
/// name.
#[derive(Clone)]
pub(crate) struct Live {
    pub(crate) settings: ServerSettings,
    pub(crate) engine: Engine,
    pub(crate) bases: BTreeMap<String, Session>,
    /// The names of the bases that were made over REST; the settings declare the others.
    pub(crate) made: BTreeSet<String>,
    /// The version of the folder of made bases when it was read.
    version: String,
}

impl Live {
    /// The declared bases and those that were made over REST. A declared base hides a made one of
    /// the same name.
    pub(crate) fn new(engine: Engine, settings: ServerSettings) -> Self {
        let (mut bases, mut made) = (BTreeMap::new(), BTreeSet::new());
        let folder = MadeBases::of(engine.settings());
        // Before the bases: a change meanwhile is then read again.
        let version = folder.version();
        for (name, folder) in folder.all() {
            bases.insert(name.clone(), engine.session_over(folder));
            made.insert(name);
        }
        for (name, folder) in &settings.bases {
            bases.insert(name.clone(), engine.session_over(folder.clone()));
            if made.remove(name) {
                warn!(base = name, "`server.bases` hides the base of this name that was made");
            }
        }
        bases.insert(DEFAULT_BASE.to_owned(), engine.session());
        Self { settings, engine, bases, made, version }
    }

    /// The same state with the bases that other servers made since; `None` if no base was made,
    /// renamed or removed. A base that another server renamed keeps its earlier name here.
    pub(crate) fn with_new_bases(&self) -> Option<Self> {
        let folder = MadeBases::of(self.engine.settings());
        let version = folder.version();
        if version == self.version {
            return None;
        }
        let mut next = Self { version, ..self.clone() };
        let known: BTreeSet<PathBuf> =
            self.bases.values().map(|session| session.folder().to_owned()).collect();
        for (name, folder) in folder.all() {
            if !next.bases.contains_key(&name) && !known.contains(&folder) {
                next = next.with(&name, self.engine.session_over(folder));
            }
        }
        Some(next)
    }

    /// The same state with a further base that was made over REST.
    pub(crate) fn with(&self, name: &str, session: Session) -> Self {
        let mut next = self.clone();
        next.bases.insert(name.to_owned(), session);
        next.made.insert(name.to_owned());
        next
    }

    /// The same state without a base.
    pub(crate) fn without(&self, name: &str) -> Self {
        let mut next = self.clone();
        next.bases.remove(name);
        next.made.remove(name);
        next
    }
}
