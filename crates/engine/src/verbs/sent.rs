//! `sent`: which files came over the wire, and which of them has the base not read?

use std::collections::HashSet;
use std::path::PathBuf;

use pikerag_coordinate::ingest::FileError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::uploads::Uploads;

/// A file that came over the wire, and is whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SentFile {
    /// As it was called when it was sent.
    pub file: String,
    /// Its bytes.
    pub bytes: u64,
    /// Whether the base holds it, in this version or an older one. One that does not waits to be indexed, or could not be read.
    pub in_base: bool,
}

impl Engine {
    /// The files that came over the wire for this base, by name; there need be no base yet.
    ///
    /// # Errors
    /// [`EngineError::File`]: they cannot be listed; or the base cannot be read.
    pub async fn sent(&self) -> Result<Vec<SentFile>> {
        let held: HashSet<PathBuf> = match self.files().await {
            Ok(response) => response.files.into_iter().map(|file| file.path).collect(),
            Err(EngineError::NoBase { .. }) => HashSet::new(),
            Err(error) => return Err(error),
        };
        let uploads = Uploads::beside(&self.settings().base);
        let all = uploads.all().map_err(|error| EngineError::File {
            file: uploads.folder().display().to_string(),
            source: FileError::Unreadable { reason: error.to_string() },
        })?;
        let sent = all.into_iter().map(|(file, at, bytes)| SentFile {
            in_base: held.contains(&at),
            file,
            bytes,
        });
        Ok(sent.collect())
    }
}
