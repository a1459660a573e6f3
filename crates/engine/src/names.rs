//! Names the files of a base by their paths below the base's root folder, which the base remembers;
//! files elsewhere by absolute paths. So a file has one name, whatever the working folder and
//! however its path is typed.

mod called;
mod root;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use pikerag_knowledge::uri::is_relation;
use pikerag_knowledge::{FileRecord, Which};
use pikerag_postgres::Location;
use pikerag_store::StoredUploads;

use self::root::Root;
use crate::base::{Base, folder_of};
use crate::engine::Session;
use crate::error::{EngineError, Result};
use crate::presence::{Disk, UnclearReason};
use crate::raw_names::{RawFolders, path_of, written};
use crate::settings::this_folder;
use crate::uploads::UploadPlaces;

/// The names and places of the files of one base.
pub(crate) struct Names {
    /// The folder that typed paths are relative to.
    here: PathBuf,
    root: Root,
    /// The files on record, by name.
    records: Vec<FileRecord>,
    /// The place of each file by name.
    places: HashMap<String, PathBuf>,
    /// The names on record, by place. Files that earlier versions named differently keep their
    /// names and the data made of them.
    kept: HashMap<PathBuf, String>,
    /// Files that are on record twice: the name to drop, and the name to keep.
    duplicates: Vec<(String, String)>,
    /// Mount points above files when they were read.
    mounts: Vec<PathBuf>,
    uploads: UploadPlaces,
    stored: Option<Stored>,
}

/// Uploads that the base itself stores.
struct Stored {
    uploads: Arc<dyn StoredUploads>,
    /// The places of the complete ones. Nothing lies there.
    places: Arc<HashSet<PathBuf>>,
}

impl Session {
    /// The names of the files of a base. It writes nothing.
    pub(crate) async fn names(&self, base: &Base) -> Result<Names> {
        let here = this_folder().map_err(EngineError::NoFolder)?;
        let records = base.files(Which::All).await?;
        let folder = here.join(folder_of(base.folder()));
        let root = match base.root().await? {
            Some(kept) => Root::kept(&kept, &folder),
            None => Root::found(&here, &folder, &records),
        };
        let mounts = base.mounts().await?.into_iter().map(PathBuf::from).collect();
        let uploads = match base.stored_uploads() {
            Some(_) => UploadPlaces::below(&root.folder, self.folder()),
            None => UploadPlaces::beside(self.folder()),
        };
        let stored = stored_in(base, &uploads).await?;
        Ok(Names { mounts, uploads, stored, ..Names::new(here, root, records) })
    }

    /// The folder that the names of a base are relative to, if the base keeps one.
    pub(crate) async fn kept_root(&self, base: &Base) -> Result<Option<PathBuf>> {
        let here = this_folder().map_err(EngineError::NoFolder)?;
        let folder = here.join(folder_of(base.folder()));
        Ok(base.root().await?.map(|kept| Root::kept(&kept, &folder).folder))
    }

    /// The names of the files of a base, which stores the root from now on if the root is certain.
    pub(crate) async fn settled_names(&self, base: &Base) -> Result<Names> {
        let names = self.names(base).await?;
        if !names.root.is_certain {
            return Ok(names);
        }
        let folder = names.here.join(folder_of(base.folder()));
        let written = match Location::is_address(base.folder()) {
            // Processes with other working folders use the base, too.
            true => names.root.absolute()?,
            false => names.root.written(&folder)?,
        };
        let kept = base.keep_root(&written).await?;
        // Another process may have stored a root first.
        Ok(match kept == written {
            true => names,
            false => {
                let root = Root::kept(&kept, &folder);
                let (mounts, mut uploads, mut stored) = (names.mounts, names.uploads, names.stored);
                if stored.is_some() {
                    uploads = UploadPlaces::below(&root.folder, self.folder());
                    stored = stored_in(base, &uploads).await?;
                }
                Names { mounts, uploads, stored, ..Names::new(names.here, root, names.records) }
            }
        })
    }

    /// The names that files would get in this session's base, which does not exist yet.
    pub(crate) fn names_of_new_base(&self) -> Result<Names> {
        let here = this_folder().map_err(EngineError::NoFolder)?;
        let root = Root::of_new(&here, &folder_of(self.folder()));
        Ok(Names::new(here, root, Vec::new()))
    }
}

/// The uploads that a base stores.
async fn stored_in(base: &Base, at: &UploadPlaces) -> Result<Option<Stored>> {
    let Some(uploads) = base.stored_uploads() else { return Ok(None) };
    let mut places = HashSet::new();
    for upload in uploads.uploads().await? {
        places.extend(at.place(&upload.name).ok());
    }
    Ok(Some(Stored { uploads, places: Arc::new(places) }))
}

impl Names {
    fn new(here: PathBuf, root: Root, records: Vec<FileRecord>) -> Self {
        let (mut folders, mut raw_folders) = (RealFolders::default(), RawFolders::default());
        let places: HashMap<String, PathBuf> = records
            .iter()
            .map(|file| {
                let place = match is_relation(&file.path) {
                    true => PathBuf::from(&file.path),
                    false => folders.of_file(&raw_folders.path_of(&root.folder, &file.path)),
                };
                (file.path.clone(), place)
            })
            .collect();
        let (mut kept, mut duplicates) = (HashMap::new(), Vec::new());
        let is_ours = |file: &FileRecord| {
            let name = places.get(&file.path).and_then(|at| root.name_of(at));
            is_relation(&file.path) || name.is_some_and(|name| name == file.path)
        };
        // Files with the name that they would get today come first: if two names mean one file,
        // that name stays.
        let (ours, others): (Vec<_>, Vec<_>) = records.iter().partition(|file| is_ours(file));
        let mut called: HashMap<&PathBuf, &String> = HashMap::new();
        for file in ours.into_iter().chain(others) {
            let Some(at) = places.get(&file.path) else { continue };
            match called.entry(at) {
                Entry::Occupied(stays) => {
                    duplicates.push((file.path.clone(), (*stays.get()).clone()));
                }
                Entry::Vacant(free) => {
                    free.insert(&file.path);
                    // If the root is unknown, the file at this place is not the one that was read
                    // under this name.
                    let is_fixed = Path::new(&file.path).is_absolute() || is_relation(&file.path);
                    if root.is_certain || is_fixed {
                        kept.insert(at.clone(), file.path.clone());
                    }
                }
            }
        }
        let (mounts, uploads) = (Vec::new(), UploadPlaces::beside(Path::new("")));
        Self { here, root, records, places, kept, duplicates, mounts, uploads, stored: None }
    }

    /// The folder that names are relative to.
    pub(crate) fn root(&self) -> &Path {
        &self.root.folder
    }

    /// The files on record, by name.
    pub(crate) fn records(&self) -> &[FileRecord] {
        &self.records
    }

    /// Files that are on record twice: the name to drop, and the name to keep.
    pub(crate) fn duplicates(&self) -> &[(String, String)] {
        &self.duplicates
    }

    /// The reason why the place of a file of the base is unknown; `None` if it is known.
    pub(crate) fn unclear_reason(&self, name: &str) -> Option<UnclearReason> {
        let is_below_root = Path::new(name).is_relative() && !is_relation(name);
        (!self.root.is_certain && is_below_root).then_some(UnclearReason::NoRoot)
    }

    /// A fresh look at the disk, with the mount points of the base.
    pub(crate) fn disk(&self) -> Disk {
        let stored = self.stored.as_ref();
        let stored =
            stored.map(|held| (self.uploads.folder().to_owned(), Arc::clone(&held.places)));
        Disk::with_mounts(&self.mounts).and_stored(stored)
    }

    /// The places of uploads.
    pub(crate) fn uploads(&self) -> &UploadPlaces {
        &self.uploads
    }

    /// The uploads that the base itself stores; `None` if they are in a folder.
    pub(crate) fn stored_uploads(&self) -> Option<&Arc<dyn StoredUploads>> {
        self.stored.as_ref().map(|stored| &stored.uploads)
    }

    /// Whether the base itself stores the upload with a place.
    pub(crate) fn is_stored(&self, at: &Path) -> bool {
        self.stored.as_ref().is_some_and(|stored| stored.places.contains(at))
    }

    /// The place of a file of the base; for a table of a database, its name.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        if is_relation(name) {
            return PathBuf::from(name);
        }
        self.places.get(name).cloned().unwrap_or_else(|| path_of(&self.root.folder, name))
    }

    /// The place of a file of the base, for people and reports: always UTF-8, even if the path on
    /// disk is not.
    pub(crate) fn shown_place(&self, name: &str) -> PathBuf {
        let place = self.place(name);
        if place.to_str().is_some() { place } else { self.root.folder.join(name) }
    }

    /// The name of the file at a place that [`Names::absolute`] gives. `Err` has the displayable
    /// part of a path that no name can be made of.
    pub(crate) fn name(&self, at: &Path) -> Result<String, String> {
        if let Some(name) = self.kept.get(at) {
            return Ok(name.clone());
        }
        self.root.name_of(at).ok_or_else(|| {
            let below = at.strip_prefix(&self.root.folder).unwrap_or(at);
            written(below).unwrap_or_else(|| below.display().to_string())
        })
    }

    /// The name of a file for people and reports.
    pub(crate) fn shown(&self, at: &Path) -> String {
        self.name(at).unwrap_or_else(|shown| shown)
    }

    /// The absolute place of a typed path. Links in the path to a folder are resolved; a file that
    /// is itself a link is not followed. The path need not exist. A decoded name leads to its file.
    /// The name of a database or of its table is unchanged.
    pub(crate) fn absolute(&self, typed: &Path) -> PathBuf {
        if typed.to_str().is_some_and(is_relation) {
            return typed.to_owned();
        }
        let mut at = self.here.clone();
        for part in typed.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    at = without_links(&at);
                    at.pop();
                }
                other => at.push(other),
            }
        }
        if let Some(name) = at.to_str() {
            at = path_of(Path::new(""), name);
        }
        if at.is_dir() { without_links(&at) } else { RealFolders::default().of_file(&at) }
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

/// The folder with all links resolved; of a missing folder, the existing part.
fn without_links(folder: &Path) -> PathBuf {
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

/// Folders with links resolved, each looked up once.
#[derive(Default)]
struct RealFolders(HashMap<PathBuf, PathBuf>);

impl RealFolders {
    /// The file below its folder, with links in the folder's path resolved. The file itself is not
    /// followed if it is a link.
    fn of_file(&mut self, file: &Path) -> PathBuf {
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
            return without_links(file);
        };
        self.0.entry(folder.to_owned()).or_insert_with(|| without_links(folder)).join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Names {
        /// The names of a new base in a folder.
        pub(crate) fn of_new_in(folder: &Path) -> Self {
            let folder = folder.canonicalize().unwrap();
            let root = Root { folder: folder.clone(), is_certain: true };
            Self::new(folder, root, Vec::new())
        }
    }

    fn record(path: &str) -> FileRecord {
        FileRecord { path: path.to_owned(), hash: path.to_owned(), recipe: String::new() }
    }

    /// Names in a temporary folder with the folders `a` and `b`; `link` is a link to `a`.
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
    fn a_file_has_one_name_for_every_typed_path() {
        let (folder, names) = names("a", &[]);
        let name = |typed: &str| names.name(&names.absolute(Path::new(typed))).unwrap();
        let whole = folder.path().join("a/x.md").display().to_string();
        for typed in ["x.md", "./x.md", "../a/x.md", "../b/../a/x.md", "../link/x.md", &whole] {
            assert_eq!(name(typed), "a/x.md", "{typed}");
        }
        // A `..` after a link leaves the folder that the link means.
        assert_eq!(name("../b/far/../y.md"), "y.md");
        assert_eq!(name("../gone/deep/../y.md"), "gone/y.md");
        assert_eq!(name("/nowhere/z.md"), "/nowhere/z.md");
        assert_eq!(
            name("../../z.md"),
            folder.path().canonicalize().unwrap().with_file_name("z.md").to_str().unwrap()
        );
    }

    #[test]
    fn a_table_of_a_database_is_named_alike_everywhere() {
        let (_folder, names) = names("a", &["a/x.md", "postgres://h/db/public.staff"]);
        let table = Path::new("postgres://h/db/public.staff");
        assert_eq!(names.absolute(table), table);
        assert_eq!(names.name(table).as_deref(), Ok("postgres://h/db/public.staff"));
        assert_eq!(
            names.place("postgres://h/db/public.other"),
            Path::new("postgres://h/db/public.other")
        );
        let below = |typed: &str| names.under(&[PathBuf::from(typed)]).len();
        assert_eq!((below("postgres://h/db"), below("postgres://h/d"), below(".")), (1, 0, 1));
    }

    /// `报告.md` in GBK, as a disk from Windows has it.
    #[test]
    fn a_name_in_gbk_leads_to_its_file_and_back() {
        use std::os::unix::ffi::OsStrExt;
        let (folder, names) = names("a", &["a/报告.md"]);
        let file = folder.path().canonicalize().unwrap().join("a");
        let file = file.join(std::ffi::OsStr::from_bytes(b"\xb1\xa8\xb8\xe6.md"));
        fs::write(&file, "x").unwrap();
        assert_eq!(names.name(&names.absolute(&file)).as_deref(), Ok("a/报告.md"));
        // As typed in a terminal, and as a base opens it later.
        assert_eq!(names.absolute(Path::new("报告.md")), file);
        let root = Root { folder: names.root().to_owned(), is_certain: true };
        let later = Names::new(names.here.clone(), root, names.records.clone());
        assert_eq!(later.place("a/报告.md"), file);
        assert_eq!(later.name(&file).as_deref(), Ok("a/报告.md"));
        assert!(later.shown_place("a/报告.md").ends_with("a/报告.md"));
        assert_eq!(later.under(&[PathBuf::from("报告.md")]).len(), 1);
        // A file in UTF-8 has the name if both exist.
        fs::write(file.with_file_name("报告.md"), "y").unwrap();
        assert_eq!(names.name(&file), Err("a/报告.md".to_owned()));
    }

    #[test]
    fn earlier_names_stay_and_duplicates_are_reported() {
        let earlier =
            ["TOP/a/whole.md", "a/twice.md", "TOP/a/twice.md", "link/linked.md", "b/plain.md"];
        let (_folder, names) = names("a", &earlier);
        let name = |typed: &str| names.name(&names.absolute(Path::new(typed))).unwrap();
        assert!(name("whole.md").starts_with('/'), "{}", name("whole.md"));
        assert_eq!(name("linked.md"), "link/linked.md");
        assert_eq!(name("twice.md"), "a/twice.md");
        assert_eq!(names.duplicates().len(), 1);
        let (old, new) = &names.duplicates()[0];
        assert!(old.starts_with('/') && old.ends_with("/a/twice.md"), "{old}");
        assert_eq!(new, "a/twice.md");
    }

    #[test]
    fn a_folder_contains_only_its_own_files() {
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
