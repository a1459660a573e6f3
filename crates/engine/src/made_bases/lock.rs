//! Lets one server at a time change a folder of bases, and shows other servers that it changed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use tracing::warn;

use super::random;

/// The file in the folder that a server locks. It stays there, and holds random digits that are
/// different after each change.
const LOCK: &str = ".lock";
/// How long a change waits for another server: it may be deleting a large base.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause between two attempts.
const STEP: Duration = Duration::from_millis(5);

/// A locked folder; dropping it unlocks the folder.
#[derive(Debug)]
pub(super) struct FolderLock(File);

impl FolderLock {
    /// Locks a folder, which it makes if it is missing. Blocks for 10 seconds at most.
    ///
    /// # Errors
    /// [`ErrorKind::TimedOut`] if another server holds the lock for longer. The file cannot be
    /// written or locked.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        Self::within(folder, PATIENCE)
    }

    fn within(folder: &Path, patience: Duration) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(folder.join(LOCK))?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) if began.elapsed() < patience => {
                    std::thread::sleep(STEP);
                }
                Err(TryLockError::WouldBlock) => {
                    let busy = "another server is changing the bases of this folder";
                    return Err(io::Error::new(ErrorKind::TimedOut, busy));
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Shows other servers that the folder changed. Must follow the change.
    pub(super) fn note_change(&self) {
        let mut file = &self.0;
        let written = random().and_then(|digits| {
            file.rewind()?;
            file.write_all(digits.as_bytes())
        });
        if let Err(error) = written {
            warn!(%error, "other servers find the changed bases only after a restart");
        }
    }
}

/// Digits that differ if another server changed the folder meanwhile; empty before the first change.
/// It costs the reading of one small file.
pub(super) fn version(folder: &Path) -> String {
    fs::read_to_string(folder.join(LOCK)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_bases::DIGITS;

    #[test]
    fn a_locked_folder_is_refused_until_the_lock_is_dropped() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("pikerag.bases");
        let held = FolderLock::of(&folder).unwrap();
        let refused = FolderLock::within(&folder, Duration::ZERO).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::TimedOut);
        drop(held);
        FolderLock::within(&folder, Duration::ZERO).unwrap();
    }

    #[test]
    fn each_change_gives_another_version() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(version(place.path()), "");
        let held = FolderLock::of(place.path()).unwrap();
        assert_eq!(version(place.path()), "", "a lock alone changes nothing");
        held.note_change();
        let first = version(place.path());
        held.note_change();
        let second = version(place.path());
        assert_ne!(first, second);
        assert_eq!((first.len(), second.len()), (DIGITS, DIGITS));
    }
}
