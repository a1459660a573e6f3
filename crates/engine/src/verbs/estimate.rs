//! `estimate`: what would indexing cost?

use std::path::PathBuf;

use pikerag_indexing::estimate::Estimate;
use pikerag_knowledge::{KnowledgeWriter, Structure};
use serde::Serialize;
use utoipa::ToSchema;

use crate::engine::Session;
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
    /// Whether these files alone count, and not what the base lacks besides.
    pub own_files: bool,
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

/// Counts what indexing would take; nothing is stored, and nothing is called.
///
/// # Errors
/// The base is there and cannot be read.
pub async fn estimate(session: &Session, request: &EstimateRequest) -> Result<EstimateResponse> {
    let base = if session.has_base() { Some(session.base().await?) } else { None };
    let names = match &base {
        Some(base) => session.names(base).await?,
        None => session.names_of_new_base()?,
    };
    let found = files::find(&request.paths, &names);
    let params = session.ingest_params(&request.with, &request.without, request.chunking);
    let base = base.map(|base| match request.own_files {
        true => base.pending_of(found.files.clone()),
        false => base,
    });
    let writer = base.as_ref().map(|base| base as &dyn KnowledgeWriter);
    let (reader, available) = (session.reader_at(names.root()), session.available());
    let counting = Box::pin(pikerag_indexing::estimate::estimate(
        writer,
        &reader,
        &found.files,
        &params,
        &available,
    ));
    let mut estimate = session.unless_cancelled(async { Ok(counting.await?) }).await?;
    estimate.unreadable.extend(found.left_out);
    let notices = session.settings().notices.clone();
    Ok(EstimateResponse { usd: session.price_of_estimate(&estimate), estimate, notices })
}
