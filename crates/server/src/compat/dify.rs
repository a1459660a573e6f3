//! Serves `/retrieval`: a base as external knowledge of Dify.

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::SearchRequest;
use pikerag_engine::knowledge::Source;
use pikerag_engine::settings::DEFAULT_BASE;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

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
#[serde(default)]
pub(crate) struct RetrievalSetting {
    /// The largest number of passages.
    top_k: Option<usize>,
    /// From 0 to 1, relative to the best hit.
    score_threshold: Option<f64>,
}

/// Conditions on the metadata of documents.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct MetadataCondition {
    /// `and` (all must hold) or `or` (any).
    #[serde(default)]
    logical_operator: Option<String>,
    /// The conditions.
    #[serde(default)]
    conditions: Vec<OneCondition>,
}

/// One condition.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OneCondition {
    /// Names of fields; one of them must match.
    #[serde(default)]
    name: Vec<String>,
    /// One of Dify's comparison operators.
    comparison_operator: String,
    /// The value to compare with.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    value: Option<Value>,
}

/// Finds passages for a query.
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
    let condition = body.metadata_condition.filter(|all| !all.conditions.is_empty());
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
        if !fits || hit.score < score_threshold.unwrap_or(0.0) {
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
            "content": hit.chunk.reading_text(), "score": hit.score, "title": hit.chunk.full_title(),
            "metadata": metadata,
        }));
        if records.len() == k {
            break;
        }
    }
    Ok(records)
}

impl MetadataCondition {
    fn fits(&self, source: &Source) -> Result<bool, Problem> {
        let any =
            self.logical_operator.as_deref().is_some_and(|word| word.eq_ignore_ascii_case("or"));
        let mut fits = self.conditions.iter().map(|condition| condition.fits(source));
        match any {
            true => fits.try_fold(false, |held, fits| Ok(held || fits?)),
            false => fits.try_fold(true, |held, fits| Ok(held && fits?)),
        }
    }
}

impl OneCondition {
    fn fits(&self, source: &Source) -> Result<bool, Problem> {
        let value = match &self.value {
            Some(Value::String(value)) => value.clone(),
            None | Some(Value::Null) => String::new(),
            Some(value) => value.to_string(),
        };
        let mut fits = false;
        for name in &self.name {
            let own = match name.as_str() {
                "title" | "document_name" => Some(source.title.as_str()),
                "path" | "uri" | "source" => Some(source.uri.as_str()),
                name => source.metadata.get(name).map(String::as_str),
            };
            fits |= compared(&self.comparison_operator, own, &value)?;
        }
        Ok(fits)
    }
}

/// Compares a field with a value by one of Dify's eighteen operators.
fn compared(operator: &str, own: Option<&str>, value: &str) -> Result<bool, Problem> {
    let folded = |text: &str| text.trim().to_lowercase();
    let (is_empty, text) =
        (own.is_none_or(|own| own.trim().is_empty()), folded(own.unwrap_or_default()));
    let wanted = folded(value);
    let ordering = || {
        let numbers = text.parse::<f64>().ok().zip(wanted.parse::<f64>().ok());
        match numbers {
            Some((own, wanted)) => own.partial_cmp(&wanted),
            // ISO 8601 dates sort as text.
            None => Some(text.cmp(&wanted)),
        }
    };
    let is = |test: fn(std::cmp::Ordering) -> bool| !is_empty && ordering().is_some_and(test);
    let listed = || wanted.split([',', ';']).any(|one| one.trim() == text);
    Ok(match operator.trim().to_lowercase().as_str() {
        "contains" => !is_empty && text.contains(&wanted),
        "not contains" => !text.contains(&wanted),
        "start with" => !is_empty && text.starts_with(&wanted),
        "end with" => !is_empty && text.ends_with(&wanted),
        "is" | "=" => !is_empty && is(std::cmp::Ordering::is_eq),
        "is not" | "≠" | "!=" => is_empty || !is(std::cmp::Ordering::is_eq),
        "empty" => is_empty,
        "not empty" => !is_empty,
        "in" => !is_empty && listed(),
        "not in" => is_empty || !listed(),
        ">" | "after" => is(std::cmp::Ordering::is_gt),
        "<" | "before" => is(std::cmp::Ordering::is_lt),
        "≥" | ">=" => is(std::cmp::Ordering::is_ge),
        "≤" | "<=" => is(std::cmp::Ordering::is_le),
        other => {
            return Err(Problem::bad_request(format!(
                "`{other}` is not a known comparison operator"
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_compare_fields_as_dify_defines() {
        let is = |operator, own, value| compared(operator, own, value).unwrap();
        assert!(is("contains", Some("Ada Lovelace"), "ada") && !is("contains", None, "ada"));
        assert!(is("not contains", None, "ada") && is("start with", Some("Ada"), "a"));
        assert!(is("=", Some("2.0"), "2") && is("≠", Some("3"), "2") && is("is not", None, "2"));
        assert!(is(">", Some("10"), "9") && is("after", Some("2024-05-01"), "2024-04-30"));
        assert!(
            is("≤", Some("9"), "9")
                && is("in", Some("b"), "a, b")
                && is("not in", Some("c"), "a,b")
        );
        assert!(is("empty", Some(" "), "") && is("not empty", Some("x"), ""));
        assert!(compared("like", Some("x"), "x").is_err());
    }
}
