//! Is a file gone, or can it only not be seen? A folder that cannot be listed, or that may be a disk that is not
//! mounted, proves nothing.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    There,
    /// The folder that would hold it is listed, and it is not among what that holds.
    Gone,
    /// It may be there: this folder tells nothing.
    Unclear(PathBuf, Doubt),
}

/// Why a folder does not tell whether a file is gone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum Doubt {
    /// It cannot be listed.
    #[error("it cannot be read: {reason}")]
    Unreadable { reason: String },
    /// It holds nothing, as a folder does in whose place nothing is mounted.
    #[error("it is empty, and may be a disk that is not mounted")]
    Empty,
    /// When files were read from it, a disk was mounted there, and now none is.
    #[error("it was a disk of its own, which is not mounted")]
    NotMounted,
    /// None of the base's files is where it would be below it.
    #[error(
        "the files of the base were read from a folder that is not found, and may not be mounted"
    )]
    NoRoot,
    /// It was named, and is not there.
    #[error("it is not there, and may be a disk that is not mounted")]
    Missing,
}

impl Serialize for Doubt {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Looks for files; each folder is listed once.
#[derive(Default)]
pub(crate) struct Disk {
    /// What a folder says of what is not in it.
    folders: HashMap<PathBuf, Option<Doubt>>,
    /// Folders in which disks were mounted that are not mounted now.
    unmounted: Vec<PathBuf>,
}

impl Disk {
    /// With the folders in which disks were mounted once.
    pub(crate) fn knowing(mounts: &[PathBuf]) -> Self {
        let unmounted = mounts.iter().filter(|folder| !is_mount(folder)).cloned().collect();
        Self { unmounted, ..Self::default() }
    }

    /// Whether a file is there. It counts as gone where a folder has taken its place.
    pub(crate) fn look(&mut self, file: &Path) -> Presence {
        let seen = self.seen(file);
        let of_disk = self.unmounted.iter().find(|folder| file.starts_with(folder));
        match of_disk {
            Some(folder) if seen != Presence::There => {
                Presence::Unclear(folder.clone(), Doubt::NotMounted)
            }
            _ => seen,
        }
    }

    fn seen(&mut self, file: &Path) -> Presence {
        match fs::symlink_metadata(file) {
            Ok(about) if about.is_dir() => Presence::Gone,
            Ok(_) => Presence::There,
            Err(error) if is_absence(error.kind()) => self.nearest(file),
            Err(error) => {
                let folder = file.parent().unwrap_or(file).to_owned();
                Presence::Unclear(folder, Doubt::Unreadable { reason: error.to_string() })
            }
        }
    }

    /// What the nearest folder above, of those that are there, says of a file that is not in it.
    fn nearest(&mut self, file: &Path) -> Presence {
        for folder in file.ancestors().skip(1) {
            match fs::symlink_metadata(folder) {
                Err(error) if is_absence(error.kind()) => {}
                _ => {
                    let says =
                        self.folders.entry(folder.to_owned()).or_insert_with(|| doubt(folder));
                    return match says {
                        None => Presence::Gone,
                        Some(doubt) => Presence::Unclear(folder.to_owned(), doubt.clone()),
                    };
                }
            }
        }
        Presence::Unclear(file.to_owned(), Doubt::Missing)
    }
}

/// The folders above some files in which disks of their own are mounted, in order.
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

/// Whether a folder lies on another device than the folder above it.
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

/// Why a folder does not tell what is gone from it; `None` where it does.
fn doubt(folder: &Path) -> Option<Doubt> {
    let unreadable = |error: std::io::Error| Some(Doubt::Unreadable { reason: error.to_string() });
    match fs::metadata(folder) {
        Err(error) => return unreadable(error),
        // A file stands where the folder was.
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
            // Some systems leave a hidden mark where nothing is mounted.
            Ok(entry) => is_empty &= entry.file_name().as_encoded_bytes().starts_with(b"."),
        }
    }
    is_empty.then_some(Doubt::Empty)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    /// In the folder of a disk that is not mounted, other files may lie.
    #[test]
    fn where_a_disk_was_nothing_is_gone_without_it() {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("disk");
        fs::create_dir(&disk).unwrap();
        fs::write(disk.join("not mounted.txt"), "x").unwrap();
        assert_eq!(Disk::default().look(&disk.join("a.md")), Presence::Gone);
        let mut knowing = Disk::knowing(&[disk.clone(), PathBuf::from("/proc")]);
        let unclear = Presence::Unclear(disk.clone(), Doubt::NotMounted);
        assert_eq!(knowing.look(&disk.join("a.md")), unclear);
        assert_eq!(knowing.look(&disk.join("not mounted.txt")), Presence::There);
        fs::remove_dir_all(&disk).unwrap();
        fs::write(folder.path().join("b.md"), "x").unwrap();
        assert_eq!(knowing.look(&disk.join("a.md")), unclear);
        // What is mounted tells.
        assert_eq!(
            mounts_above([Path::new("/proc/self/status")].into_iter()).first(),
            Some(&PathBuf::from("/proc"))
        );
        assert_eq!(knowing.look(Path::new("/proc/none.md")), Presence::Gone);
    }

    #[test]
    fn only_what_a_folder_shows_to_be_gone_is_gone() {
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
        let mut told = String::new();
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
            let says = match disk.look(&top.join(file)) {
                Presence::Unclear(at, doubt) => {
                    let at = at.strip_prefix(top).unwrap().display();
                    format!("{at}: {}", doubt.to_string().split(':').next().unwrap())
                }
                clear => format!("{clear:?}"),
            };
            writeln!(told, "{file}: {says}").unwrap();
        }
        insta::assert_snapshot!(told, @r"
        full/a.md: There
        link.md: There
        full/b.md: Gone
        full/none/deep/b.md: Gone
        changed.md: Gone
        file/b.md: Gone
        full/sub/b.md: full/sub: it is empty, and may be a disk that is not mounted
        empty/b.md: empty: it is empty, and may be a disk that is not mounted
        marked/b.md: marked: it is empty, and may be a disk that is not mounted
        loop/b.md: loop: it cannot be read
        disk/b.md: disk: it cannot be read
        ");
    }
}
