//! `backup` and `restore`: a base as one file, and back.

use std::path::{Path, PathBuf};

use pikerag_store::{Base, Copied};
use serde::Serialize;

use crate::engine::Session;
use crate::error::{EngineError, Missing, Result};

/// What was copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BackupResponse {
    /// Folder of the base.
    pub base: PathBuf,
    /// The other end: the backup.
    pub backup: PathBuf,
    /// What it holds.
    #[serde(flatten)]
    pub copied: Copied,
}

/// Writes the base to a new file, in one snapshot, whoever writes to it meanwhile.
///
/// # Errors
/// There is no base, or the file is there already or cannot be written: nothing is left of it then.
pub async fn backup(session: &Session, to: &Path) -> Result<BackupResponse> {
    let base = session.base().await?;
    let copied = base.backup(to).await?;
    Ok(BackupResponse { base: base.folder().to_owned(), backup: to.to_owned(), copied })
}

/// Makes the base of a backup, and what is derived from it.
///
/// # Errors
/// There is a base already, or the backup is none, or is damaged.
pub async fn restore(session: &Session, from: &Path) -> Result<BackupResponse> {
    if !from.exists() {
        return Err(EngineError::NotFound {
            what: Missing::Backup,
            name: from.display().to_string(),
        });
    }
    let folder = session.folder().to_owned();
    let (source, to) = (from.to_owned(), folder.clone());
    let copied = tokio::task::spawn_blocking(move || Base::restore(&source, &to)).await;
    let copied = copied.map_err(std::io::Error::from)??;
    pikerag_knowledge::SearchWriter::refresh(&session.base().await?).await?;
    Ok(BackupResponse { base: folder, backup: from.to_owned(), copied })
}
