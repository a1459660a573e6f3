//! Where do local weights lie on this machine?

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikerag_knowledge::Embedder;
use pikerag_models::local::{LocalEmbedder, Places, find_weights};

use crate::config::Environment;

/// Opens local weights; the reason, for a person, where there are none.
pub(super) fn open(
    configured: Option<&Path>,
    environment: &Environment,
) -> Result<Arc<dyn Embedder>, String> {
    let weights =
        find_weights(&places(configured, environment)).map_err(|error| error.to_string())?;
    tracing::info!(folder = %weights.folder.display(), "local weights");
    let embedder = LocalEmbedder::open(&weights)
        .map_err(|error| format!("{:#}", anyhow::Error::from(error)))?;
    Ok(Arc::new(embedder))
}

fn places(configured: Option<&Path>, environment: &Environment) -> Places {
    let home = environment.get("HOME").map(PathBuf::from);
    let cache = environment
        .get("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| home.as_ref().map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("pikerag");
    let hub = environment
        .get("HF_HUB_CACHE")
        .map(PathBuf::from)
        .or_else(|| environment.get("HF_HOME").map(|home| Path::new(home).join("hub")))
        .or_else(|| home.as_ref().map(|home| home.join(".cache/huggingface/hub")));
    Places {
        configured: configured.map(Path::to_owned),
        wheels: vec![cache.join("wheels")],
        site_packages: site_packages(environment, home.as_deref()),
        hub,
        cache,
    }
}

/// `site-packages` folders of an active virtual environment and of the user.
fn site_packages(environment: &Environment, home: Option<&Path>) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let virtual_environment = environment.get("VIRTUAL_ENV").map(PathBuf::from);
    for root in virtual_environment.into_iter().chain(home.map(|home| home.join(".local"))) {
        let Ok(versions) = std::fs::read_dir(root.join("lib")) else { continue };
        let mut found: Vec<PathBuf> =
            versions.flatten().map(|entry| entry.path().join("site-packages")).collect();
        found.retain(|path| path.is_dir());
        found.sort();
        folders.extend(found);
    }
    folders
}
