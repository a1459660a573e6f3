//! Estimates the cost of indexing (`estimate`).

use std::path::PathBuf;
use std::sync::Arc;

use pikerag_indexing::estimate::Estimate;
use pikerag_knowledge::{KnowledgeWriter, Structure};
use pikerag_sources::DatabaseUrl;
use serde::Serialize;
use utoipa::ToSchema;

use crate::databases::Databases;
use crate::engine::Session;
use crate::error::Result;
use crate::files::{self, CostlyFile, OmittedFiles, by_kind};
use crate::notice::Notice;
use crate::settings::{Chunking, FileChoice};

/// The files to index and the changes to the settings.
#[derive(Clone, Debug)]
pub struct EstimateRequest {
    /// Files, and folders with everything below them.
    pub paths: Vec<PathBuf>,
    /// Databases whose tables are read, as the settings choose them.
    pub databases: Vec<DatabaseUrl>,
    /// The structures to build over all documents together.
    pub with: Vec<Structure>,
    /// The structures to stop maintaining.
    pub without: Vec<Structure>,
    /// The method that decides where chunks end.
    pub chunking: Option<Chunking>,
    /// The files to take from folders, besides the settings.
    pub choice: FileChoice,
    /// Whether only these files count, not the other pending work of the base.
    pub own_files: bool,
}

/// The estimated cost of indexing.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct EstimateResponse {
    /// Calls and tokens, in total and by role.
    pub estimate: Estimate,
    /// US dollars, if the prices are known.
    #[schema(required)]
    pub usd: Option<f64>,
    /// The files that would cost most, at most five, the most expensive one first.
    pub costliest: Vec<CostlyFile>,
    /// Files and folders that would not be taken from the given folders, by kind.
    pub omitted: Vec<OmittedFiles>,
    /// Notices about the estimate.
    #[serde(skip)]
    pub notices: Vec<Notice>,
}

/// Estimates the cost of indexing. It stores and calls nothing.
///
/// # Errors
/// The base exists and cannot be read.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::knowledge::Structure;
/// use pikerag_engine::settings::FileChoice;
/// use pikerag_engine::{EstimateRequest, estimate};
///
/// let request = EstimateRequest {
///     paths: vec!["handbook".into()],
///     databases: Vec::new(),
///     with: vec![Structure::Graph],
///     without: Vec::new(),
///     chunking: None,
///     choice: FileChoice::default(),
///     own_files: true,
/// };
/// let response = estimate(session, &request).await?;
/// println!("{} calls, US$ {:?}", response.estimate.calls, response.usd);
/// # Ok(())
/// # }
/// ```
pub async fn estimate(session: &Session, request: &EstimateRequest) -> Result<EstimateResponse> {
    let base = if session.has_base().await? { Some(session.base().await?) } else { None };
    let names = match &base {
        Some(base) => session.names(base).await?,
        None => session.names_of_new_base()?,
    };
    let choice = session.file_choice(&request.choice);
    let mut found = files::find(&request.paths, &names, &choice);
    let opening = async { Ok(Box::pin(Databases::open(session, &request.databases)).await) };
    let databases = session.unless_cancelled(opening).await?;
    found.files = databases.before(found.files);
    found.left_out.extend_from_slice(&databases.left_out);
    let mut notices = session.settings().notices.clone();
    notices.extend_from_slice(&databases.notices);
    let params = session.ingest_params(&request.with, &request.without, request.chunking);
    let base = base.map(|base| match request.own_files {
        true => base.pending_of(found.files.clone()),
        false => base,
    });
    let writer = base.as_ref().map(|base| &**base as &dyn KnowledgeWriter);
    let known = base.as_ref().map(|base| base.arc() as Arc<dyn KnowledgeWriter>);
    let reader = databases.reader(Arc::new(session.reader_of(&names)), known);
    let available = session.available();
    let counting = Box::pin(pikerag_indexing::estimate::estimate(
        writer,
        &reader,
        &found.files,
        &params,
        &available,
    ));
    let mut estimate = session.unless_cancelled(async { Ok(counting.await?) }).await?;
    estimate.unreadable.extend(found.left_out);
    let costliest = std::mem::take(&mut estimate.costliest).into_iter();
    let costliest = costliest.map(|cost| {
        let at = names.place(&cost.file);
        CostlyFile::inspected(cost, &at, &choice)
    });
    Ok(EstimateResponse {
        usd: session.price_of_estimate(&estimate),
        costliest: costliest.collect(),
        omitted: by_kind(&found.omitted),
        notices,
        estimate,
    })
}
