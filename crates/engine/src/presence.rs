//! Decides whether a file is gone or only not visible. A folder that cannot be listed, or that may
//! be an unmounted disk, proves nothing.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The state of a file on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    There,
    /// Its folder can be listed and does not contain it.
    Gone,
    /// It may exist: this folder proves nothing, for this reason.
    Unclear(PathBuf, UnclearReason),
}

/// The reason why a folder does not prove that a file is gone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum UnclearReason {
    /// The folder cannot be listed.
    #[error("it cannot be read: {reason}")]
    Unreadable { reason: String },
    /// The folder is empty, as an empty mount point is.
    #[error("it is empty and may be a disk that is not mounted")]
    Empty,
    /// A disk was mounted there when files were read from it, and none is now.
    #[error("a disk was mounted there, and none is now")]
    NotMounted,
    /// The root of the names is not known, because no file of the base was found.
    #[error(
        "the folder from which the base's files were read is not found; it may be a disk that is not mounted"
    )]
    NoRoot,
    /// The folder was named and does not exist.
    #[error("it does not exist and may be a disk that is not mounted")]
    Missing,
}

impl UnclearReason {
    /// A short name of the reason for programs; it does not change between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "folder-unreadable",
            Self::Empty => "folder-empty",
            Self::NotMounted => "disk-not-mounted",
            Self::NoRoot => "root-not-found",
            Self::Missing => "folder-missing",
        }
    }
}

impl Serialize for UnclearReason {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Looks for files and lists each folder once.
#[derive(Default)]
pub(crate) struct Disk {
    /// The reason why each folder proves nothing about files that are not in it; `None` if it proves them
    /// gone.
    folders: HashMap<PathBuf, Option<UnclearReason>>,
    /// Mount points of disks that are not mounted now.
    unmounted: Vec<PathBuf>,
    /// The folder of uploads that a database stores, and their places.
    stored: Option<(PathBuf, Arc<HashSet<PathBuf>>)>,
}

impl Disk {
    /// A disk with the folders that were mount points earlier.
    pub(crate) fn with_mounts(mounts: &[PathBuf]) -> Self {
        let unmounted = mounts.iter().filter(|folder| !is_mount(folder)).cloned().collect();
        Self { unmounted, ..Self::default() }
    }

    /// The same, with uploads that a database stores: their folder, and their places in it.
    pub(crate) fn and_stored(self, stored: Option<(PathBuf, Arc<HashSet<PathBuf>>)>) -> Self {
        Self { stored, ..self }
    }

    /// The state of a file. It counts as gone if a folder has taken its place.
    pub(crate) fn presence_of(&mut self, file: &Path) -> Presence {
        let is_upload = self.stored.as_ref().filter(|(folder, _)| file.starts_with(folder));
        if is_upload.is_some_and(|(_, places)| places.contains(file)) {
            return Presence::There;
        }
        let is_upload = is_upload.is_some();
        let presence = self.without_mounts(file);
        if is_upload && presence != Presence::There {
            // The database alone decides; the folder need not exist.
            return Presence::Gone;
        }
        let of_disk = self.unmounted.iter().find(|folder| file.starts_with(folder));
        match of_disk {
            Some(folder) if presence != Presence::There => {
                Presence::Unclear(folder.clone(), UnclearReason::NotMounted)
            }
            _ => presence,
        }
    }

    fn without_mounts(&mut self, file: &Path) -> Presence {
        match fs::symlink_metadata(file) {
            Ok(about) if about.is_dir() => Presence::Gone,
            Ok(_) => Presence::There,
            Err(error) if is_absence(error.kind()) => self.by_nearest_folder(file),
            Err(error) => {
                let folder = file.parent().unwrap_or(file).to_owned();
                Presence::Unclear(folder, UnclearReason::Unreadable { reason: error.to_string() })
            }
        }
    }

    /// The state of a missing file, as its nearest existing folder shows it.
    fn by_nearest_folder(&mut self, file: &Path) -> Presence {
        for folder in file.ancestors().skip(1) {
            match fs::symlink_metadata(folder) {
                Err(error) if is_absence(error.kind()) => {}
                _ => {
                    let reason = self
                        .folders
                        .entry(folder.to_owned())
                        .or_insert_with(|| unclear_reason_of(folder));
                    return match reason {
                        None => Presence::Gone,
                        Some(reason) => Presence::Unclear(folder.to_owned(), reason.clone()),
                    };
                }
            }
        }
        Presence::Unclear(file.to_owned(), UnclearReason::Missing)
    }
}

/// The mount points above some files, in order.
pub(crate) fn mounts_above<'a>(files: impl Iterator<Item = &'a Path>) -> Vec<PathBuf> {
    let mut folders: HashMap<PathBuf, bool> = HashMap::new();
    for file in files {
        for folder in file.ancestors().skip(1) {
            if folders.contains_key(folder) {
                break;
            }
            folders.insert(folder.to_owned(), is_mount(folder));
        }
    }
    let mut mounts: Vec<PathBuf> =
        folders.into_iter().filter(|(_, is_mount)| *is_mount).map(|(folder, _)| folder).collect();
    mounts.sort();
    mounts
}

/// Whether a folder is on another device than its parent.
fn is_mount(folder: &Path) -> bool {
    let device = |folder: &Path| fs::metadata(folder).map(|about| about.dev()).ok();
    match (device(folder), folder.parent()) {
        (Some(own), Some(above)) => device(above).is_some_and(|above| above != own),
        _ => false,
    }
}

fn is_absence(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The reason why a folder does not prove that files are gone from it; `None` if it does.
fn unclear_reason_of(folder: &Path) -> Option<UnclearReason> {
    let unreadable =
        |error: std::io::Error| Some(UnclearReason::Unreadable { reason: error.to_string() });
    match fs::metadata(folder) {
        Err(error) => return unreadable(error),
        // A file has taken the folder's place.
        Ok(about) if !about.is_dir() => return None,
        Ok(_) => {}
    }
    let entries = match fs::read_dir(folder) {
        Err(error) => return unreadable(error),
        Ok(entries) => entries,
    };
    let mut is_empty = true;
    for entry in entries {
        match entry {
            Err(error) => return unreadable(error),
            // Some systems keep a hidden marker file in an empty mount point.
            Ok(entry) => is_empty &= entry.file_name().as_encoded_bytes().starts_with(b"."),
        }
    }
    is_empty.then_some(UnclearReason::Empty)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    /// Other files may lie in the mount point of an unmounted disk.
    #[test]
    fn files_below_an_unmounted_disk_are_not_gone() {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("disk");
        fs::create_dir(&disk).unwrap();
        fs::write(disk.join("not mounted.txt"), "x").unwrap();
        assert_eq!(Disk::default().presence_of(&disk.join("a.md")), Presence::Gone);
        let mut with_mounts = Disk::with_mounts(&[disk.clone(), PathBuf::from("/proc")]);
        let unclear = Presence::Unclear(disk.clone(), UnclearReason::NotMounted);
        assert_eq!(with_mounts.presence_of(&disk.join("a.md")), unclear);
        assert_eq!(with_mounts.presence_of(&disk.join("not mounted.txt")), Presence::There);
        fs::remove_dir_all(&disk).unwrap();
        fs::write(folder.path().join("b.md"), "x").unwrap();
        assert_eq!(with_mounts.presence_of(&disk.join("a.md")), unclear);
        // A mounted disk proves that a file is gone.
        assert_eq!(
            mounts_above([Path::new("/proc/self/status")].into_iter()).first(),
            Some(&PathBuf::from("/proc"))
        );
        assert_eq!(with_mounts.presence_of(Path::new("/proc/none.md")), Presence::Gone);
    }

    #[test]
    fn only_a_readable_nonempty_folder_proves_a_file_gone() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for inner in ["full/sub", "empty", "marked", "changed.md"] {
            fs::create_dir_all(top.join(inner)).unwrap();
        }
        for file in ["full/a.md", "marked/.mark", "file"] {
            fs::write(top.join(file), "x").unwrap();
        }
        for (to, link) in [("loop", "loop"), ("/nowhere/disk", "disk"), ("full/a.md", "link.md")] {
            std::os::unix::fs::symlink(to, top.join(link)).unwrap();
        }
        let mut disk = Disk::default();
        let mut lines = String::new();
        for file in [
            "full/a.md",
            "link.md",
            "full/b.md",
            "full/none/deep/b.md",
            "changed.md",
            "file/b.md",
            "full/sub/b.md",
            "empty/b.md",
            "marked/b.md",
            "loop/b.md",
            "disk/b.md",
        ] {
            let presence = match disk.presence_of(&top.join(file)) {
                Presence::Unclear(at, reason) => {
                    let at = at.strip_prefix(top).unwrap().display();
                    format!("{at}: {}", reason.to_string().split(':').next().unwrap())
                }
                clear => format!("{clear:?}"),
            };
            writeln!(lines, "{file}: {presence}").unwrap();
        }
        insta::assert_snapshot!(lines, @r"
        full/a.md: There
        link.md: There
        full/b.md: Gone
        full/none/deep/b.md: Gone
        changed.md: Gone
        file/b.md: Gone
        full/sub/b.md: full/sub: it is empty and may be a disk that is not mounted
        empty/b.md: empty: it is empty and may be a disk that is not mounted
        marked/b.md: marked: it is empty and may be a disk that is not mounted
        loop/b.md: loop: it cannot be read
        disk/b.md: disk: it cannot be read
        ");
    }
}
