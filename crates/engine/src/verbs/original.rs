//! Stores and returns the original bytes of files (`original`).

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use pikerag_knowledge::uri::file_path;
use pikerag_knowledge::{FileRecord, Which, file_part};
use serde::Serialize;
use utoipa::ToSchema;

use crate::base::Base;
use crate::engine::Session;
use crate::error::{EngineError, Missing, Result};
use crate::names::Names;
use crate::presence::Presence;
use crate::upload_reader::StoredFiles;

/// A file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginalResponse {
    /// The file, as the base names it.
    pub file: String,
    /// BLAKE3 of the bytes, in hexadecimal.
    pub hash: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// The original bytes that indexing stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct KeptOriginals {
    /// The number of files whose bytes were stored.
    pub kept: usize,
    /// Files that are too large to store, by path.
    pub too_large: Vec<String>,
}

/// The bytes of a file of the base, as they were when it was indexed. The path is relative to the
/// working folder; [`original_named`] takes names.
///
/// # Errors
/// [`EngineError::NotFound`].
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let path = std::path::Path::new("handbook/sensor.pdf");
/// let original = pikerag_engine::original(session, path).await?;
/// std::fs::write("sensor.pdf", &original.bytes)?;
/// # Ok(())
/// # }
/// ```
pub async fn original(session: &Session, path: &Path) -> Result<OriginalResponse> {
    let base = session.base().await?;
    let names = session.names(&base).await?;
    let name = names.shown(&names.absolute(path));
    let Some(file) = base.files(Which::Of(&[name.as_str()])).await?.pop() else {
        return Err(EngineError::NotFound { what: Missing::File, name });
    };
    stored(&base, file).await
}

/// The same bytes of a file that a program names: by the URI of a document in it, by the name that
/// the base uses, by the name of its upload, or by its absolute path. The working folder has no
/// effect.
///
/// # Errors
/// [`EngineError::NotFound`]; [`EngineError::UnclearFile`] if an upload has the name of another
/// file.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let original = pikerag_engine::original_named(session, "handbook/sensor.pdf").await?;
/// std::fs::write("sensor.pdf", &original.bytes)?;
/// # Ok(())
/// # }
/// ```
pub async fn original_named(session: &Session, name: &str) -> Result<OriginalResponse> {
    let base = session.base().await?;
    let names = session.names(&base).await?;
    let (files, whole) = (names.called_files(names.uploads()), file_part(name));
    let file = match files.file(name) {
        // The URI of a document inside a file.
        Err(EngineError::NotFound { .. }) if whole != name => files.file(whole)?,
        found => found?,
    };
    stored(&base, file.clone()).await
}

async fn stored(base: &Base, file: FileRecord) -> Result<OriginalResponse> {
    let FileRecord { path, hash, .. } = file;
    match base.original(&hash).await? {
        Some(bytes) => Ok(OriginalResponse { file: path, hash, bytes }),
        None => Err(EngineError::NotFound { what: Missing::Original, name: path }),
    }
}

/// The files on this machine that documents were read from, by the documents' URIs, in order.
/// `None` if the file is gone, its place is unknown, or it was uploaded: the base keeps uploads for
/// itself.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// for file in pikerag_engine::local_files(session, &["handbook/sensor.pdf"]).await? {
///     println!("{file:?}");
/// }
/// # Ok(())
/// # }
/// ```
pub async fn local_files(session: &Session, uris: &[&str]) -> Result<Vec<Option<PathBuf>>> {
    let base = session.base().await?;
    let names = session.names(&base).await?;
    let (mut disk, uploads) = (names.disk(), names.uploads());
    let mut files = Vec::new();
    for uri in uris {
        let name = file_path(uri);
        let place = names.place(&name);
        let is_there = names.unclear_reason(&name).is_none()
            && disk.presence_of(&place) == Presence::There
            && uploads.name_of(&place).is_none();
        files.push(is_there.then_some(place));
    }
    Ok(files)
}

/// Stores the bytes of those files that are in the base without their bytes, if they are still the
/// bytes that were read.
pub(super) async fn keep_originals(
    session: &Session,
    base: &Base,
    names: &Names,
    given: &[String],
) -> Result<KeptOriginals> {
    let mut report = KeptOriginals::default();
    let Some(most) = session.settings().originals else { return Ok(report) };
    let given: HashSet<&String> = given.iter().collect();
    let stored = StoredFiles::of(names);
    for file in base.files_without_original().await? {
        if !given.contains(&file.path) {
            continue;
        }
        let of_upload = match &stored {
            Some(stored) => stored.read(&file.path, most).await?,
            None => None,
        };
        let path = names.place(&file.path);
        let read = tokio::task::spawn_blocking(move || -> std::io::Result<Vec<u8>> {
            if let Some(bytes) = of_upload {
                return Ok(bytes);
            }
            let mut bytes = Vec::new();
            std::fs::File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
            Ok(bytes)
        });
        // The file was read a moment ago. If it has changed or is gone, the next run stores it.
        let Ok(bytes) = read.await.map_err(std::io::Error::from)? else { continue };
        if most < bytes.len() as u64 {
            report.too_large.push(file.path);
        } else if blake3::hash(&bytes).to_hex().as_str() == file.hash
            && base.keep_original(&file.hash, bytes).await?
        {
            report.kept += 1;
        }
    }
    Ok(report)
}
