//! `delete`: what leaves the base.

use std::path::PathBuf;

use pikerag_knowledge::{CorpusWriter, SearchWriter};
use serde::Serialize;

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
        let names = self.names(&base).await?;
        let under = names.under(&request.paths).into_iter();
        let paths: Vec<String> = under.map(|file| file.path.clone()).collect();
        for path in &paths {
            let deleted = base.delete_file(path).await;
            deleted.map_err(|source| EngineError::NotDeleted { path: path.clone(), source })?;
        }
        base.refresh().await?;
        Ok(DeleteResponse { deleted: paths })
    }
}
