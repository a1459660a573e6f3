//! Writes a base to one file and restores it (`backup`, `restore`).

use std::path::{Path, PathBuf};

use pikerag_store::{Copied, DATABASE};
use serde::Serialize;

use crate::base::{address_of, shown_base};
use crate::engine::Session;
use crate::error::{EngineError, Missing, Result};

/// The result of a backup or a restore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BackupResponse {
    /// Folder or address of the base.
    pub base: PathBuf,
    /// The backup file.
    pub backup: PathBuf,
    /// The content of the backup.
    #[serde(flatten)]
    pub copied: Copied,
}

/// Writes the base to a new file, in one snapshot; other processes may write to the base meanwhile.
///
/// # Errors
/// The base does not exist, or the file exists already or cannot be written; no part of the file is
/// left.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let to = std::path::Path::new("law.backup");
/// let response = pikerag_engine::backup(session, to).await?;
/// println!("{} files in {} bytes", response.copied.files, response.copied.bytes);
/// # Ok(())
/// # }
/// ```
pub async fn backup(session: &Session, to: &Path) -> Result<BackupResponse> {
    let base = session.base().await?;
    let copied = base.backup(to).await?;
    Ok(BackupResponse { base: base.folder().to_owned(), backup: to.to_owned(), copied })
}

/// Makes the base from a backup, and builds the derived indexes.
///
/// # Errors
/// A base exists already, or the file is not a backup or is damaged.
///
/// # Examples
/// ```no_run
/// # async fn f(engine: &pikerag_engine::Engine) -> pikerag_engine::Result<()> {
/// let session = engine.session_over("law-restored".into());
/// let from = std::path::Path::new("law.backup");
/// let response = pikerag_engine::restore(&session, from).await?;
/// println!("{} has {} files", response.base.display(), response.copied.files);
/// # Ok(())
/// # }
/// ```
pub async fn restore(session: &Session, from: &Path) -> Result<BackupResponse> {
    if !from.exists() {
        return Err(EngineError::NotFound {
            what: Missing::Backup,
            name: from.display().to_string(),
        });
    }
    let copied = match address_of(session.folder())? {
        Some(location) => {
            let file = if from.is_dir() { from.join(DATABASE) } else { from.to_owned() };
            let database = session.engine().database(&location).await?;
            pikerag_postgres::import(&database, &location, &file).await?
        }
        None => {
            let (source, to) = (from.to_owned(), session.folder().to_owned());
            let restore = move || pikerag_store::Base::restore(&source, &to);
            tokio::task::spawn_blocking(restore).await.map_err(std::io::Error::from)??
        }
    };
    session.base().await?.refresh().await?;
    Ok(BackupResponse { base: shown_base(session.folder()), backup: from.to_owned(), copied })
}
