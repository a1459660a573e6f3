//! Writes one audit line for each request that needs a scope: key, route and outcome, without the
//! content.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::Serialize;
use tracing::{error, info};

/// What the log records of a request.
#[derive(Debug, Serialize)]
pub(crate) struct Entry<'a> {
    /// Identifier of the key; `-` if there are none.
    pub(crate) key: &'a str,
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) status: u16,
    /// The path of what the request made or renamed, if it reports one (`Location`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) location: Option<&'a str>,
}

/// Writes to the log, and to a file if one is set.
pub(crate) struct Audit {
    file: Option<(PathBuf, Mutex<File>)>,
}

impl Audit {
    /// # Errors
    /// The file cannot be written: a server that must keep an audit log does not start without it.
    pub(crate) fn at(file: Option<PathBuf>) -> io::Result<Self> {
        let opened = |path: PathBuf| open(&path).map(|file| (path, Mutex::new(file)));
        Ok(Self { file: file.map(opened).transpose()? })
    }

    /// Adds a line; false if it could not be written.
    pub(crate) fn add(&self, entry: &Entry<'_>) -> bool {
        let Entry { key, method, path, status, location } = entry;
        info!(target: "pikerag::audit", key, method, path, status, location);
        let Some((place, file)) = &self.file else { return true };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        match append(place, &mut file, entry) {
            Ok(()) => true,
            Err(error) => {
                error!(file = %place.display(), %error, "a request is missing from the audit log");
                false
            }
        }
    }
}

fn open(file: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(file)
}

/// Appends a line. The file stays open, so that a line needs no new descriptor. If the file was
/// moved away, as programs that rotate logs do, a new one is begun.
fn append(place: &Path, file: &mut File, entry: &Entry<'_>) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        time: String,
        #[serde(flatten)]
        entry: &'a Entry<'a>,
    }
    let mut line = serde_json::to_vec(&Line { time: Timestamp::now().to_string(), entry })?;
    line.push(b'\n');
    let which = |about: Metadata| (about.dev(), about.ino());
    if fs::metadata(place).ok().map(which) != file.metadata().ok().map(which) {
        *file = open(place)?;
    }
    // One write per line: lines of concurrent requests do not mix.
    file.write_all(&line)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Audit, Entry};

    #[test]
    fn lines_go_on_in_a_new_file_once_the_old_one_is_moved_away() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, old) = (folder.path().join("audit.jsonl"), folder.path().join("audit.1.jsonl"));
        let audit = Audit::at(Some(file.clone())).expect("writable");
        let (key, method, path) = ("1a2b", "GET", "/a\nb");
        let entry = Entry { key, method, path, status: 200, location: None };
        assert!(audit.add(&entry) && audit.add(&entry));
        fs::rename(&file, &old).expect("moved");
        assert!(audit.add(&entry));
        let lines = |file| fs::read_to_string(file).expect("read").lines().count();
        assert_eq!((lines(&old), lines(&file)), (2, 1));
        fs::remove_file(&file).expect("removed");
        fs::create_dir(&file).expect("a folder in its place");
        assert!(!audit.add(&entry), "a line that was not written is reported");
        assert!(Audit::at(Some(file)).is_err());
    }
}
