//! Serves `/api/embed` and `/api/embeddings`: vectors of texts, by the embedder of a base.

use std::time::Instant;

use axum::extract::State;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::fields::check;
use super::lines::nanoseconds_since;
use super::model;
use crate::app::{App, Caller};
use crate::compat::vectors::{embedded, texts};
use crate::problem::{LooseJson, Problem};

/// Texts to embed.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OllamaEmbedBody {
    /// A name from `/api/tags`: the embedder of its base.
    model: String,
    /// A text, or a list of texts; an empty one only loads the model.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    input: Option<Value>,
    /// The dimension of the vectors; refused if it is not that of the embedder.
    #[serde(default)]
    dimensions: Option<usize>,
    /// Other fields of this protocol: accepted if they have no effect, else refused.
    #[serde(flatten)]
    #[schema(ignore)]
    more: Map<String, Value>,
}

/// Vectors of texts.
#[utoipa::path(post, path = "/api/embed", tag = "compatible", request_body = OllamaEmbedBody,
    responses((status = 200, body = Value), (status = 404, body = Value)))]
pub(crate) async fn embed(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    LooseJson(body): LooseJson<OllamaEmbedBody>,
) -> Result<Json<Value>, Problem> {
    let began = Instant::now();
    check(&body.more)?;
    let session = model(&app, &caller, &body.model)?.session;
    let (vectors, tokens) = match &body.input {
        Some(input) if !is_empty(input) => {
            let made = embedded(&session, &texts(input)?, body.dimensions).await?;
            (made.vectors, made.prompt_tokens.unwrap_or_default())
        }
        _ => (Vec::new(), 0),
    };
    Ok(Json(json!({
        "model": body.model, "embeddings": vectors, "total_duration": nanoseconds_since(began),
        "load_duration": 0, "prompt_eval_count": tokens,
    })))
}

/// A text to embed, as earlier clients send it.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OllamaEmbeddingsBody {
    /// A name from `/api/tags`: the embedder of its base.
    model: String,
    /// The text; an empty one only loads the model.
    #[serde(default)]
    prompt: Option<String>,
    /// Other fields of this protocol: accepted if they have no effect, else refused.
    #[serde(flatten)]
    #[schema(ignore)]
    more: Map<String, Value>,
}

/// The vector of a text, as earlier clients read it.
#[utoipa::path(post, path = "/api/embeddings", tag = "compatible", request_body = OllamaEmbeddingsBody,
    responses((status = 200, body = Value), (status = 404, body = Value)))]
pub(crate) async fn embeddings(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    LooseJson(body): LooseJson<OllamaEmbeddingsBody>,
) -> Result<Json<Value>, Problem> {
    check(&body.more)?;
    let session = model(&app, &caller, &body.model)?.session;
    let Some(prompt) = body.prompt.filter(|prompt| !prompt.is_empty()) else {
        return Ok(Json(json!({ "embedding": [] })));
    };
    let made = pikerag_engine::embed(&session, &[prompt]).await?;
    Ok(Json(json!({ "embedding": made.vectors.into_iter().next().unwrap_or_default() })))
}

fn is_empty(input: &Value) -> bool {
    match input {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(texts) => texts.is_empty(),
        _ => false,
    }
}
