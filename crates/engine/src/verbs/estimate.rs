//! `estimate`: what would indexing cost?

use std::path::PathBuf;

use pikerag_indexing::estimate::{Estimate, estimate};
use pikerag_knowledge::{KnowledgeWriter, Structure};
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::Engine;
use crate::error::Result;
use crate::files;
use crate::notice::Notice;
use crate::settings::Chunking;

/// What would be indexed, and how, besides what the settings say.
#[derive(Clone, Debug)]
pub struct EstimateRequest {
    /// Files, and folders with all that lies below them.
    pub paths: Vec<PathBuf>,
    /// What would be built over all documents together.
    pub with: Vec<Structure>,
    /// What would be kept up no longer.
    pub without: Vec<Structure>,
    /// Who would decide where chunks end.
    pub chunking: Option<Chunking>,
}

/// What indexing would cost.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct EstimateResponse {
    /// Calls and tokens, in all and by role.
    pub estimate: Estimate,
    /// US dollars, where the prices are known.
    #[schema(required)]
    pub usd: Option<f64>,
    /// What to know besides.
    #[serde(skip)]
    pub notices: Vec<Notice>,
}

impl Engine {
    /// Counts what indexing would take; nothing is stored, and nothing is called.
    ///
    /// # Errors
    /// The base is there and cannot be read.
    pub async fn estimate(&self, request: &EstimateRequest) -> Result<EstimateResponse> {
        let base = if self.has_base() { Some(self.base()?) } else { None };
        let names = match &base {
            Some(base) => self.names(base).await?,
            None => self.names_to_be()?,
        };
        let found = files::find(&request.paths, &names);
        let params = self.ingest_params(&request.with, &request.without, request.chunking);
        let writer = base.as_ref().map(|base| base as &dyn KnowledgeWriter);
        let (reader, available) = (self.reader_at(names.root()), self.available());
        let counting = Box::pin(estimate(writer, &reader, &found.files, &params, &available));
        let mut estimate = self.unless_cancelled(async { Ok(counting.await?) }).await?;
        estimate.unreadable.extend(found.left_out);
        let notices = self.settings().notices.clone();
        Ok(EstimateResponse { usd: self.price_of_estimate(&estimate), estimate, notices })
    }
}
