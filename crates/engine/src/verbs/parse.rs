//! `parse`: what does reading make of a file?

use std::path::PathBuf;

use pikerag_coordinate::ingest::{FileError, FileReader};
use pikerag_parse::Parsed;

use crate::engine::Engine;
use crate::error::{EngineError, Result};

/// Which file to read.
#[derive(Clone, Debug)]
pub struct ParseRequest {
    /// The file to read; nothing is stored.
    pub path: PathBuf,
}

impl Engine {
    /// Reads a file as indexing does, and stores nothing.
    ///
    /// # Errors
    /// [`EngineError::NotParsed`].
    pub async fn parse(&self, request: &ParseRequest) -> Result<Parsed> {
        let path = request.path.clone();
        let Some(name) = request.path.to_str() else {
            return Err(EngineError::NotParsed { path, source: FileError::NotUtf8 });
        };
        let reader = self.reader();
        let reading = async {
            let read = reader.parse(name).await;
            read.map(|read| read.parsed).map_err(|source| EngineError::NotParsed { path, source })
        };
        self.unless_cancelled(reading).await
    }
}
