//! Serves `/rerank`, `/v1/rerank` and `/v2/rerank`: texts by their relevance to a query, as Cohere,
//! Jina and Text Embeddings Inference define it.

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::RerankResponse;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::chat::{Served, served};
use super::contract::unsupported;
use crate::app::{App, Caller};
use crate::problem::{JsonBody, Problem};

/// Texts to sort by their relevance to a query. `documents` asks for the reply of Cohere and Jina,
/// `texts` for that of Text Embeddings Inference.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RerankBody {
    /// `pikerag`, followed by `@BASE`; `pikerag` by default. The reply names the reranker.
    #[serde(default)]
    model: Option<String>,
    /// The query.
    query: String,
    /// Texts, or objects with a `text` or with the fields that `rank_fields` names.
    #[serde(default)]
    #[schema(value_type = Option<Vec<Object>>)]
    documents: Option<Vec<Value>>,
    /// Texts; the reply is a list of indexes and scores.
    #[serde(default)]
    texts: Option<Vec<String>>,
    /// The fields of each object that are compared with the query, in this order; `text` by default.
    #[serde(default)]
    rank_fields: Option<Vec<String>>,
    /// The number of best documents to return, at least 1; all by default.
    #[serde(default)]
    top_n: Option<usize>,
    /// Whether to return the documents; false by default.
    #[serde(default)]
    return_documents: Option<bool>,
    /// Whether to return the texts, with `texts`; false by default.
    #[serde(default)]
    return_text: Option<bool>,
    /// Refused if true: scores are from 0 to 1.
    #[serde(default)]
    raw_scores: Option<bool>,
    /// The end that a long text loses: only `right`.
    #[serde(default)]
    truncation_direction: Option<String>,
    /// Without effect: long texts are always cut.
    #[serde(default)]
    #[expect(dead_code, reason = "it has no effect")]
    truncate: Option<bool>,
    /// Without effect: the reranker cuts texts at its own length.
    #[serde(default)]
    #[expect(dead_code, reason = "it has no effect")]
    max_tokens_per_doc: Option<u64>,
    /// Without effect: the reranker reads each document as one text.
    #[serde(default)]
    #[expect(dead_code, reason = "it has no effect")]
    max_chunks_per_doc: Option<u64>,
    /// Without effect: requests have no priority.
    #[serde(default)]
    #[expect(dead_code, reason = "it has no effect")]
    priority: Option<u64>,
}

/// Sorts texts by their relevance to a query with the configured reranker, best first. The score is
/// from 0 to 1.
#[utoipa::path(post, path = "/rerank", tag = "compatible", request_body = RerankBody,
    responses((status = 200, body = Value), (status = 409, body = Problem)))]
pub(crate) async fn rerank(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody<RerankBody>,
) -> Result<Json<Value>, Problem> {
    ranked(&app, &caller, body, "1").await
}

/// The same at the address of Jina and of Cohere's first version.
#[utoipa::path(post, path = "/v1/rerank", tag = "compatible", request_body = RerankBody,
    responses((status = 200, body = Value), (status = 409, body = Problem)))]
pub(crate) async fn rerank_v1(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody<RerankBody>,
) -> Result<Json<Value>, Problem> {
    ranked(&app, &caller, body, "1").await
}

/// The same at the address of Cohere's second version.
#[utoipa::path(post, path = "/v2/rerank", tag = "compatible", request_body = RerankBody,
    responses((status = 200, body = Value), (status = 409, body = Problem)))]
pub(crate) async fn rerank_v2(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody<RerankBody>,
) -> Result<Json<Value>, Problem> {
    ranked(&app, &caller, body, "2").await
}

async fn ranked(
    app: &App,
    caller: &Caller,
    body: RerankBody,
    version: &str,
) -> Result<Json<Value>, Problem> {
    let asked = body.asked()?;
    app.within(&[&body.query], &[])?;
    let model = body.model.as_deref().unwrap_or_default();
    let Served { session, .. } = served(app, caller, model)?;
    let response = pikerag_engine::rerank(&session, &body.query, &asked.texts).await?;
    let mut order: Vec<(usize, f64)> = response.scores.iter().copied().enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.truncate(body.top_n.unwrap_or(usize::MAX));
    Ok(Json(match asked.reply {
        Reply::Results(documents) => results(&response, &order, &documents, version),
        Reply::Scores { with_text } => {
            let line = |(index, score): &(usize, f64)| match asked.texts.get(*index) {
                Some(text) if with_text => json!({"index": index, "score": score, "text": text}),
                _ => json!({"index": index, "score": score}),
            };
            order.iter().map(line).collect()
        }
    }))
}

/// The reply of Cohere and Jina.
fn results(
    response: &RerankResponse,
    order: &[(usize, f64)],
    documents: &[Value],
    version: &str,
) -> Value {
    let line = |(index, score): &(usize, f64)| match documents.get(*index) {
        Some(document) => json!({"index": index, "relevance_score": score, "document": document}),
        None => json!({"index": index, "relevance_score": score}),
    };
    let results: Vec<Value> = order.iter().map(line).collect();
    let mut meta = json!({"api_version": {"version": version}});
    if let (Some(searches), Some(fields)) = (response.searches, meta.as_object_mut()) {
        fields.insert("billed_units".to_owned(), json!({"search_units": searches}));
    }
    let tokens = response.prompt_tokens.unwrap_or_default();
    json!({
        "id": identifier(response), "model": response.model, "results": results, "meta": meta,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    })
}

/// An identifier of the reply: equal replies have the same.
fn identifier(response: &RerankResponse) -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(response.model.as_bytes());
    for score in &response.scores {
        hash.update(&score.to_le_bytes());
    }
    format!("rerank-{}", hash.finalize().to_hex().chars().take(24).collect::<String>())
}

/// The texts to compare, and the form of the reply.
struct Asked {
    texts: Vec<String>,
    reply: Reply,
}

enum Reply {
    /// With these documents; empty if they are not returned.
    Results(Vec<Value>),
    /// Indexes and scores.
    Scores { with_text: bool },
}

impl RerankBody {
    fn asked(&self) -> Result<Asked, Problem> {
        if self.raw_scores == Some(true) {
            return Err(unsupported("raw_scores", &json!(true), "scores are from 0 to 1 here"));
        }
        let direction = self.truncation_direction.as_deref().unwrap_or_default();
        if !direction.is_empty() && !direction.eq_ignore_ascii_case("right") {
            let hint = "long texts lose their right end";
            return Err(unsupported("truncation_direction", &json!(direction), hint));
        }
        if self.top_n == Some(0) {
            return Err(unsupported("top_n", &json!(0), "send at least 1, or leave it out"));
        }
        match (&self.documents, &self.texts) {
            (Some(documents), None) => {
                let texts = documents.iter().map(|document| self.text_of(document));
                let texts = texts.collect::<Result<_, Problem>>()?;
                let reply = match self.return_documents {
                    Some(true) => Reply::Results(documents.iter().map(returned).collect()),
                    _ => Reply::Results(Vec::new()),
                };
                Ok(Asked { texts, reply })
            }
            (None, Some(texts)) => {
                let with_text = self.return_text == Some(true);
                Ok(Asked { texts: texts.clone(), reply: Reply::Scores { with_text } })
            }
            _ => Err(Problem::bad_request("either `documents` or `texts` must be set")),
        }
    }

    /// The text of a document; with `rank_fields`, a line for each of these fields that it has.
    fn text_of(&self, document: &Value) -> Result<String, Problem> {
        let names = self.rank_fields.as_deref().unwrap_or_default();
        let text = match document {
            Value::String(text) => return Ok(text.clone()),
            document if names.is_empty() => {
                document.get("text").and_then(Value::as_str).map(str::to_owned)
            }
            document => {
                let line = |name: &String| match document.get(name)? {
                    Value::Null => None,
                    Value::String(text) => Some(format!("{name}: {text}")),
                    other => Some(format!("{name}: {other}")),
                };
                let lines: Vec<String> = names.iter().filter_map(line).collect();
                (!lines.is_empty()).then(|| lines.join("\n"))
            }
        };
        text.ok_or_else(|| {
            Problem::bad_request(
                "`documents` must hold texts, or objects with a `text` or a field of `rank_fields`",
            )
        })
    }
}

/// A document as a reply holds it.
fn returned(document: &Value) -> Value {
    match document {
        Value::String(text) => json!({ "text": text }),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(body: Value) -> Result<(Vec<String>, usize), String> {
        let body: RerankBody = serde_json::from_value(body).map_err(|error| error.to_string())?;
        let asked = body.asked().map_err(|problem| problem.detail())?;
        let n_returned = match asked.reply {
            Reply::Results(documents) => documents.len(),
            Reply::Scores { with_text } => 10 + usize::from(with_text),
        };
        Ok((asked.texts, n_returned))
    }

    #[test]
    fn documents_are_texts_or_objects() {
        let mixed =
            json!({"query": "q", "documents": ["a", {"text": "b"}], "return_documents": true});
        assert_eq!(asked(mixed), Ok((vec!["a".to_owned(), "b".to_owned()], 2)));
        let fields = json!({
            "query": "q", "rank_fields": ["title", "year"],
            "documents": [{"year": 1906, "title": "Crane", "text": "x"}],
        });
        assert_eq!(asked(fields), Ok((vec!["title: Crane\nyear: 1906".to_owned()], 0)));
        let texts = json!({"query": "q", "texts": ["a"], "return_text": true, "truncate": true});
        assert_eq!(asked(texts), Ok((vec!["a".to_owned()], 11)));
    }

    #[test]
    fn wrong_requests_are_refused_with_the_field() {
        for (more, named) in [
            (json!({}), "`documents` or `texts`"),
            (json!({"documents": ["a"], "texts": ["a"]}), "`documents` or `texts`"),
            (json!({"documents": [{"title": "a"}]}), "`rank_fields`"),
            (json!({"documents": [7]}), "`rank_fields`"),
            (json!({"texts": ["a"], "raw_scores": true}), "`raw_scores`"),
            (json!({"texts": ["a"], "truncation_direction": "Left"}), "`truncation_direction`"),
            (json!({"documents": ["a"], "top_n": 0}), "`top_n`"),
            (json!({"documents": ["a"], "filters": []}), "unknown field `filters`"),
        ] {
            let mut body = json!({"query": "q"});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let refused = asked(body).unwrap_err();
            assert!(refused.contains(named), "{more}: {refused}");
        }
    }
}
