//! Lists the files of the base (`files`).

use std::collections::HashMap;
use std::path::PathBuf;

use pikerag_knowledge::uri::is_relation;
use serde::Serialize;
use utoipa::ToSchema;

use super::status::same;
use crate::engine::Session;
use crate::error::Result;
use crate::presence::Presence;

/// The files of a base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FilesResponse {
    /// The folder that names are relative to.
    pub root: PathBuf,
    /// The files, by name.
    pub files: Vec<FileLine>,
}

/// A file of the base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FileLine {
    /// The name; its documents' URIs begin with it.
    pub name: String,
    /// The place where it is or was.
    #[schema(value_type = String)]
    pub path: PathBuf,
    /// The name under which it was uploaded; none for a file from this machine.
    #[schema(required)]
    pub sent_as: Option<String>,
    /// Whether it exists.
    pub on_disk: OnDisk,
    /// Documents in the file.
    pub documents: usize,
    /// Chunks of the documents.
    pub chunks: usize,
    /// BLAKE3 of the bytes that were read, in hexadecimal; empty if the file must be read again.
    pub hash: String,
    /// Other files with the same bytes, by name.
    pub same_as: Vec<String>,
}

/// Whether a file exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnDisk {
    /// It exists. Indexing detects whether it has changed.
    There,
    /// It does not exist, as its folder shows.
    Gone,
    /// It is unknown: its folder cannot be read, or may be a disk that is not mounted.
    Unclear,
}

/// Lists the files of the base that the caller may see, and checks whether they exist.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::{OnDisk, files};
///
/// let response = files(session).await?;
/// for file in response.files.iter().filter(|file| file.on_disk == OnDisk::Gone) {
///     println!("{} is gone; the base answers from its {} chunks", file.name, file.chunks);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn files(session: &Session) -> Result<FilesResponse> {
    let base = session.counted_base().await?;
    let names = session.names(&base).await?;
    let hashes: HashMap<&str, &str> =
        names.records().iter().map(|file| (file.path.as_str(), file.hash.as_str())).collect();
    let mut same_as: HashMap<String, Vec<String>> = HashMap::new();
    for group in same(&names) {
        for name in &group {
            let others = group.iter().filter(|other| *other != name).cloned();
            same_as.insert(name.clone(), others.collect());
        }
    }
    let (mut disk, uploads) = (names.disk(), names.uploads());
    let mut files = Vec::new();
    for counts in base.file_counts().await? {
        let path = names.place(&counts.path);
        files.push(FileLine {
            on_disk: match disk.presence_of(&path) {
                // Whether a table still exists is known only while its database is read.
                _ if is_relation(&counts.path) => OnDisk::There,
                Presence::There => OnDisk::There,
                Presence::Gone => OnDisk::Gone,
                Presence::Unclear(..) => OnDisk::Unclear,
            },
            sent_as: uploads.name_of(&path),
            path: names.shown_place(&counts.path),
            documents: counts.documents,
            chunks: counts.chunks,
            hash: hashes
                .get(counts.path.as_str())
                .map(|hash| (*hash).to_owned())
                .unwrap_or_default(),
            same_as: same_as.remove(&counts.path).unwrap_or_default(),
            name: counts.path,
        });
    }
    Ok(FilesResponse { root: names.root().to_owned(), files })
}

/// A file of the base that a program named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The name that the base uses.
    pub name: String,
    /// The place where it is or was.
    pub path: PathBuf,
}

/// The files that a program names, in the given order: by the names or URIs that the base uses, by
/// the names of their uploads, or by their absolute paths. The working folder has no effect.
///
/// # Errors
/// [`crate::EngineError::NotFound`]; [`crate::EngineError::UnclearFile`] if an upload has the name
/// of another file. There is no base, or the caller sees only a part of it.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// for file in pikerag_engine::named_files(session, &["act.pdf"]).await? {
///     println!("{} is {}", file.name, file.path.display());
/// }
/// # Ok(())
/// # }
/// ```
pub async fn named_files(session: &Session, called: &[&str]) -> Result<Vec<NamedFile>> {
    find_files(session, called).await?.into_iter().collect()
}

/// As [`named_files`], with an error for each name that is not one of one file. The base is read
/// once for all names, and its files are compared with all names in one pass.
///
/// # Errors
/// There is no base, or the caller sees only a part of it.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// for file in pikerag_engine::find_files(session, &["act.pdf", "gone.pdf"]).await? {
///     println!("{file:?}");
/// }
/// # Ok(())
/// # }
/// ```
pub async fn find_files(session: &Session, called: &[&str]) -> Result<Vec<Result<NamedFile>>> {
    let base = session.base().await?;
    let names = session.names(&base).await?;
    let files = names.called_files(names.uploads());
    let found = called.iter().map(|name| {
        let file = files.file(name)?;
        Ok(NamedFile { name: file.path.clone(), path: names.place(&file.path) })
    });
    Ok(found.collect())
}
