//! Compares the checksums of the index's files. A file that was sound and has not changed since is
//! not compared again.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use pikerag_knowledge::StoreError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::index::SegmentId;
use tantivy::{Index, TantivyError};

use crate::error::is_refusal;

/// The file that lists sound files.
const LIST: &str = "sound.txt";

/// The damaged files of the last commit; empty if all are sound.
///
/// # Errors
/// The folder cannot be read.
pub(super) fn damaged(index: &Index, folder: &Path) -> tantivy::Result<Vec<PathBuf>> {
    let mut damaged = Vec::new();
    for file in live(index, folder)? {
        match index.directory().validate_checksum(Path::new(&file.name)).map_err(TantivyError::from)
        {
            Ok(true) => {}
            Err(error) if refused(&error) => return Err(error),
            Ok(false) | Err(_) => damaged.push(folder.join(&file.name)),
        }
    }
    Ok(damaged)
}

/// Whether all files are sound. Only files that changed since the last check are compared. Sound
/// files are noted if the folder can be written.
pub(super) fn is_sound(index: &Index, folder: &Path) -> tantivy::Result<bool> {
    let list = folder.join(LIST);
    let noted = fs::read_to_string(&list).unwrap_or_default();
    let noted: BTreeSet<&str> = noted.lines().collect();
    let files = live(index, folder)?;
    for file in files.iter().filter(|file| !noted.contains(file.line().as_str())) {
        if !index.directory().validate_checksum(Path::new(&file.name))? {
            return Ok(false);
        }
    }
    let lines: String = files.iter().map(|file| file.line() + "\n").collect();
    if noted.iter().copied().ne(lines.lines()) {
        // If the list cannot be written, the files are compared again next time.
        let draft = folder.join(format!("sound.draft{}", std::process::id()));
        let _ = fs::write(&draft, lines).and_then(|()| fs::rename(&draft, &list));
    }
    Ok(true)
}

/// Whether the operating system caused the error, so that it tells nothing about the files'
/// content.
pub(super) fn is_of_system(error: &StoreError) -> bool {
    let StoreError::Failed { source, .. } = error else { return false };
    source.downcast_ref().is_some_and(refused) || source.downcast_ref().is_some_and(is_refusal)
}

fn refused(error: &TantivyError) -> bool {
    match error {
        TantivyError::IoError(error)
        | TantivyError::OpenDirectoryError(
            OpenDirectoryError::IoError { io_error: error, .. }
            | OpenDirectoryError::FailedToCreateTempDir(error),
        )
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: error, .. })
        | TantivyError::LockFailure(LockError::IoError(error), _) => is_refusal(error),
        TantivyError::LockFailure(LockError::LockBusy, _) | TantivyError::SystemError(_) => true,
        _ => false,
    }
}

/// A file of the index as it is on disk.
struct LiveFile {
    name: String,
    length: u64,
    /// Times of the last write and of the last metadata change, each in seconds and nanoseconds.
    times: [i64; 4],
}

impl LiveFile {
    fn line(&self) -> String {
        format!("{} {} {:?}", self.name, self.length, self.times)
    }
}

/// The files of the segments of the last commit, by name.
fn live(index: &Index, folder: &Path) -> tantivy::Result<Vec<LiveFile>> {
    let segments = index.searchable_segment_ids()?;
    let segments: BTreeSet<String> = segments.iter().map(SegmentId::uuid_string).collect();
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.split('.').next().is_some_and(|segment| segments.contains(segment)) {
            continue;
        }
        let about = match entry.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            about => about?,
        };
        let times = [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()];
        files.push(LiveFile { name, length: about.len(), times });
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::error::Context;

    #[test]
    fn system_errors_do_not_count_as_damage() {
        let is_of_system = |error: io::Error| {
            let opened = OpenReadError::IoError {
                io_error: Arc::new(error),
                filepath: PathBuf::from("x.term"),
            };
            let of_tantivy: Result<(), TantivyError> = Err(opened.into());
            is_of_system(&of_tantivy.context("opening the full-text index").unwrap_err())
        };
        // EIO, ENOMEM, EACCES, ENFILE, EMFILE; then ENOENT, ENOTDIR, EISDIR.
        for code in [5, 12, 13, 23, 24] {
            assert!(is_of_system(io::Error::from_raw_os_error(code)), "{code}");
        }
        for code in [2, 20, 21] {
            assert!(!is_of_system(io::Error::from_raw_os_error(code)), "{code}");
        }
        assert!(!is_of_system(io::Error::other("no footer")));
    }
}
