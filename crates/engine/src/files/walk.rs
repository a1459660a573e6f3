//! Walks a folder and decides which of its files are taken: globs of the user first, then ignore
//! files, then the kinds of files that are no documents.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::FileType;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use ignore::gitignore::Gitignore;
use pikerag_indexing::FileError;
use walkdir::WalkDir;

use super::kinds::{OmittedKind, is_build_folder, kind_of_content, kind_of_name};
use super::{Found, Omitted};
use crate::globs::matcher;
use crate::names::Names;
use crate::settings::FileChoice;

/// The name of our own ignore files, which count in every folder and above it.
const IGNORE_FILE: &str = ".pikeragignore";

/// Adds the files below a folder. It skips hidden files and folders and does not follow symbolic
/// links.
pub(super) fn walk(folder: &Path, names: &Names, choice: &FileChoice, found: &mut Found) {
    let mut rules = Rules::of(folder, choice);
    let mut entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let at = names.shown(error.path().unwrap_or(folder));
                found.left_out.push((at, FileError::Unreadable { reason: error.to_string() }));
                continue;
            }
        };
        let (at, file_type) = (entry.path(), entry.file_type());
        if file_type.is_dir() {
            if 0 < entry.depth() {
                // The folder of a knowledge base contains no documents.
                if is_hidden(entry.file_name()) || at.join(pikerag_store::DATABASE).is_file() {
                    entries.skip_current_dir();
                    continue;
                }
                if let Some(kind) = rules.omits_folder(at) {
                    found.omitted.push(Omitted { name: format!("{}/", names.shown(at)), kind });
                    entries.skip_current_dir();
                    continue;
                }
            }
            if let Some(reason) = rules.enter(at) {
                let file = names.shown(&at.join(IGNORE_FILE));
                found.left_out.push((file, FileError::Unreadable { reason }));
            }
            continue;
        }
        if is_hidden(entry.file_name()) {
            continue;
        }
        match (rules.omits_file(at, file_type), names.name(at)) {
            (Some(kind), name) => {
                let name = name.unwrap_or_else(|shown| shown);
                found.omitted.push(Omitted { name, kind });
            }
            (None, Ok(name)) if file_type.is_file() => found.files.push(name),
            (None, Ok(name)) => found.left_out.push((name, FileError::NotRegular)),
            (None, Err(shown)) => found.left_out.push((shown, FileError::NotUtf8)),
        }
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// A decision about a path by globs or ignore files.
enum Decision {
    Take,
    Omit(OmittedKind),
    /// No rule names the path.
    Open,
}

/// The rules for the paths below a folder.
struct Rules<'a> {
    choice: &'a FileChoice,
    include: Gitignore,
    exclude: Gitignore,
    /// Our ignore files, by folder.
    own: HashMap<PathBuf, Gitignore>,
    /// The paths that `.gitignore` files of a repository admit.
    admitted: HashSet<PathBuf>,
    /// Folders that a glob or our ignore file takes against `.gitignore` or their kind.
    reopened: Vec<PathBuf>,
}

impl<'a> Rules<'a> {
    fn of(folder: &Path, choice: &'a FileChoice) -> Self {
        let mut rules = Self {
            choice,
            include: matcher(folder, &choice.include),
            exclude: matcher(folder, &choice.exclude),
            own: HashMap::new(),
            admitted: admitted_by_git(folder),
            reopened: Vec::new(),
        };
        for above in folder.ancestors().skip(1) {
            // The valid lines of an ignore file above the folder count.
            rules.enter(above);
        }
        rules
    }

    /// Reads our ignore file in a folder. Returns the reason if a part of it is not readable.
    fn enter(&mut self, folder: &Path) -> Option<String> {
        let file = folder.join(IGNORE_FILE);
        if !file.is_file() {
            return None;
        }
        let (globs, error) = Gitignore::new(&file);
        self.own.insert(folder.to_owned(), globs);
        error.map(|error| error.to_string())
    }

    fn omits_folder(&mut self, folder: &Path) -> Option<OmittedKind> {
        match self.decision(folder, true) {
            Decision::Take => {
                if !self.admitted.contains(folder) {
                    self.reopened.push(folder.to_owned());
                }
                None
            }
            Decision::Omit(OmittedKind::Excluded) => Some(OmittedKind::Excluded),
            _ if is_build_folder(folder) => Some(OmittedKind::BuildFolder),
            Decision::Omit(kind) => Some(kind),
            Decision::Open => None,
        }
    }

    fn omits_file(&self, file: &Path, file_type: FileType) -> Option<OmittedKind> {
        match self.decision(file, false) {
            Decision::Omit(kind) => Some(kind),
            Decision::Take => None,
            // Links and devices are reported as such.
            Decision::Open if !file_type.is_file() => None,
            Decision::Open => {
                let name = file.file_name()?.to_str()?;
                kind_of_name(name, self.choice).or_else(|| kind_of_content(file))
            }
        }
    }

    /// `--exclude` counts before `--include`, both before our ignore files, those before git's. A
    /// rule that takes a folder only opens it: its files are decided one by one.
    fn decision(&self, path: &Path, is_folder: bool) -> Decision {
        if self.exclude.matched(path, is_folder).is_ignore() {
            return Decision::Omit(OmittedKind::Excluded);
        }
        if self.include.matched(path, is_folder).is_ignore() {
            return Decision::Take;
        }
        // The nearest ignore file that names the path decides.
        let own = path.ancestors().skip(1).filter_map(|folder| self.own.get(folder));
        let mut matches = own.map(|globs| globs.matched(path, is_folder));
        if let Some(decided) = matches.find(|decided| !decided.is_none()) {
            return match decided.is_ignore() {
                true => Decision::Omit(OmittedKind::Ignored),
                false => Decision::Take,
            };
        }
        let is_admitted = self.admitted.contains(path)
            || self.reopened.iter().any(|folder| path.starts_with(folder));
        if is_admitted { Decision::Open } else { Decision::Omit(OmittedKind::Ignored) }
    }
}

/// The paths below a folder that the `.gitignore` files of a repository admit; outside of a
/// repository, all. Hidden paths and folders of builds are not included.
fn admitted_by_git(folder: &Path) -> HashSet<PathBuf> {
    let is_entered = |entry: &ignore::DirEntry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_skipped = is_hidden(entry.file_name()) || is_folder && is_build_folder(entry.path());
        entry.depth() == 0 || !is_skipped
    };
    let walk = WalkBuilder::new(folder)
        .standard_filters(false)
        .parents(true)
        .git_ignore(true)
        .git_exclude(true)
        .require_git(true)
        .filter_entry(is_entered)
        .build();
    walk.filter_map(Result::ok).map(ignore::DirEntry::into_path).collect()
}
