//! Shows other servers over one folder of bases that a base is in use, so that none removes it
//! meanwhile.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// The file in the own folder of a base that its users lock. It is empty, and may be missing.
pub(crate) const IN_USE: &str = "in-use";
/// How long a removal waits for other servers to end their use of the base.
const PATIENCE: Duration = Duration::from_secs(2);
/// The pause between two attempts.
const STEP: Duration = Duration::from_millis(20);

/// A base that this server uses. Other servers may use it, too, and none removes it. Dropping it ends
/// the use.
#[derive(Debug)]
pub(crate) struct InUse {
    _locked: File,
}

/// A base that no server uses, and that none may begin to use. Dropping it ends this.
#[derive(Debug)]
pub(crate) struct Unused {
    _locked: File,
}

impl InUse {
    /// Begins to use the base with this own folder. It costs the opening of one small file.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the base was removed, [`ErrorKind::WouldBlock`] while a server
    /// removes it. The file cannot be made or locked.
    pub(crate) fn of(own: &Path) -> io::Result<Self> {
        let locked = opened(own)?;
        as_io(locked.try_lock_shared())?;
        // A removal may have moved the folder after the file was opened.
        let own_file = fs::metadata(own.join(IN_USE))?;
        let held = locked.metadata()?;
        match (own_file.dev(), own_file.ino()) == (held.dev(), held.ino()) {
            true => Ok(Self { _locked: locked }),
            false => Err(ErrorKind::NotFound.into()),
        }
    }
}

impl Unused {
    /// Waits up to 2 seconds until no server uses the base with this own folder.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] if a server still uses it. The file cannot be made or locked.
    pub(crate) fn of(own: &Path) -> io::Result<Self> {
        Self::within(own, PATIENCE)
    }

    fn within(own: &Path, patience: Duration) -> io::Result<Self> {
        let locked = opened(own)?;
        let began = Instant::now();
        loop {
            match as_io(locked.try_lock()) {
                Ok(()) => return Ok(Self { _locked: locked }),
                Err(error)
                    if error.kind() == ErrorKind::WouldBlock && began.elapsed() < patience =>
                {
                    std::thread::sleep(STEP);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

fn opened(own: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).open(own.join(IN_USE))
}

fn as_io(locked: Result<(), TryLockError>) -> io::Result<()> {
    locked.map_err(|error| match error {
        TryLockError::WouldBlock => ErrorKind::WouldBlock.into(),
        TryLockError::Error(error) => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_servers_use_a_base_and_one_alone_removes_it() {
        let place = tempfile::tempdir().unwrap();
        let own = place.path();
        let kind = |refused: io::Result<Unused>| refused.unwrap_err().kind();
        let (one, other) = (InUse::of(own).unwrap(), InUse::of(own).unwrap());
        assert_eq!(kind(Unused::within(own, Duration::ZERO)), ErrorKind::WouldBlock);
        drop(one);
        assert_eq!(kind(Unused::within(own, Duration::ZERO)), ErrorKind::WouldBlock);
        drop(other);
        let unused = Unused::within(own, Duration::ZERO).unwrap();
        assert_eq!(InUse::of(own).unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(unused);
        InUse::of(own).unwrap();
    }

    #[test]
    fn a_removal_waits_for_a_use_that_ends_soon() {
        let place = tempfile::tempdir().unwrap();
        let used = InUse::of(place.path()).unwrap();
        std::thread::scope(|scope| {
            let removal = scope.spawn(|| Unused::of(place.path()).map(drop));
            std::thread::sleep(Duration::from_millis(50));
            drop(used);
            removal.join().unwrap().unwrap();
        });
    }

    #[test]
    fn a_removed_base_is_not_used() {
        let place = tempfile::tempdir().unwrap();
        let own = place.path().join("law-1f0c44a2");
        fs::create_dir(&own).unwrap();
        drop(Unused::of(&own).unwrap());
        fs::rename(&own, place.path().join("law-1f0c44a2.removed")).unwrap();
        assert_eq!(InUse::of(&own).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
