//! Which files are meant by the paths a user names?

use std::path::{Component, Path, PathBuf};

use pikerag_coordinate::ingest::FileError;

/// The files under `paths`, each once, in a fixed order; and what was left out, with the reason.
pub(crate) struct Found {
    pub(crate) files: Vec<String>,
    pub(crate) left_out: Vec<(String, FileError)>,
}

/// Walks folders: hidden files and folders are passed over, symbolic links are not followed. A file
/// that is named outright is taken as it is.
pub(crate) fn find(paths: &[PathBuf]) -> Found {
    let mut found = Found { files: Vec::new(), left_out: Vec::new() };
    for path in paths {
        let path = clean(path);
        if !path.is_dir() {
            match name(&path) {
                Ok(name) if path.exists() => found.files.push(name),
                Ok(name) => found.left_out.push((name, FileError::Missing)),
                Err(name) => found.left_out.push((name, FileError::NotUtf8)),
            }
            continue;
        }
        let passed_over = |entry: &walkdir::DirEntry| {
            let hidden = entry.file_name().to_str().is_some_and(|name| name.starts_with('.'));
            // A knowledge base is no document.
            0 < entry.depth() && (hidden || entry.path().join(pikerag_store::DATABASE).is_file())
        };
        for entry in walkdir::WalkDir::new(&path)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|e| !passed_over(e))
        {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let at = error.path().unwrap_or(&path).display().to_string();
                    found.left_out.push((at, FileError::Unreadable { reason: error.to_string() }));
                    continue;
                }
            };
            match name(&clean(entry.path())) {
                _ if entry.file_type().is_dir() => {}
                Ok(name) if entry.file_type().is_file() => found.files.push(name),
                Ok(name) => {
                    found.left_out.push((name, FileError::NotRegular));
                }
                Err(name) => found.left_out.push((name, FileError::NotUtf8)),
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.files.retain(|file| seen.insert(file.clone()));
    found
}

fn name(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| path.display().to_string())
}

/// A path without `.`, and without `x/..` where `x` is a plain name: one file, one name.
pub(crate) fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(cleaned.components().next_back(), Some(Component::Normal(_))) =>
            {
                cleaned.pop();
            }
            other => cleaned.push(other),
        }
    }
    if cleaned.as_os_str().is_empty() {
        cleaned.push(".");
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_one_name() {
        assert_eq!(clean(Path::new("./a/../b/./c.md")), Path::new("b/c.md"));
        assert_eq!(clean(Path::new("../x")), Path::new("../x"));
        assert_eq!(clean(Path::new("/a/b/")), Path::new("/a/b"));
        assert_eq!(clean(Path::new(".")), Path::new("."));
    }

    #[test]
    fn folders_are_walked_in_order_and_links_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["b.md", "a.md", ".hidden", "sub/c.md"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link.txt")).unwrap();
        let found = find(&[
            folder.path().to_owned(),
            folder.path().join("a.md"),
            folder.path().join("none.md"),
        ]);
        let short =
            |name: &str| name.strip_prefix(folder.path().to_str().unwrap()).unwrap().to_owned();
        assert_eq!(
            found.files.iter().map(|file| short(file)).collect::<Vec<_>>(),
            ["/a.md", "/b.md", "/sub/c.md"]
        );
        let left: Vec<String> = found.left_out.iter().map(|(file, _)| short(file)).collect();
        assert_eq!(left, ["/link.txt", "/none.md"]);
    }
}
