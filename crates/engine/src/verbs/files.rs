//! `files`: which files is the base made of?

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Serialize;
use utoipa::ToSchema;

use super::status::same;
use crate::engine::Session;
use crate::error::Result;
use crate::presence::Presence;
use crate::uploads::Uploads;

/// The files that a base is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FilesResponse {
    /// The folder that names count from.
    pub root: PathBuf,
    /// By name.
    pub files: Vec<FileLine>,
}

/// A file of the base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FileLine {
    /// What it is called; its documents' URIs begin with it.
    pub name: String,
    /// Where it is, or was.
    #[schema(value_type = String)]
    pub path: PathBuf,
    /// What it was called when it came over the wire; none for one that lay on this machine.
    #[schema(required)]
    pub sent_as: Option<String>,
    /// Whether it is there.
    pub on_disk: OnDisk,
    /// Documents in it.
    pub documents: usize,
    /// Chunks of them.
    pub chunks: usize,
    /// BLAKE3 of the bytes that were read, in hexadecimal; empty where it is to be read again.
    pub hash: String,
    /// Other files with the same bytes, by name.
    pub same_as: Vec<String>,
}

/// Whether a file is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnDisk {
    /// Yes; whether it was changed since, indexing tells.
    There,
    /// No, the folder that would hold it shows.
    Gone,
    /// The folder that would hold it cannot be read, or may be a disk that is not mounted.
    Unclear,
}

/// Lists the files that the base is made of, as far as the caller may see them, and looks whether they are there.
///
/// # Errors
/// There is no base, or it cannot be read.
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
    let (mut disk, uploads) = (names.disk(), Uploads::beside(session.folder()));
    let mut files = Vec::new();
    for counts in base.file_counts().await? {
        let path = names.place(&counts.path);
        files.push(FileLine {
            on_disk: match disk.presence_of(&path) {
                Presence::There => OnDisk::There,
                Presence::Gone => OnDisk::Gone,
                Presence::Unclear(..) => OnDisk::Unclear,
            },
            sent_as: uploads.name_of(&path),
            path,
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
