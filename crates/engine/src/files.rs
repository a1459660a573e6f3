//! Finds the files under the paths that a user names.

use std::path::{Path, PathBuf};

use pikerag_indexing::FileError;

use crate::names::Names;

/// The files under some paths, each once, in a fixed order, by their names in the base; and the
/// omitted ones, with the reason.
pub(crate) struct Found {
    pub(crate) files: Vec<String>,
    pub(crate) left_out: Vec<(String, FileError)>,
}

/// Walks folders. It skips hidden files and folders and does not follow symbolic links. A file that
/// is named itself is always taken.
pub(crate) fn find(paths: &[PathBuf], names: &Names) -> Found {
    let mut found = Found { files: Vec::new(), left_out: Vec::new() };
    for path in paths {
        let at = names.absolute(path);
        if at.is_dir() {
            let before = (found.files.len(), found.left_out.len());
            walk(&at, names, &mut found);
            if before == (found.files.len(), found.left_out.len()) {
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
    let mut seen = std::collections::HashSet::new();
    found.files.retain(|file| seen.insert(file.clone()));
    found
}

fn walk(folder: &Path, names: &Names, found: &mut Found) {
    let is_skipped = |entry: &walkdir::DirEntry| {
        let hidden = entry.file_name().to_str().is_some_and(|name| name.starts_with('.'));
        // The folder of a knowledge base contains no documents.
        0 < entry.depth() && (hidden || entry.path().join(pikerag_store::DATABASE).is_file())
    };
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter();
    for entry in entries.filter_entry(|entry| !is_skipped(entry)) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let at = names.shown(error.path().unwrap_or(folder));
                found.left_out.push((at, FileError::Unreadable { reason: error.to_string() }));
                continue;
            }
        };
        match names.name(entry.path()) {
            _ if entry.file_type().is_dir() => {}
            Ok(name) if entry.file_type().is_file() => found.files.push(name),
            Ok(name) => found.left_out.push((name, FileError::NotRegular)),
            Err(shown) => found.left_out.push((shown, FileError::NotUtf8)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_folders_in_order_and_reports_links() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["b.md", "a.md", ".hidden", "sub/c.md", "hidden/.d.md"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link.txt")).unwrap();
        let names = Names::of_new_in(folder.path());
        let paths = ["", "a.md", "none.md", "hidden"].map(|path| folder.path().join(path));
        let found = find(&paths, &names);
        assert_eq!(found.files, ["a.md", "b.md", "sub/c.md"]);
        let left: Vec<&str> = found.left_out.iter().map(|(file, _)| file.as_str()).collect();
        assert_eq!(left, ["link.txt", "none.md", "hidden"]);
        assert_eq!(found.left_out.last().map(|(_, reason)| reason), Some(&FileError::EmptyFolder));
    }
}
