//! `sent`: which files came over the wire, and which of them has the base not read?

use std::collections::HashSet;
use std::path::PathBuf;

use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::Session;
use crate::error::{EngineError, Result};
use crate::uploads::{UploadError, Uploads};

/// A file that came over the wire, and is whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SentFile {
    /// As it was called when it was sent.
    pub file: String,
    /// Its bytes.
    pub bytes: u64,
    /// Whether the base holds it, in this version or an older one. One that does not waits to be indexed, or could not be read.
    pub in_base: bool,
    /// Where it lies.
    #[serde(skip)]
    pub at: PathBuf,
}

/// Why it is not told what was sent.
#[derive(Debug, thiserror::Error)]
pub enum SentError {
    /// The base cannot be read.
    #[error(transparent)]
    Base(#[from] EngineError),
    /// What was sent cannot be listed.
    #[error(transparent)]
    Uploads(#[from] UploadError),
}

/// The files that came over the wire for this base, by name; there need be no base yet.
///
/// # Errors
/// They cannot be listed, or the base cannot be read.
pub async fn sent(session: &Session) -> Result<Vec<SentFile>, SentError> {
    let held = held_places(session).await?;
    let uploads = Uploads::beside(session.folder());
    let all = tokio::task::spawn_blocking(move || uploads.all()).await;
    let all = all.map_err(|error| UploadError::NotListed(std::io::Error::other(error)))??;
    let sent = all.into_iter().map(|(file, at, bytes)| SentFile {
        in_base: held.contains(&at),
        file,
        bytes,
        at,
    });
    Ok(sent.collect())
}

/// What files were called when they were sent, in their order, by the names that the base has, or would have, for them; none for
/// those that were not sent.
///
/// # Errors
/// There is no base, or it cannot be read.
pub async fn sent_as(session: &Session, files: &[&str]) -> Result<Vec<Option<String>>> {
    let base = session.base().await?;
    let names = session.names(&base).await?;
    let uploads = Uploads::beside(session.folder());
    Ok(files.iter().map(|file| uploads.name_of(&names.place(file))).collect())
}

/// Where the files of the base lie, or lay.
async fn held_places(session: &Session) -> Result<HashSet<PathBuf>> {
    let base = match session.base().await {
        Ok(base) => base,
        Err(EngineError::NoBase { .. }) => return Ok(HashSet::new()),
        Err(error) => return Err(error),
    };
    let names = session.names(&base).await?;
    Ok(names.records().iter().map(|file| names.place(&file.path)).collect())
}
