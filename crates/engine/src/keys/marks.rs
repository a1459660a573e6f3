//! Marks outside the store of keys that a server needs keys, because a missing store cannot report
//! it.

use std::fs;
use std::path::PathBuf;

use pikerag_postgres::Location;
use tracing::warn;

use crate::made_bases::MadeBases;
use crate::settings::{Settings, USUAL_KEYS};

/// The name of the mark in the folder of a base.
const MARK: &str = "keys.needed";
const TEXT: &str =
    "Keys were made for this knowledge base. A server serves it only with its store of keys.\n";

/// The places of marks: beside the store of keys, and in the folder of each base.
fn places(settings: &Settings) -> Vec<PathBuf> {
    // A database that is lost takes its keys along.
    let keys = settings.server.keys.as_ref().filter(|keys| !Location::is_address(keys));
    let beside = keys.map(|keys| keys.with_extension("needed"));
    let made = MadeBases::of(settings).all();
    let bases = std::iter::once(&settings.base).chain(settings.server.bases.values());
    let bases = bases.chain(made.values());
    let bases: Vec<PathBuf> =
        bases.filter(|base| base.is_dir()).map(|base| base.join(MARK)).collect();
    beside.into_iter().chain(bases).collect()
}

/// The first mark that exists. Keys in a database do not replace those of the user's state folder
/// silently: earlier versions used these by default.
pub fn mark_of_need(settings: &Settings) -> Option<PathBuf> {
    let are_in_database =
        settings.server.keys.as_ref().is_some_and(|keys| Location::is_address(keys));
    let earlier = settings.state.as_ref().filter(|_| are_in_database);
    let earlier = earlier.map(|state| state.join(USUAL_KEYS).with_extension("needed"));
    places(settings).into_iter().chain(earlier).find(|mark| mark.exists())
}

/// Writes the marks. A folder that cannot be written stays without one.
pub fn mark_as_needed(settings: &Settings) {
    for mark in places(settings) {
        if mark.exists() {
            continue;
        }
        if let Err(error) = fs::write(&mark, TEXT) {
            warn!(mark = %mark.display(), %error, "the mark that keys are needed cannot be written");
        }
    }
}
