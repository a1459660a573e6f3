//! Finds the root folder that the names of a base are relative to. A new base gets one when it is
//! made; for a base of an earlier version it is the folder where its files are found. The base
//! remembers it.

use std::fs::File;
use std::path::{Path, PathBuf};

use pikerag_indexing::FileError;
use pikerag_knowledge::FileRecord;

use super::without_links;
use crate::error::{EngineError, Result};
use crate::raw_names::{path_of, written};

/// The most files whose bytes are compared to find a root.
const COMPARED: usize = 16;

/// The folder that names are relative to.
pub(super) struct Root {
    pub(super) folder: PathBuf,
    /// Whether the base may store it. Until then, new files are named by absolute paths.
    pub(super) is_certain: bool,
}

impl Root {
    /// The stored root: a path relative to the base's folder, or an absolute one.
    pub(super) fn kept(kept: &str, base: &Path) -> Self {
        Self { folder: without_links(&without_links(base).join(kept)), is_certain: true }
    }

    /// The root of a new base: the folder that contains the base if the working folder is in it, as
    /// in a project; otherwise the working folder.
    pub(super) fn of_new(here: &Path, base: &Path) -> Self {
        let holder = without_links(&here.join(base)).parent().map(Path::to_owned);
        let holder = holder.filter(|holder| here.starts_with(holder) && holder.parent().is_some());
        Self { folder: holder.unwrap_or_else(|| here.to_owned()), is_certain: true }
    }

    /// The root of a base of an earlier version, which named files as they were typed: the folder
    /// where most of them are found with the bytes that were read.
    pub(super) fn found(here: &Path, base: &Path, records: &[FileRecord]) -> Self {
        let of_new = Self::of_new(here, base);
        let relative: Vec<&FileRecord> =
            records.iter().filter(|file| Path::new(&file.path).is_relative()).collect();
        if relative.is_empty() {
            return of_new;
        }
        let base = without_links(&here.join(base));
        let places = [here, &of_new.folder].into_iter();
        let places = places.chain(base.ancestors().skip(1)).chain(here.ancestors().skip(1));
        let mut best: Option<((usize, usize), &Path)> = None;
        for place in places {
            let score = score(place, &relative);
            let (same, there) = score;
            // The first of equals stays. One matching name proves nothing: every folder has a
            // README.
            if (0 < same || there == relative.len()) && best.is_none_or(|(held, _)| held < score) {
                best = Some((score, place));
            }
        }
        match best {
            Some((_, place)) => Self { folder: place.to_owned(), is_certain: true },
            // No file is found with the bytes that were read. The files may be on a disk that is
            // not mounted, and files of the same name here are different ones.
            None => Self { is_certain: false, ..of_new },
        }
    }

    /// The root as the base stores it. If the base is within its root, the path is relative, so
    /// both can move together.
    pub(super) fn written(&self, base: &Path) -> Result<String> {
        let base = without_links(base);
        if let Ok(below) = base.strip_prefix(&self.folder) {
            let up = vec![".."; below.components().count()];
            return Ok(if up.is_empty() { ".".to_owned() } else { up.join("/") });
        }
        self.absolute()
    }

    /// The root as a base in a database stores it.
    pub(super) fn absolute(&self) -> Result<String> {
        let path = self.folder.clone();
        path.to_str()
            .map(str::to_owned)
            .ok_or(EngineError::NotParsed { path, source: FileError::NotUtf8 })
    }

    /// The name of the file at a place. `None` if its path is valid in no encoding, or if another
    /// file has this name.
    pub(super) fn name_of(&self, at: &Path) -> Option<String> {
        let below = at.strip_prefix(&self.folder).ok().filter(|_| self.is_certain);
        let name = below.filter(|below| !below.as_os_str().is_empty()).unwrap_or(at);
        match name.to_str() {
            Some(name) => Some(name.to_owned()),
            None => written(name).filter(|written| path_of(&self.folder, written) == at),
        }
    }
}

/// The number of files found there with the bytes that were read, and the number found at all.
fn score(place: &Path, files: &[&FileRecord]) -> (usize, usize) {
    let there: Vec<&&FileRecord> =
        files.iter().filter(|file| place.join(&file.path).is_file()).collect();
    let same = there
        .iter()
        .take(COMPARED)
        .filter(|file| hash(&place.join(&file.path)).is_ok_and(|hash| hash == file.hash));
    (same.count(), there.len())
}

fn hash(path: &Path) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    std::io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(path: &str, text: &str) -> FileRecord {
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        FileRecord { path: path.to_owned(), hash, recipe: String::new() }
    }

    fn folders(folders: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for inner in folders {
            std::fs::create_dir_all(top.join(inner)).unwrap();
        }
        (folder, top)
    }

    #[test]
    fn the_root_of_a_new_base_is_its_project() {
        let (_folder, top) = folders(&["project/sub", "elsewhere"]);
        let root = |here: &str, base: &str| {
            let root = Root::of_new(&top.join(here), Path::new(base));
            root.folder.strip_prefix(&top).unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(root("project", ".pikerag"), "project");
        assert_eq!(root("project/sub", "../.pikerag"), "project");
        assert_eq!(root("project", "bases/one"), "project");
        assert_eq!(root("elsewhere", "../project/.pikerag"), "elsewhere");
    }

    #[test]
    fn a_stored_root_moves_with_its_project() {
        let (_folder, top) = folders(&["project/bases/one", "other"]);
        let base = top.join("project/bases/one");
        let root = Root { folder: top.join("project"), is_certain: true };
        assert_eq!(root.written(&base).unwrap(), "../..");
        std::fs::rename(top.join("project"), top.join("renamed")).unwrap();
        assert_eq!(Root::kept("../..", &top.join("renamed/bases/one")).folder, top.join("renamed"));
        let root = Root { folder: top.join("other"), is_certain: true };
        let written = root.written(&top.join("renamed/bases/one")).unwrap();
        assert_eq!(Path::new(&written), top.join("other"));
        assert_eq!(Root::kept(&written, &top).folder, top.join("other"));
    }

    #[test]
    fn the_root_of_an_earlier_base_is_where_its_files_are() {
        let (_folder, top) = folders(&["project/docs", "other/docs"]);
        std::fs::write(top.join("project/docs/a.md"), "ours").unwrap();
        std::fs::write(top.join("other/docs/a.md"), "theirs").unwrap();
        let base = top.join("project/.pikerag");
        let found = |records: &[FileRecord]| Root::found(&top.join("other"), &base, records);
        // Both folders have a file of this name: the bytes decide.
        let root = found(&[record("docs/a.md", "ours")]);
        assert_eq!((root.folder, root.is_certain), (top.join("project"), true));
        let root = found(&[record("docs/a.md", "theirs")]);
        assert_eq!((root.folder, root.is_certain), (top.join("other"), true));
        assert!(!found(&[record("docs/none.md", "")]).is_certain);
        // For several files, one file with the same name is no proof.
        let elsewhere = [record("docs/a.md", "of another folder"), record("docs/b.md", "")];
        assert!(!found(&elsewhere).is_certain);
        assert!(found(&elsewhere[..1]).is_certain);
        assert!(found(&[record("/whole/a.md", "")]).is_certain);
    }
}
