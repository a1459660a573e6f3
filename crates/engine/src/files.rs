//! Finds the files under the paths that a user names.

mod costly;
mod kinds;
mod walk;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use pikerag_indexing::FileError;
use pikerag_knowledge::FileRecord;
use pikerag_knowledge::uri::is_relation;
use serde::Serialize;
use utoipa::ToSchema;

pub use self::costly::CostlyFile;
pub use self::kinds::OmittedKind;
use self::kinds::kind_of_path;
use self::walk::walk;
use crate::globs::matcher;
use crate::names::Names;
use crate::settings::FileChoice;

/// The most names that a kind of omitted files lists.
const EXAMPLES: usize = 3;

/// The files under some paths, each once, in a fixed order, by their names in the base; and the
/// omitted ones, with the reason.
pub(crate) struct Found {
    pub(crate) files: Vec<String>,
    /// Files that should be read and cannot.
    pub(crate) left_out: Vec<(String, FileError)>,
    /// Files and folders in the named folders that are no documents, or that a rule leaves out.
    pub(crate) omitted: Vec<Omitted>,
}

/// A file or folder that is not taken. The name of a folder ends with `/` and stands for all below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Omitted {
    pub(crate) name: String,
    pub(crate) kind: OmittedKind,
}

/// The files and folders of a kind that `index` does not take from folders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct OmittedFiles {
    /// The kind.
    pub kind: OmittedKind,
    /// Their number. A folder counts once, whatever it contains.
    pub count: usize,
    /// The first names, at most three. Names of folders end with `/`.
    pub examples: Vec<String>,
}

/// Finds files, and walks folders. A file that is named itself is always taken.
pub(crate) fn find(paths: &[PathBuf], names: &Names, choice: &FileChoice) -> Found {
    let mut found = Found { files: Vec::new(), left_out: Vec::new(), omitted: Vec::new() };
    for path in paths {
        let at = names.absolute(path);
        if names.is_stored(&at)
            && let Ok(name) = names.name(&at)
        {
            found.files.push(name);
            continue;
        }
        if at.is_dir() {
            let count =
                |found: &Found| found.files.len() + found.left_out.len() + found.omitted.len();
            let before = count(&found);
            walk(&at, names, choice, &mut found);
            if before == count(&found) {
                found.left_out.push((names.shown(&at), FileError::EmptyFolder));
            }
            continue;
        }
        match (names.name(&at), at.try_exists()) {
            (Ok(name), Ok(true)) => found.files.push(name),
            (Ok(name), Ok(false)) => found.left_out.push((name, FileError::Missing)),
            (Ok(name), Err(error)) => {
                found.left_out.push((name, FileError::Unreadable { reason: error.to_string() }));
            }
            (Err(shown), _) => found.left_out.push((shown, FileError::NotUtf8)),
        }
    }
    let mut seen = HashSet::new();
    found.files.retain(|file| seen.insert(file.clone()));
    // A folder that is named itself is not omitted by the walk of another.
    seen.extend(paths.iter().map(|path| format!("{}/", names.shown(&names.absolute(path)))));
    let mut omitted = HashSet::new();
    found.omitted.retain(|file| !seen.contains(&file.name) && omitted.insert(file.name.clone()));
    found
}

/// Counts omitted files by kind, with the first names of each.
pub(crate) fn by_kind(omitted: &[Omitted]) -> Vec<OmittedFiles> {
    let mut kinds: BTreeMap<OmittedKind, OmittedFiles> = BTreeMap::new();
    for Omitted { name, kind } in omitted {
        let empty = OmittedFiles { kind: *kind, count: 0, examples: Vec::new() };
        let of_kind = kinds.entry(*kind).or_insert(empty);
        of_kind.count += 1;
        if of_kind.examples.len() < EXAMPLES {
            of_kind.examples.push(name.clone());
        }
    }
    kinds.into_values().collect()
}

/// The files on record that a walk now omits. The base keeps them and does not update them.
pub(crate) fn omitted_on_record(records: &[FileRecord], omitted: &[Omitted]) -> Vec<Omitted> {
    let kinds: HashMap<&str, OmittedKind> =
        omitted.iter().map(|file| (file.name.as_str(), file.kind)).collect();
    let kind = |path: &str| {
        let above = path.match_indices('/').filter_map(|(at, _)| path.get(..=at));
        std::iter::once(path).chain(above).find_map(|name| kinds.get(name).copied())
    };
    let on_record = records
        .iter()
        .filter_map(|file| Some(Omitted { kind: kind(&file.path)?, name: file.path.clone() }));
    on_record.collect()
}

/// The files on record that a walk would omit for their names, if nothing includes them.
pub(crate) fn omitted_by_name(names: &Names, choice: &FileChoice) -> Vec<Omitted> {
    let include = matcher(names.root(), &choice.include);
    let files = names.records().iter().filter(|file| !is_relation(&file.path));
    let omitted = files.filter_map(|file| {
        let kind = kind_of_path(&file.path, choice)?;
        let is_included = include.matched(names.place(&file.path), false).is_ignore();
        (!is_included).then(|| Omitted { name: file.path.clone(), kind })
    });
    omitted.collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::*;
    use crate::globs::FileGlob;

    /// A folder with these files.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn choice(include: &[&str], exclude: &[&str]) -> FileChoice {
        let parsed = |globs: &[&str]| -> Vec<FileGlob> {
            globs.iter().map(|glob| glob.parse::<FileGlob>().unwrap()).collect()
        };
        FileChoice { include: parsed(include), exclude: parsed(exclude), source_code: false }
    }

    /// The files that are found in a folder, and the omitted ones, each with its kind.
    fn found(folder: &Path, choice: &FileChoice) -> (Vec<String>, Vec<String>) {
        let found = find(&[folder.to_owned()], &Names::of_new_in(folder), choice);
        assert!(found.left_out.is_empty(), "{:?}", found.left_out);
        let omitted = found.omitted.iter().map(|file| format!("{} {:?}", file.name, file.kind));
        (found.files, omitted.collect())
    }

    #[test]
    fn walks_folders_in_order_and_reports_links() {
        let files = ["b.md", "a.md", ".hidden", "sub/c.md", "hidden/.d.md"].map(|file| (file, "x"));
        let folder = folder(&files);
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link.txt")).unwrap();
        let names = Names::of_new_in(folder.path());
        let paths = ["", "a.md", "none.md", "hidden"].map(|path| folder.path().join(path));
        let found = find(&paths, &names, &FileChoice::default());
        assert_eq!(found.files, ["a.md", "b.md", "sub/c.md"]);
        let left: Vec<&str> = found.left_out.iter().map(|(file, _)| file.as_str()).collect();
        assert_eq!(left, ["link.txt", "none.md", "hidden"]);
        assert_eq!(found.left_out.last().map(|(_, reason)| reason), Some(&FileError::EmptyFolder));
        assert!(found.omitted.is_empty());
    }

    #[test]
    fn folders_give_documents_and_named_files_are_always_taken() {
        let folder = folder(&[
            ("guide.html", "<p>x</p>"),
            ("searchindex-1a.js", "x"),
            ("theme/app.js", "x"),
            ("theme/text.woff2", "x"),
            ("Cargo.lock", "x"),
            ("node_modules/a/README.md", "x"),
            ("data.json", "{}"),
        ]);
        let (files, omitted) = found(folder.path(), &FileChoice::default());
        assert_eq!(files, ["data.json", "guide.html"]);
        let expected = [
            "Cargo.lock LockFile",
            "node_modules/ BuildFolder",
            "searchindex-1a.js Generated",
            "theme/app.js Asset",
            "theme/text.woff2 Font",
        ];
        assert_eq!(omitted, expected);
        let names = Names::of_new_in(folder.path());
        let paths = ["", "theme/app.js", "node_modules"].map(|path| folder.path().join(path));
        let found = find(&paths, &names, &FileChoice::default());
        let expected = ["data.json", "guide.html", "theme/app.js", "node_modules/a/README.md"];
        assert_eq!(found.files, expected);
        let kinds = by_kind(&found.omitted);
        let counts: Vec<_> = kinds.iter().map(|kind| (kind.kind, kind.count)).collect();
        let expected =
            [(OmittedKind::Font, 1), (OmittedKind::Generated, 1), (OmittedKind::LockFile, 1)];
        assert_eq!(counts, expected);
    }

    #[test]
    fn exclude_beats_include_and_include_beats_kinds() {
        let files =
            ["a.md", "app.js", "drafts/b.md", "drafts/c.js", "lib.rs"].map(|name| (name, "x"));
        let folder = folder(&files);
        let files = |choice: &FileChoice| found(folder.path(), choice).0;
        assert_eq!(
            files(&choice(&["*.js"], &[])),
            ["a.md", "app.js", "drafts/b.md", "drafts/c.js"]
        );
        assert_eq!(files(&choice(&["*.js"], &["drafts/"])), ["a.md", "app.js"]);
        assert_eq!(files(&choice(&["/app.js"], &["*.md"])), ["app.js"]);
        let with_source = FileChoice { source_code: true, ..choice(&[], &["drafts/"]) };
        assert_eq!(files(&with_source), ["a.md", "app.js", "lib.rs"]);
        let (_, omitted) = found(folder.path(), &choice(&[], &["drafts/"]));
        assert_eq!(omitted, ["app.js Asset", "drafts/ Excluded", "lib.rs SourceCode"]);
    }

    /// A glob for a folder opens the folder; its files are decided by their kinds.
    #[test]
    fn an_included_folder_is_opened() {
        let folder = folder(&[
            ("node_modules/a/README.md", "x"),
            ("node_modules/a/index.js", "x"),
            ("b.md", "x"),
        ]);
        let files = |include: &str| found(folder.path(), &choice(&[include], &[])).0;
        assert_eq!(files("*.js"), ["b.md"]);
        assert_eq!(files("node_modules/"), ["b.md", "node_modules/a/README.md"]);
    }

    #[test]
    fn gitignore_counts_only_in_a_repository() {
        let files = [
            (".gitignore", "*.log\n/private/\n"),
            ("docs/.gitignore", "draft.md\n"),
            ("docs/a.md", "x"),
            ("docs/draft.md", "x"),
            ("docs/run.log", "x"),
            ("private/b.md", "x"),
        ];
        let folder = folder(&files);
        let all = ["docs/a.md", "docs/draft.md", "docs/run.log", "private/b.md"];
        assert_eq!(found(folder.path(), &FileChoice::default()).0, all);
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        let (files, omitted) = found(folder.path(), &FileChoice::default());
        assert_eq!(files, ["docs/a.md"]);
        let expected = ["docs/draft.md Ignored", "docs/run.log Ignored", "private/ Ignored"];
        assert_eq!(omitted, expected);
        // The file at the root of the repository counts for a folder below it.
        let (files, _) = found(&folder.path().join("docs"), &FileChoice::default());
        assert_eq!(files, ["a.md"]);
        let (files, _) = found(folder.path(), &choice(&["*.log", "/private/"], &[]));
        assert_eq!(files, ["docs/a.md", "docs/run.log", "private/b.md"]);
    }

    #[test]
    fn our_ignore_file_counts_everywhere_and_before_gitignore() {
        let folder = folder(&[
            (".git/HEAD", "x"),
            (".gitignore", "*.log\n"),
            (".pikeragignore", "/old/\n!*.log\n!app.js\n"),
            ("a.md", "x"),
            ("app.js", "x"),
            ("old/b.md", "x"),
            ("sub/.pikeragignore", "*.log\n"),
            ("sub/c.log", "x"),
            ("run.log", "x"),
            (".ignore", "a.md\n"),
        ]);
        let (files, omitted) = found(folder.path(), &FileChoice::default());
        assert_eq!(files, ["a.md", "app.js", "run.log"]);
        assert_eq!(omitted, ["old/ Ignored", "sub/c.log Ignored"]);
        let outside =
            self::folder(&[(".pikeragignore", "*.md\n"), ("sub/a.md", "x"), ("b.txt", "x")]);
        assert_eq!(found(outside.path(), &FileChoice::default()).0, ["b.txt"]);
    }

    #[test]
    fn a_bad_line_of_our_ignore_file_is_reported() {
        let folder = folder(&[(".pikeragignore", "{a\n*.txt\n"), ("a.md", "x"), ("b.txt", "x")]);
        let names = Names::of_new_in(folder.path());
        let found = find(&[folder.path().to_owned()], &names, &FileChoice::default());
        assert_eq!(found.files, ["a.md"]);
        let left: Vec<&str> = found.left_out.iter().map(|(file, _)| file.as_str()).collect();
        assert_eq!(left, [".pikeragignore"]);
    }

    #[test]
    fn files_on_record_that_are_now_omitted_are_found() {
        let omitted = |name: &str, kind| Omitted { name: name.to_owned(), kind };
        let walked = [
            omitted("web/node_modules/", OmittedKind::BuildFolder),
            omitted("app.js", OmittedKind::Asset),
        ];
        let record = |path: &str| FileRecord {
            path: path.to_owned(),
            hash: String::new(),
            recipe: String::new(),
        };
        let records = ["web/node_modules/a/b.md", "web/a.md", "app.js", "my/app.js"].map(record);
        let expected = [
            omitted("web/node_modules/a/b.md", OmittedKind::BuildFolder),
            omitted("app.js", OmittedKind::Asset),
        ];
        assert_eq!(omitted_on_record(&records, &walked), expected);
    }

    #[test]
    fn names_in_gbk_are_taken_unless_another_file_has_them() {
        let folder = tempfile::tempdir().unwrap();
        for name in [b"\xb1\xa8\xb8\xe6.md".as_slice(), b"\xba\xcf\xcd\xac.md"] {
            std::fs::write(folder.path().join(OsStr::from_bytes(name)), "x").unwrap();
        }
        std::fs::write(folder.path().join("合同.md"), "x").unwrap();
        let names = Names::of_new_in(folder.path());
        let found = find(&[folder.path().to_owned()], &names, &FileChoice::default());
        // In the order of the bytes on disk: UTF-8 begins with 0xe5 here.
        assert_eq!(found.files, ["报告.md", "合同.md"]);
        assert_eq!(found.left_out, [("合同.md".to_owned(), FileError::NotUtf8)]);
        for file in &found.files {
            assert!(names.place(file).is_file(), "{file}");
        }
    }
}
