//! Serves `/retrieval`: a base as external knowledge of Dify.

mod conditions;

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::SearchRequest;
use pikerag_engine::settings::DEFAULT_BASE;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use self::conditions::MetadataCondition;
use crate::api::search::{MOST, found};
use crate::app::{App, Caller};
use crate::problem::{JsonBody, Problem};

/// The request that Dify sends.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct RetrievalBody {
    /// The name of the base; empty for the default one.
    #[serde(default)]
    knowledge_id: String,
    /// The search words.
    query: String,
    /// How many passages, and the lowest score.
    #[serde(default)]
    retrieval_setting: RetrievalSetting,
    /// Conditions on the metadata of documents.
    #[serde(default)]
    metadata_condition: Option<MetadataCondition>,
}

/// How many passages, and the lowest score.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RetrievalSetting {
    /// The largest number of passages.
    top_k: Option<usize>,
    /// The lowest similarity, from 0 to 1. It means the same for each query.
    score_threshold: Option<f64>,
}

/// Finds passages for a query, best first. A score is the similarity of `/search`: it compares
/// between queries, so it need not fall from one passage to the next.
#[utoipa::path(post, path = "/retrieval", tag = "compatible", request_body = RetrievalBody,
    responses((status = 200, body = Value)))]
pub(crate) async fn retrieval(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody<RetrievalBody>,
) -> Result<Json<Value>, Problem> {
    let records = records(&app, &caller, body).await?;
    Ok(Json(json!({ "records": records })))
}

async fn records(app: &App, caller: &Caller, body: RetrievalBody) -> Result<Vec<Value>, Problem> {
    let base = match body.knowledge_id.trim() {
        "" => DEFAULT_BASE,
        name => name,
    };
    let session = app.base(caller, base)?;
    let RetrievalSetting { top_k, score_threshold } = body.retrieval_setting;
    let k = top_k.unwrap_or(8).clamp(1, MOST);
    let condition = body.metadata_condition.filter(|all| !all.is_empty());
    if let Some(condition) = &condition {
        condition.check()?;
    }
    // Conditions that our filters cannot express are checked on the hits, so more hits are fetched.
    let looked_at = if condition.is_some() { MOST } else { k };
    let search =
        SearchRequest { query: body.query, k: Some(looked_at), ..SearchRequest::default() };
    let found = match found(app, base, &session, &search).await {
        Ok(found) => found,
        Err(problem) if problem.code() == "empty-query" => return Ok(Vec::new()),
        Err(problem) => return Err(problem),
    };
    let ids: Vec<_> = found.hits.iter().map(|hit| hit.chunk.source).collect();
    let sources = pikerag_engine::sources_by_id(&session, &ids).await?;
    let mut records = Vec::new();
    for hit in found.hits {
        let source = sources.iter().find(|source| source.id == hit.chunk.source);
        let fits = match (&condition, source) {
            (None, _) => true,
            (Some(condition), Some(source)) => condition.fits(source)?,
            (Some(_), None) => false,
        };
        if !fits || hit.similarity < score_threshold.unwrap_or(0.0) {
            continue;
        }
        let mut metadata = json!({
            "path": hit.chunk.uri, "page": hit.chunk.page, "chunk": hit.chunk.id, "url": hit.url,
            "description": hit.chunk.heading_path(),
        });
        if let (Some(fields), Some(source)) = (metadata.as_object_mut(), source) {
            for (name, value) in &source.metadata {
                fields.entry(name.clone()).or_insert_with(|| json!(value));
            }
        }
        records.push(json!({
            "content": hit.chunk.reading_text(), "score": hit.similarity, "title": hit.chunk.full_title(),
            "metadata": metadata,
        }));
        if records.len() == k {
            break;
        }
    }
    Ok(records)
}
