//! `status`: what is in the base, and what is left to do.

use std::path::PathBuf;

use pikerag_knowledge::{BaseSummary, KnowledgeBase};
use pikerag_store::Originals;
use serde::Serialize;

use crate::engine::Engine;
use crate::error::Result;

/// What the base holds.
#[derive(Clone, Debug, Serialize)]
pub struct StatusResponse {
    /// The folder that holds it.
    pub base: PathBuf,
    /// Its nodes, its ledger, and what waits.
    pub summary: BaseSummary,
    /// Bytes of files that are kept.
    pub originals: Originals,
}

impl Engine {
    /// Counts what the base holds.
    ///
    /// # Errors
    /// There is no base, or it cannot be read.
    pub async fn status(&self) -> Result<StatusResponse> {
        let base = self.base()?;
        let summary = base.summary().await?;
        let originals = base.originals().await?;
        Ok(StatusResponse { base: base.folder().to_owned(), summary, originals })
    }
}
