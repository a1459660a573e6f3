//! `delete`: what leaves the base.

use std::path::PathBuf;

use pikerag_knowledge::{CorpusWriter, SearchWriter};
use serde::Serialize;

use super::index::under;
use crate::engine::Engine;
use crate::error::{EngineError, Result};

/// Files and folders whose documents, and all that was made of them, go.
#[derive(Clone, Debug)]
pub struct DeleteRequest {
    /// Files, and folders with all that lies below them; they need not exist any more.
    pub paths: Vec<PathBuf>,
}

/// The files whose documents are gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeleteResponse {
    /// The files; none, where nothing in the base is named so.
    pub deleted: Vec<String>,
}

impl Engine {
    /// Removes files and all that derives from them.
    ///
    /// # Errors
    /// There is no base, or it cannot be written.
    pub async fn delete(&self, request: &DeleteRequest) -> Result<DeleteResponse> {
        let base = self.base()?;
        let files = under(&base, &request.paths).await?;
        for file in &files {
            let deleted = base.delete_file(&file.path).await;
            deleted
                .map_err(|source| EngineError::NotDeleted { path: file.path.clone(), source })?;
        }
        base.refresh().await?;
        Ok(DeleteResponse { deleted: files.into_iter().map(|file| file.path).collect() })
    }
}
