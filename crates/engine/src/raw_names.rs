//! Names files whose names on disk are not UTF-8, and finds them by these names.
//!
//! A base names files in UTF-8. Disks from Windows in China may have names in GBK: each part of such
//! a path is decoded alone, so that a name depends on no other file. On the way back, the part is
//! encoded again. A file whose name leads to another file or to none has no name.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use pikerag_unpack::encoding::{decode_name, encode_name};

/// The path as text, with decoded parts; `None` if a part is valid in no encoding.
pub(crate) fn written(path: &Path) -> Option<String> {
    if let Some(name) = path.to_str() {
        return Some(name.to_owned());
    }
    let mut written = PathBuf::new();
    for part in path.components() {
        let name = decode_name(part.as_os_str().as_bytes())?;
        // A name that would lead to another folder is none.
        if name != "/" && name.contains(['/', '\0']) {
            return None;
        }
        written.push(name);
    }
    written.into_os_string().into_string().ok()
}

/// The path of the file with this name below a folder. If there is no such file, the path that the
/// name spells.
pub(crate) fn path_of(folder: &Path, name: &str) -> PathBuf {
    let plain = folder.join(name);
    // Decoded names have letters beyond ASCII.
    if name.is_ascii() || plain.symlink_metadata().is_ok() {
        return plain;
    }
    walk(folder, name, |_| true)
}

/// The folders that contain names other than UTF-8; each is listed once.
#[derive(Default)]
pub(crate) struct RawFolders(HashMap<PathBuf, bool>);

impl RawFolders {
    /// The path of the file with this name below a folder, as [`path_of`] finds it. It lists folders
    /// instead of looking for each file, because a disk may be far away.
    pub(crate) fn path_of(&mut self, folder: &Path, name: &str) -> PathBuf {
        if name.is_ascii() {
            return folder.join(name);
        }
        walk(folder, name, |folder| {
            *self.0.entry(folder.to_owned()).or_insert_with(|| has_raw_names(folder))
        })
    }
}

/// A folder that cannot be listed contains no file that could be read.
fn has_raw_names(folder: &Path) -> bool {
    let mut entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.any(|entry| entry.file_name().to_str().is_none())
}

/// Follows a name part by part; a part is encoded again if its folder may contain raw names.
fn walk(folder: &Path, name: &str, mut may_be_raw: impl FnMut(&Path) -> bool) -> PathBuf {
    let name = Path::new(name);
    let mut path = if name.is_absolute() { PathBuf::new() } else { folder.to_owned() };
    for part in name.components() {
        let part = part.as_os_str();
        let is_ascii = part.as_bytes().is_ascii();
        let raw = if is_ascii || !may_be_raw(&path) { None } else { raw_entry(&path, part) };
        match raw {
            Some(raw) => path = raw,
            None => path.push(part),
        }
    }
    path
}

/// The entry of a folder whose name on disk is not UTF-8 and is decoded to this name. An entry that
/// has the name in UTF-8 has precedence.
fn raw_entry(folder: &Path, name: &OsStr) -> Option<PathBuf> {
    let exists = |path: &PathBuf| path.symlink_metadata().is_ok();
    if exists(&folder.join(name)) {
        return None;
    }
    let encoded = encode_name(name.to_str()?).into_iter();
    encoded.map(|raw| folder.join(OsStr::from_bytes(&raw))).find(exists)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `报告` in GBK.
    const REPORT: &[u8] = b"\xb1\xa8\xb8\xe6";

    fn raw(name: &[u8]) -> &OsStr {
        OsStr::from_bytes(name)
    }

    #[test]
    fn names_in_gbk_lead_to_their_files_and_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(raw(REPORT)).join(raw(&[REPORT, b".md"].concat()));
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::write(&file, "x").unwrap();
        let below = file.strip_prefix(folder.path()).unwrap();
        assert_eq!(written(below).as_deref(), Some("报告/报告.md"));
        assert_eq!(path_of(folder.path(), "报告/报告.md"), file);
        assert_eq!(RawFolders::default().path_of(folder.path(), "报告/报告.md"), file);
        let whole = written(&file).unwrap();
        assert_eq!(path_of(Path::new(""), &whole), file);
        // A name that no file has stays as it is spelled.
        let none = folder.path().join("合同.md");
        assert_eq!(path_of(folder.path(), "合同.md"), none);
    }

    #[test]
    fn names_in_utf8_have_precedence() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(raw(REPORT)), "in GBK").unwrap();
        fs::write(folder.path().join("报告"), "in UTF-8").unwrap();
        let path = path_of(folder.path(), "报告");
        assert_eq!(path, folder.path().join("报告"));
        assert_eq!(RawFolders::default().path_of(folder.path(), "报告"), path);
    }

    #[test]
    fn names_in_no_encoding_are_not_decoded() {
        assert_eq!(written(Path::new(raw("报\u{544a}x".as_bytes()))).as_deref(), Some("报告x"));
        let damaged = [b"\xff".as_slice(), "检索增强生成的系统".as_bytes()].concat();
        assert_eq!(written(Path::new(raw(&damaged))), None);
    }
}
