//! Finds passages for a query and explains their scores.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::knowledge::Chunk;
use pikerag_engine::parts::SimilarityBy;
use pikerag_engine::{Notice, Recorded, SearchRequest, Session};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::{App, Caller};
use crate::problem::{Fault, JsonBody, Parts, Problem};

/// The largest number of hits of one search.
pub(crate) const MOST: usize = 200;

/// The result of a search.
#[derive(Serialize, ToSchema)]
pub(crate) struct SearchFound {
    /// Best first.
    pub(crate) hits: Vec<Found>,
    /// The measure of the hits' `similarity`. `words` for a search by words, without an embedder, or
    /// if the embedder does not know the language of the query.
    similarity_by: SimilarityBy,
    /// Notices about this search.
    notices: Vec<Notice>,
}

/// A passage that was found.
#[derive(Serialize, ToSchema)]
pub(crate) struct Found {
    /// Its score relative to the best hit of this search, which has 1.
    pub(crate) score: f64,
    /// How similar it is to the query, from 0 to 1, whatever else was found. It compares between
    /// searches of one base with the same `similarity_by`, and need not be in the order of the hits.
    pub(crate) similarity: f64,
    /// The components of its score, as the search computes it.
    parts: BTreeMap<String, f32>,
    /// The atom that led to it.
    #[schema(required)]
    atom: Option<String>,
    /// A link to the passage.
    pub(crate) url: String,
    /// The passage with its source, headings, page, span and rectangles.
    pub(crate) chunk: Chunk,
    /// The metadata of its document; empty if it has none.
    pub(crate) metadata: BTreeMap<String, String>,
    /// The name under which the document's file was uploaded; none for a file from the server's
    /// disk.
    #[schema(required)]
    sent_as: Option<String>,
}

/// Searches for passages.
#[utoipa::path(post, path = "/api/v1/bases/{base}/search", operation_id = "search", tag = "search", params(("base" = String, Path)),
    request_body = SearchRequest, responses((status = 200, body = SearchFound), (status = 400, body = Problem)))]
pub(crate) async fn search(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    JsonBody(request): JsonBody<SearchRequest>,
) -> Result<Json<SearchFound>, Problem> {
    let session = app.base(&caller, &base)?;
    Ok(Json(found(&app, &base, &session, &request).await?))
}

/// Searches for the other protocols as well.
pub(crate) async fn found(
    app: &App,
    base: &str,
    session: &Session,
    request: &SearchRequest,
) -> Result<SearchFound, Problem> {
    if request.k.is_some_and(|k| !(1..=MOST).contains(&k)) {
        return Err(Problem::bad_request(format!("`k` must be from 1 to {MOST}")));
    }
    app.within(&[&request.query], &request.filter.conditions)?;
    let most = app.live().settings.rerank_limit;
    if let Some(rerank) = request.rerank.filter(|rerank| most < *rerank) {
        return Err(Problem::new(422, "rerank-limit", Fault::Caller)
            .saying(format!("`rerank` is {rerank}, and one request reranks {most} hits at most"))
            .hint("`server.rerank_limit` sets the limit"));
    }
    let response = pikerag_engine::search(
        session,
        &SearchRequest { recorded: Recorded::Soon, ..request.clone() },
    )
    .await?;
    // Scores are comparable within one search only, and some have no upper bound.
    let best = response.hits.iter().map(|hit| f64::from(hit.score)).fold(0.0, f64::max);
    let hits = response.hits.into_iter().map(|hit| Found {
        score: if 0.0 < best { (f64::from(hit.score) / best).clamp(0.0, 1.0) } else { 0.0 },
        similarity: rounded(hit.similarity),
        url: app.permalink(base, hit.chunk.id),
        parts: hit.parts,
        atom: hit.atom,
        chunk: hit.chunk,
        metadata: hit.metadata,
        sent_as: hit.sent_as,
    });
    Ok(SearchFound {
        hits: hits.collect(),
        similarity_by: response.similarity_by,
        notices: response.notices,
    })
}

/// A similarity from 0 to 1, to the precision that it has. A cosine below 0 is no similarity.
fn rounded(similarity: f32) -> f64 {
    const STEPS: f64 = 1e4;
    (f64::from(similarity).clamp(0.0, 1.0) * STEPS).round() / STEPS
}
