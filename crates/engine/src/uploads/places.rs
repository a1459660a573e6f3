//! Names uploaded files by places in one folder, so that no name leads elsewhere. A database that
//! stores the uploads uses the same names and places; then nothing lies in the folder.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::{FOLDER_ENDING, UploadError};
use crate::base::folder_of;

/// The most bytes of one part of a name, and the most parts.
const LONGEST: usize = 200;
const DEEPEST: usize = 16;

/// The folder of the uploads of a base.
#[derive(Clone, Debug)]
pub(crate) struct UploadPlaces {
    folder: PathBuf,
    /// The folder with links resolved, as the base knows its files.
    real: PathBuf,
}

impl UploadPlaces {
    /// The uploads of a base: `law.uploads` beside `law`, `pikerag.uploads` beside `.pikerag`.
    pub(crate) fn beside(base: &Path) -> Self {
        let base = folder_of(base);
        let folder = base.with_file_name(name_of_folder(&base));
        let real = fs::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
        Self { folder, real }
    }

    /// The places of uploads that a database stores, below the root of the base: files have the same
    /// names on every server.
    pub(crate) fn below(root: &Path, base: &Path) -> Self {
        let name = name_of_folder(&folder_of(base));
        // A base that a server made has this folder as its root, so that names do not contain it.
        let folder = if root.ends_with(&name) { root.to_owned() } else { root.join(name) };
        Self { real: folder.clone(), folder }
    }

    /// The folder of the uploads; it may not exist.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder with links resolved.
    pub(super) fn real(&self) -> &Path {
        &self.real
    }

    /// The place of a file of that name.
    ///
    /// # Errors
    /// [`UploadError::BadName`].
    pub(crate) fn place(&self, name: &str) -> Result<PathBuf, UploadError> {
        let bad = |reason| UploadError::BadName { name: name.to_owned(), reason };
        let mut place = self.folder.clone();
        let parts: Vec<&str> = name.split('/').collect();
        if DEEPEST < parts.len() {
            return Err(bad("too many folders"));
        }
        for part in parts {
            let is_one = Path::new(part).components().collect::<Vec<_>>();
            match is_one.as_slice() {
                [Component::Normal(own)] if own.as_encoded_bytes() == part.as_bytes() => {}
                _ => return Err(bad("each part must be the name of a file or a folder")),
            }
            if part.starts_with('.') {
                return Err(bad("hidden files are not read"));
            }
            if LONGEST < part.len() {
                return Err(bad("a part of it is too long"));
            }
            if part.chars().any(|c| c.is_control() || c == '\\' || c == '#') {
                return Err(bad("it contains a control character, `\\` or `#`"));
            }
            place.push(part);
        }
        Ok(place)
    }

    /// The name of an uploaded file, by its place; `None` for other files.
    pub(crate) fn name_of(&self, at: &Path) -> Option<String> {
        let parts: Option<Vec<&str>> = self.within(at)?.iter().map(|part| part.to_str()).collect();
        let name = parts?.join("/");
        self.place(&name).ok().map(|_| name)
    }

    /// The path of a file relative to the folder, whatever put it there; `None` for a file
    /// elsewhere.
    pub(super) fn within<'a>(&self, at: &'a Path) -> Option<&'a Path> {
        let path = at.strip_prefix(&self.real).or_else(|_| at.strip_prefix(&self.folder)).ok()?;
        let is_plain = |part| matches!(part, Component::Normal(_));
        (path.components().next().is_some() && path.components().all(is_plain)).then_some(path)
    }
}

fn name_of_folder(base: &Path) -> String {
    let name = base.file_name().and_then(|name| name.to_str()).unwrap_or("base");
    format!("{}{FOLDER_ENDING}", name.trim_start_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let uploads = UploadPlaces::beside(&folder.path().join(".pikerag"));
        assert!(uploads.folder().ends_with("pikerag.uploads"));
        let long = "a".repeat(300);
        let deep = ["a"; 40].join("/");
        for name in [
            "",
            ".",
            "..",
            "../x",
            "a/../b",
            "/etc/passwd",
            "a//b",
            "a/",
            ".hidden",
            "a/.b",
            "a\\b",
            "a\0b",
            "a\nb",
            "a#b",
            &long,
            &deep,
        ] {
            assert!(matches!(uploads.place(name), Err(UploadError::BadName { .. })), "{name:?}");
        }
        let place = uploads.place("law/中文 合同.pdf").unwrap();
        assert!(place.starts_with(uploads.folder()));
        assert_eq!(uploads.name_of(&place).as_deref(), Some("law/中文 合同.pdf"));
        for other in [uploads.folder().join("../x"), uploads.folder().to_owned(), "/etc".into()] {
            assert_eq!(uploads.name_of(&other), None, "{other:?}");
        }
    }

    #[test]
    fn uploads_of_a_database_are_named_as_those_of_a_folder() {
        let places = |address: &str| {
            UploadPlaces::below(Path::new("/srv/project"), Path::new(address))
                .place("a/b.md")
                .unwrap()
        };
        assert_eq!(places("postgres://db/x"), Path::new("/srv/project/pikerag.uploads/a/b.md"));
        assert_eq!(
            places("postgres://db/x?base=law"),
            Path::new("/srv/project/law.uploads/a/b.md")
        );
    }
}
