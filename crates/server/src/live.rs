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

/// The name of a base that another server renamed or deleted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gone {
    pub(crate) name: String,
    /// The folder of a deleted base.
    pub(crate) deleted: Option<PathBuf>,
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

    /// The same state with the changes that other servers made since, and the names that are gone; `None`
    /// if nothing changed, or if the folder cannot be read now. A base that another server renamed keeps
    /// its earlier name as long as `has_jobs` holds for it.
    pub(crate) fn with_changes(
        &self,
        has_jobs: impl Fn(&str) -> bool,
    ) -> Option<(Self, Vec<Gone>)> {
        let folder = MadeBases::of(self.engine.settings());
        // Before the bases: a change meanwhile is then read again.
        let version = folder.version();
        // The file stays once it is there: without it, the folder cannot be read.
        if version == self.version || version.is_empty() {
            return None;
        }
        let on_disk = folder
            .read()
            .inspect_err(|error| warn!(%error, "changed bases are not found yet"))
            .ok()?;
        let mut next = Self { version, ..self.clone() };
        let mut gone = Vec::new();
        for name in &self.made {
            let Some(session) = self.bases.get(name) else { continue };
            let place = session.folder();
            if on_disk.get(name).is_some_and(|folder| folder == place) {
                continue;
            }
            let is_renamed = on_disk.values().any(|folder| folder == place);
            if is_renamed && has_jobs(name) {
                // The folder is read again until the jobs have ended.
                next.version.clone_from(&self.version);
                continue;
            }
            next = next.without(name);
            let deleted = (!is_renamed).then(|| place.to_owned());
            gone.push(Gone { name: name.clone(), deleted });
        }
        let known: BTreeSet<PathBuf> =
            next.bases.values().map(|session| session.folder().to_owned()).collect();
        for (name, folder) in on_disk {
            if !next.bases.contains_key(&name) && !known.contains(&folder) {
                next = next.with(&name, self.engine.session_over(folder));
            }
        }
        Some((next, gone))
    }

    /// Whether the settings declare a base of this name.
    pub(crate) fn is_declared(&self, name: &str) -> bool {
        self.bases.contains_key(name) && !self.made.contains(name)
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
