//! Lists the uploaded files, and whether the base has read them (`sent`).

use std::collections::HashSet;
use std::path::PathBuf;

use serde::Serialize;
use utoipa::ToSchema;

use super::CreateBase;
use crate::engine::Session;
use crate::error::{EngineError, Result};
use crate::uploads::UploadError;

/// A completely uploaded file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SentFile {
    /// The name under which it was uploaded.
    pub file: String,
    /// Its bytes.
    pub bytes: u64,
    /// Whether the base contains it, in this version or an older one. Otherwise it waits for
    /// indexing or could not be read.
    pub in_base: bool,
    /// The path of the file.
    #[serde(skip)]
    pub at: PathBuf,
}

/// The reason why uploads cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum SentError {
    /// The base cannot be read.
    #[error(transparent)]
    Base(#[from] EngineError),
    /// The uploads cannot be listed.
    #[error(transparent)]
    Uploads(#[from] UploadError),
}

/// The uploaded files of this base, by name; the base need not exist yet.
///
/// # Errors
/// They cannot be listed, or the base cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> Result<(), pikerag_engine::SentError> {
/// for file in pikerag_engine::sent(session).await?.iter().filter(|file| !file.in_base) {
///     println!("{} ({} bytes) is not in the base", file.file, file.bytes);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn sent(session: &Session) -> Result<Vec<SentFile>, SentError> {
    let held = held_places(session).await?;
    let all = session.uploads(CreateBase::No).await?.all().await?;
    let sent = all.into_iter().map(|(file, at, bytes)| SentFile {
        in_base: held.contains(&at),
        file,
        bytes,
        at,
    });
    Ok(sent.collect())
}

/// The upload names of files, in order. Files are given by their names in the base; the result is
/// `None` for files that were not uploaded.
///
/// # Errors
/// There is no base, or it cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let files = ["law.uploads/act.pdf", "handbook/sensor.md"];
/// let names = pikerag_engine::sent_as(session, &files).await?;
/// for (file, name) in files.iter().zip(names) {
///     println!("{file}: {}", name.as_deref().unwrap_or("not uploaded"));
/// }
/// # Ok(())
/// # }
/// ```
pub async fn sent_as(session: &Session, files: &[&str]) -> Result<Vec<Option<String>>> {
    let base = session.base().await?;
    let names = session.names(&base).await?;
    let uploads = names.uploads();
    Ok(files.iter().map(|file| uploads.name_of(&names.place(file))).collect())
}

/// The places of the base's files, existing or not.
async fn held_places(session: &Session) -> Result<HashSet<PathBuf>> {
    let base = match session.base().await {
        Ok(base) => base,
        Err(EngineError::NoBase { .. }) => return Ok(HashSet::new()),
        Err(error) => return Err(error),
    };
    let names = session.names(&base).await?;
    Ok(names.records().iter().map(|file| names.place(&file.path)).collect())
}
