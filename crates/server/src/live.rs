//! Holds the settings, engine and bases that a request begins with.

use std::collections::BTreeMap;

use pikerag_engine::settings::{DEFAULT_BASE, ServerSettings};
use pikerag_engine::{Engine, Session};

/// The state of a request for its whole duration: the engine with its settings, and the bases by
/// name.
pub(crate) struct Live {
    pub(crate) settings: ServerSettings,
    pub(crate) engine: Engine,
    pub(crate) bases: BTreeMap<String, Session>,
}

impl Live {
    pub(crate) fn new(engine: Engine, settings: ServerSettings) -> Self {
        let mut bases: BTreeMap<String, Session> = BTreeMap::new();
        for (name, folder) in &settings.bases {
            bases.insert(name.clone(), engine.session_over(folder.clone()));
        }
        bases.insert(DEFAULT_BASE.to_owned(), engine.session());
        Self { settings, engine, bases }
    }
}
