//! Keeps the files of open models in one folder: `NAME.gguf`, with its checksum in
//! `NAME.gguf.sha256`.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::Serialize;

/// The folder of the files; it may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFolder(PathBuf);

/// A file that is complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptModel {
    /// The name of the model.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// Bytes of the file.
    pub bytes: u64,
}

const EXTENSION: &str = ".gguf";
/// The ending of a download that is not complete.
const PARTIAL: &str = ".partial";
/// The ending of a recorded checksum.
const CHECKSUM: &str = ".sha256";

impl ModelFolder {
    /// The folder at a path; nothing is created.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The file of a model, whether or not it exists; `None` for a name that is not plain, such as
    /// one that leads out of the folder.
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        is_plain(name).then(|| self.0.join(format!("{name}{EXTENSION}")))
    }

    /// The model of a name, if its file is here and complete.
    pub fn kept(&self, name: &str) -> Option<KeptModel> {
        let path = self.file(name)?;
        let file = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some(KeptModel { name: name.to_owned(), path, bytes: file.len() })
    }

    /// All models whose files are complete, by name.
    ///
    /// # Errors
    /// The folder exists and cannot be read.
    pub fn all(&self) -> io::Result<Vec<KeptModel>> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut models = Vec::new();
        for entry in entries {
            let file = entry?.file_name();
            let name = file.to_str().and_then(|file| file.strip_suffix(EXTENSION));
            models.extend(name.and_then(|name| self.kept(name)));
        }
        models.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(models)
    }

    /// Deletes the files of a model, also an incomplete one, its checksum and the log of its server.
    /// Returns the bytes
    /// that are free now; `None` if there was no file.
    ///
    /// # Errors
    /// A file cannot be deleted.
    pub fn remove(&self, name: &str) -> io::Result<Option<u64>> {
        let Some(file) = self.file(name) else { return Ok(None) };
        let mut freed = None;
        let log = file.with_extension("log");
        for path in [file.clone(), partial(&file), checksum_file(&file), log] {
            let bytes = fs::metadata(&path).map_or(0, |file| file.len());
            match fs::remove_file(&path) {
                Ok(()) => freed = Some(freed.unwrap_or(0) + bytes),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(freed)
    }

    /// The checksum that was recorded when the file of a model came, also if the file is gone.
    pub fn checksum(&self, name: &str) -> Option<String> {
        let text = fs::read_to_string(checksum_file(&self.file(name)?)).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }
}

/// Letters, digits, `.`, `_` and `-`, beginning with a letter or digit.
fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// The file of an incomplete download.
pub(super) fn partial(file: &Path) -> PathBuf {
    with_ending(file, PARTIAL)
}

/// Makes a complete download the model's file, and records its checksum.
pub(super) fn keep(partial: &Path, file: &Path, sha256: &str) -> io::Result<()> {
    fs::rename(partial, file)?;
    fs::write(checksum_file(file), format!("{sha256}\n"))
}

fn checksum_file(file: &Path) -> PathBuf {
    with_ending(file, CHECKSUM)
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_the_folder() {
        let folder = ModelFolder::new("models");
        assert_eq!(folder.file("qwen2.5-1.5b").unwrap(), Path::new("models/qwen2.5-1.5b.gguf"));
        for bad in ["", "..", "../a", "/a", "a/b", ".hidden", "a b", "-a"] {
            assert_eq!(folder.file(bad), None, "{bad}");
        }
    }

    #[test]
    fn complete_files_are_listed_and_removed_with_all_that_belongs_to_them() {
        let home = tempfile::tempdir().unwrap();
        let folder = ModelFolder::new(home.path().join("models"));
        assert_eq!(folder.all().unwrap(), []);
        fs::create_dir(folder.path()).unwrap();
        let file = folder.file("b").unwrap();
        fs::write(partial(&file), "GGUF").unwrap();
        assert_eq!(folder.all().unwrap(), []);
        keep(&partial(&file), &file, "abc").unwrap();
        fs::write(folder.path().join("note.txt"), "").unwrap();
        fs::write(folder.file("a").unwrap(), "GGUF+").unwrap();
        let names: Vec<_> =
            folder.all().unwrap().into_iter().map(|it| (it.name, it.bytes)).collect();
        assert_eq!(names, [("a".to_owned(), 5), ("b".to_owned(), 4)]);
        assert_eq!(folder.checksum("b").as_deref(), Some("abc"));
        assert_eq!(folder.checksum("a"), None);
        assert_eq!(folder.remove("b").unwrap(), Some(8));
        assert_eq!(folder.remove("b").unwrap(), None);
        assert_eq!((folder.kept("b"), folder.checksum("b")), (None, None));
    }
}
