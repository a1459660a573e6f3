//! Lists the places of weights of local models: the one that is set, pikerag's cache, the
//! installation, and the caches of other programs.

use std::path::PathBuf;

use super::{Environment, WeightPlaces, this_program};

pub(super) fn weights(configured: Option<PathBuf>, environment: &Environment) -> WeightPlaces {
    let path = |name: &str| environment.get(name).map(PathBuf::from);
    let home = path("HOME");
    let in_home = |place: &str| home.as_ref().map(|home| home.join(place));
    let cache = path("XDG_CACHE_HOME").or_else(|| in_home(".cache"));
    let hub = path("HF_HUB_CACHE").or_else(|| path("HF_HOME").map(|home| home.join("hub")));
    // The program is `bin/pikerag` of an environment that is not activated (pipx and uv), of
    // `~/.local` or of `/usr/local`.
    let program = this_program().ok();
    let prefix =
        program.as_deref().and_then(|program| Some(program.parent()?.parent()?.to_owned()));
    let shared = prefix.iter().map(|prefix| prefix.join("share/pikerag")).collect();
    let python = path("VIRTUAL_ENV").into_iter().chain(prefix).chain(in_home(".local"));
    let mut python: Vec<PathBuf> = python.collect();
    python.dedup(); // These are often the same folder.
    WeightPlaces {
        configured,
        cache: cache.unwrap_or_else(std::env::temp_dir).join("pikerag"),
        shared,
        hub: hub.or_else(|| in_home(".cache/huggingface/hub")),
        python,
    }
}
