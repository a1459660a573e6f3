//! Reads and updates the small JSON files in the user's own folder.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The content of a file; `None` if it is missing or unreadable.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

/// Changes the content of a file, which is locked meanwhile, so that processes write one after the
/// other. A missing or unreadable file counts as the default.
pub(crate) fn update<T: Default + DeserializeOwned + Serialize>(
    path: &Path,
    change: impl FnOnce(&mut T),
) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file =
        File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    file.lock()?;
    let mut text = String::new();
    let mut content: T = match file.read_to_string(&mut text) {
        Ok(_) => serde_json::from_str(&text).unwrap_or_default(),
        Err(_) => T::default(),
    };
    change(&mut content);
    let text = serde_json::to_vec(&content)?;
    file.seek(SeekFrom::Start(0))?;
    file.set_len(0)?;
    file.write_all(&text)
}
