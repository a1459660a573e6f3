//! Packs a folder reproducibly: the archive depends only on the content, not on the time or the
//! user.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};
use walkdir::WalkDir;

/// Packs a folder under its own name, sorted by name, with the time `time` (seconds since 1970) and
/// owner root.
pub(super) fn pack(folder: &Path, time: u64, archive: &Path) -> Result<()> {
    let above = folder.parent().context("a folder is in no folder")?;
    let file = File::create(archive);
    let file = file.with_context(|| format!("cannot write {}", archive.display()))?;
    let mut packed = Builder::new(GzBuilder::new().mtime(0).write(file, Compression::best()));
    for entry in WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
        let name = entry.path().strip_prefix(above)?;
        let bytes = match entry.file_type().is_dir() {
            true => Vec::new(),
            false => fs::read(entry.path())
                .with_context(|| format!("cannot read {}", entry.path().display()))?,
        };
        let is_run = name.parent().is_some_and(|parent| parent.ends_with("bin"));
        let mut header = Header::new_gnu();
        header.set_mtime(time);
        header.set_size(bytes.len() as u64);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mode(if entry.file_type().is_dir() || is_run { 0o755 } else { 0o644 });
        if entry.file_type().is_dir() {
            header.set_entry_type(EntryType::Directory);
        }
        packed
            .append_data(&mut header, name, bytes.as_slice())
            .with_context(|| format!("cannot pack {}", name.display()))?;
    }
    let whole = packed.into_inner().and_then(flate2::write::GzEncoder::finish);
    whole.with_context(|| format!("cannot write {}", archive.display())).map(drop)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::pack;

    #[test]
    fn the_same_folder_gives_the_same_archive() {
        let mut archives = Vec::new();
        for names in [["b", "bin/a"], ["bin/a", "b"]] {
            let dist = tempfile::tempdir().unwrap();
            let folder = dist.path().join("it");
            std::fs::create_dir_all(folder.join("bin")).unwrap();
            for name in names {
                std::fs::write(folder.join(name), name).unwrap();
            }
            let archive = dist.path().join("it.tar.gz");
            pack(&folder, 1_700_000_000, &archive).unwrap();
            archives.push(std::fs::read(archive).unwrap());
        }
        assert_eq!(archives[0], archives[1]);
        let unpacked = flate2::read::GzDecoder::new(archives[0].as_slice());
        let mut archive = tar::Archive::new(unpacked);
        let entries = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            let header = entry.header();
            let path = entry.path().unwrap().display().to_string();
            (path, header.mode().unwrap(), header.mtime().unwrap(), header.uid().unwrap())
        });
        let entries: Vec<_> = entries.collect();
        let entry = |path: &str, mode| (path.to_owned(), mode, 1_700_000_000, 0);
        assert_eq!(
            entries,
            [
                entry("it", 0o755),
                entry("it/b", 0o644),
                entry("it/bin", 0o755),
                entry("it/bin/a", 0o755)
            ]
        );
        assert!(pack(Path::new("/no/such/folder"), 0, Path::new("/no/such/archive")).is_err());
    }
}
