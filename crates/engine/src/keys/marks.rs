//! Remembers outside the store of keys that a server needs keys: a store that is gone cannot say so itself.

use std::fs;
use std::path::PathBuf;

use tracing::warn;

use crate::settings::Settings;

/// The file that says so in the folder of a base.
const MARK: &str = "keys.needed";
const TEXT: &str =
    "Keys were made for this knowledge base: no server serves it without its store of keys.\n";

/// Where marks are: beside the store of keys, and in the folder of each base.
fn places(settings: &Settings) -> Vec<PathBuf> {
    let beside = settings.server.keys.as_ref().map(|keys| keys.with_extension("needed"));
    let bases = std::iter::once(&settings.base).chain(settings.server.bases.values());
    let bases = bases.filter(|base| base.is_dir()).map(|base| base.join(MARK));
    beside.into_iter().chain(bases).collect()
}

/// The first mark that says that keys are needed.
pub fn mark_of_need(settings: &Settings) -> Option<PathBuf> {
    places(settings).into_iter().find(|mark| mark.exists())
}

/// Leaves the marks. A folder that cannot be written stays without one.
pub fn mark_as_needed(settings: &Settings) {
    for mark in places(settings) {
        if mark.exists() {
            continue;
        }
        if let Err(error) = fs::write(&mark, TEXT) {
            warn!(mark = %mark.display(), %error, "it is not marked here that keys are needed");
        }
    }
}
