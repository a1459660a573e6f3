//! Passages for a query, each with how its score came about.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::knowledge::{Chunk, Condition, Filter};
use pikerag_engine::parts::Search;
use pikerag_engine::{Notice, Recorded, SearchRequest, Session};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::{App, Caller};
use crate::problem::{JsonBody, Parts, Problem};

/// Hits of one search, at most.
pub(crate) const MOST: usize = 200;

/// What to look for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchBody {
    /// What to look for; at least one word.
    pub(crate) query: String,
    /// How to look.
    #[serde(default)]
    pub(crate) by: Search,
    /// How many to find: 1 to 200; 8, if none is named.
    #[serde(default)]
    pub(crate) k: Option<usize>,
    /// How many of the hits are reranked; 0 for none. Else as the server is set.
    #[serde(default)]
    pub(crate) rerank: Option<usize>,
    /// What may be seen: conditions such as `folder=law`, `date>=2020`, all of which must fit.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub(crate) filter: Vec<Condition>,
}

/// What was found.
#[derive(Serialize, ToSchema)]
pub(crate) struct SearchFound {
    /// Best first.
    pub(crate) hits: Vec<Found>,
    /// What to know besides.
    notices: Vec<Notice>,
}

/// A passage that was found.
#[derive(Serialize, ToSchema)]
pub(crate) struct Found {
    /// How well it fits beside the best hit of this search, which has 1.
    pub(crate) score: f64,
    /// What its score is made of, as the search counts it.
    parts: BTreeMap<String, f32>,
    /// The atom that led to it.
    #[schema(required)]
    atom: Option<String>,
    /// Where it can be looked at.
    pub(crate) url: String,
    /// The passage with its source, headings, page, span and rectangles.
    pub(crate) chunk: Chunk,
}

/// Looks for passages.
#[utoipa::path(post, path = "/api/v1/bases/{base}/search", tag = "search", params(("base" = String, Path)),
    request_body = SearchBody, responses((status = 200, body = SearchFound), (status = 400, body = Problem)))]
pub(crate) async fn search(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    JsonBody(body): JsonBody<SearchBody>,
) -> Result<Json<SearchFound>, Problem> {
    let session = app.base(&caller, &base)?;
    Ok(Json(found(&app, &base, &session, body).await?))
}

/// The same for other faces.
pub(crate) async fn found(
    app: &App,
    base: &str,
    session: &Session,
    body: SearchBody,
) -> Result<SearchFound, Problem> {
    let k = body.k.unwrap_or(8);
    if !(1..=MOST).contains(&k) {
        return Err(Problem::bad_request(format!("`k` must be from 1 to {MOST}")));
    }
    app.within(&[&body.query], &body.filter)?;
    let filter = Filter { conditions: body.filter };
    let (query, by, rerank) = (body.query, body.by, body.rerank);
    let recorded = Recorded::Soon;
    let request = SearchRequest { query, by, k, rerank, filter, recorded };
    let response = pikerag_engine::search(session, &request).await?;
    // Scores of one search are comparable with each other alone, and some have no upper bound.
    let best = response.hits.iter().map(|hit| f64::from(hit.score)).fold(0.0, f64::max);
    let hits = response.hits.into_iter().map(|hit| Found {
        score: if 0.0 < best { (f64::from(hit.score) / best).clamp(0.0, 1.0) } else { 0.0 },
        url: app.permalink(base, hit.chunk.id),
        parts: hit.parts,
        atom: hit.atom,
        chunk: hit.chunk,
    });
    Ok(SearchFound { hits: hits.collect(), notices: response.notices })
}
