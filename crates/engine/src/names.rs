//! What is a file called in a base? By its path below a folder that the base remembers, its root; a file that lies
//! elsewhere by its whole path. So it is one file, whatever folder somebody works in and however the path is typed.

mod root;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use pikerag_knowledge::{CorpusWriter, FileRecord, Which};
use pikerag_store::Base;

use self::root::Root;
use crate::engine::Session;
use crate::error::{EngineError, Result};
use crate::presence::{Disk, Doubt};
use crate::settings::this_folder;

/// What the files of one base are called, and where they are.
pub(crate) struct Names {
    /// The folder that typed paths count from.
    here: PathBuf,
    root: Root,
    /// The files on record, by name.
    records: Vec<FileRecord>,
    /// Where each of them is.
    places: HashMap<String, PathBuf>,
    /// The files on record, by place: those that earlier versions called otherwise keep their names, and so all that
    /// was made of them.
    kept: HashMap<PathBuf, String>,
    /// Files that are on record twice: the name to go, and the one to stay.
    doubles: Vec<(String, String)>,
    /// Folders in which disks of their own were mounted when files were read from there.
    mounts: Vec<PathBuf>,
}

impl Session {
    /// What the files of a base are called. Nothing is written.
    pub(crate) async fn names(&self, base: &Base) -> Result<Names> {
        let here = this_folder().map_err(EngineError::NoFolder)?;
        let records = base.files(Which::All).await?;
        let root = match base.root().await? {
            Some(kept) => Root::kept(&kept, base.folder()),
            None => Root::found(&here, base.folder(), &records),
        };
        let mounts = base.mounts().await?.into_iter().map(PathBuf::from).collect();
        Ok(Names { mounts, ..Names::new(here, root, records) })
    }

    /// The same, and the base remembers the root from now on, if it is certain.
    pub(crate) async fn settled_names(&self, base: &Base) -> Result<Names> {
        let names = self.names(base).await?;
        if !names.root.is_certain {
            return Ok(names);
        }
        let written = names.root.written(base.folder())?;
        let kept = base.keep_root(&written).await?;
        // Another process may have been first.
        Ok(match kept == written {
            true => names,
            false => {
                let root = Root::kept(&kept, base.folder());
                let mounts = names.mounts;
                Names { mounts, ..Names::new(names.here, root, names.records) }
            }
        })
    }

    /// What files would be called in the base that is set, which is not there yet.
    pub(crate) fn names_to_be(&self) -> Result<Names> {
        let here = this_folder().map_err(EngineError::NoFolder)?;
        let root = Root::of_new(&here, self.folder());
        Ok(Names::new(here, root, Vec::new()))
    }
}

impl Names {
    fn new(here: PathBuf, root: Root, records: Vec<FileRecord>) -> Self {
        let mut real = RealFolders::default();
        let places: HashMap<String, PathBuf> = records
            .iter()
            .map(|file| (file.path.clone(), real.of_file(&root.folder.join(&file.path))))
            .collect();
        let (mut kept, mut doubles) = (HashMap::new(), Vec::new());
        let is_ours = |file: &FileRecord| {
            let name = places.get(&file.path).and_then(|at| root.name_of(at));
            name.is_some_and(|name| name == file.path)
        };
        // Those that are called as they would be today come first: where two names mean one file, they stay.
        let (ours, others): (Vec<_>, Vec<_>) = records.iter().partition(|file| is_ours(file));
        let mut called: HashMap<&PathBuf, &String> = HashMap::new();
        for file in ours.into_iter().chain(others) {
            let Some(at) = places.get(&file.path) else { continue };
            match called.entry(at) {
                Entry::Occupied(stays) => doubles.push((file.path.clone(), (*stays.get()).clone())),
                Entry::Vacant(free) => {
                    free.insert(&file.path);
                    // Where the root is not known, what stands there is not what was read under this name.
                    if root.is_certain || Path::new(&file.path).is_absolute() {
                        kept.insert(at.clone(), file.path.clone());
                    }
                }
            }
        }
        Self { here, root, records, places, kept, doubles, mounts: Vec::new() }
    }

    /// The folder that names count from.
    pub(crate) fn root(&self) -> &Path {
        &self.root.folder
    }

    /// The files on record, by name.
    pub(crate) fn records(&self) -> &[FileRecord] {
        &self.records
    }

    /// Files that are on record twice: the name to go, and the one to stay.
    pub(crate) fn doubles(&self) -> &[(String, String)] {
        &self.doubles
    }

    /// Why nobody knows where a file of the base would be.
    pub(crate) fn doubt(&self, name: &str) -> Option<Doubt> {
        (!self.root.is_certain && Path::new(name).is_relative()).then_some(Doubt::NoRoot)
    }

    /// Looks for files of the base.
    pub(crate) fn disk(&self) -> Disk {
        Disk::knowing(&self.mounts)
    }

    /// Where a file of the base is.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.places.get(name).cloned().unwrap_or_else(|| self.root.folder.join(name))
    }

    /// What a file is called, which is where [`Names::absolute`] says; as far as it can be shown, where its path is no
    /// text.
    pub(crate) fn name(&self, at: &Path) -> Result<String, String> {
        if let Some(name) = self.kept.get(at) {
            return Ok(name.clone());
        }
        self.root
            .name_of(at)
            .ok_or_else(|| at.strip_prefix(&self.root.folder).unwrap_or(at).display().to_string())
    }

    /// The same for people and reports.
    pub(crate) fn shown(&self, at: &Path) -> String {
        self.name(at).unwrap_or_else(|shown| shown)
    }

    /// Where a typed path leads: a folder without any link on the way; anything else within such a folder, itself
    /// unfollowed. It need not exist.
    pub(crate) fn absolute(&self, typed: &Path) -> PathBuf {
        let mut at = self.here.clone();
        for part in typed.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    at = real(&at);
                    at.pop();
                }
                other => at.push(other),
            }
        }
        if at.is_dir() { real(&at) } else { RealFolders::default().of_file(&at) }
    }

    /// Files of the base that the given paths name or contain.
    pub(crate) fn under(&self, paths: &[PathBuf]) -> Vec<&FileRecord> {
        let folders: Vec<PathBuf> = paths.iter().map(|path| self.absolute(path)).collect();
        let is_under = |file: &&FileRecord| {
            let place = self.places.get(&file.path);
            place.is_some_and(|place| folders.iter().any(|folder| place.starts_with(folder)))
        };
        self.records.iter().filter(is_under).collect()
    }
}

/// A folder without any link on the way; of one that is not there, as far as it is there.
fn real(folder: &Path) -> PathBuf {
    let mut missing: Vec<OsString> = Vec::new();
    for there in folder.ancestors() {
        if let Ok(mut real) = fs::canonicalize(there) {
            real.extend(missing.iter().rev());
            return real;
        }
        missing.extend(there.file_name().map(OsString::from));
    }
    folder.to_owned()
}

/// Folders that were looked up.
#[derive(Default)]
struct RealFolders(HashMap<PathBuf, PathBuf>);

impl RealFolders {
    /// A file in a folder without any link on the way; a link that it may be is not followed.
    fn of_file(&mut self, file: &Path) -> PathBuf {
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
            return real(file);
        };
        self.0.entry(folder.to_owned()).or_insert_with(|| real(folder)).join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Names {
        /// Of a new base in a folder.
        pub(crate) fn of_new_in(folder: &Path) -> Self {
            let folder = folder.canonicalize().unwrap();
            let root = Root { folder: folder.clone(), is_certain: true };
            Self::new(folder, root, Vec::new())
        }
    }

    fn record(path: &str) -> FileRecord {
        FileRecord { path: path.to_owned(), hash: path.to_owned(), recipe: String::new() }
    }

    /// Names in a temporary folder with the folders `a` and `b`, of which `link` is `a`.
    fn names(here: &str, records: &[&str]) -> (tempfile::TempDir, Names) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for inner in ["a", "b", "base"] {
            fs::create_dir(top.join(inner)).unwrap();
        }
        std::os::unix::fs::symlink("a", top.join("link")).unwrap();
        std::os::unix::fs::symlink("../a", top.join("b/far")).unwrap();
        let records =
            records.iter().map(|path| record(&path.replace("TOP", top.to_str().unwrap())));
        let root = Root { folder: top.clone(), is_certain: true };
        let names = Names::new(top.join(here), root, records.collect());
        (folder, names)
    }

    #[test]
    fn one_file_one_name() {
        let (folder, names) = names("a", &[]);
        let name = |typed: &str| names.name(&names.absolute(Path::new(typed))).unwrap();
        let whole = folder.path().join("a/x.md").display().to_string();
        for typed in ["x.md", "./x.md", "../a/x.md", "../b/../a/x.md", "../link/x.md", &whole] {
            assert_eq!(name(typed), "a/x.md", "{typed}");
        }
        // A `..` behind a link leads out of what the link means.
        assert_eq!(name("../b/far/../y.md"), "y.md");
        assert_eq!(name("../gone/deep/../y.md"), "gone/y.md");
        assert_eq!(name("/nowhere/z.md"), "/nowhere/z.md");
        assert_eq!(
            name("../../z.md"),
            folder.path().canonicalize().unwrap().with_file_name("z.md").to_str().unwrap()
        );
    }

    #[test]
    fn earlier_names_stay_and_doubles_are_told() {
        let earlier =
            ["TOP/a/whole.md", "a/twice.md", "TOP/a/twice.md", "link/linked.md", "b/plain.md"];
        let (_folder, names) = names("a", &earlier);
        let name = |typed: &str| names.name(&names.absolute(Path::new(typed))).unwrap();
        assert!(name("whole.md").starts_with('/'), "{}", name("whole.md"));
        assert_eq!(name("linked.md"), "link/linked.md");
        assert_eq!(name("twice.md"), "a/twice.md");
        assert_eq!(names.doubles().len(), 1);
        let (old, new) = &names.doubles()[0];
        assert!(old.starts_with('/') && old.ends_with("/a/twice.md"), "{old}");
        assert_eq!(new, "a/twice.md");
    }

    #[test]
    fn a_folder_holds_its_own_files_only() {
        let (_folder, names) = names("a", &["a/x.md", "b/x.md", "TOP/a/y.md", "ab/x.md"]);
        let under = |typed: &str| {
            let paths = [PathBuf::from(typed)];
            names.under(&paths).into_iter().map(|file| file.hash.clone()).collect::<Vec<_>>()
        };
        assert_eq!(under(".").len(), 2);
        assert_eq!(under("../b"), ["b/x.md"]);
        assert_eq!(under("../ab/x.md"), ["ab/x.md"]);
        assert_eq!(under("..").len(), 4);
        assert!(under("b").is_empty());
    }
}
