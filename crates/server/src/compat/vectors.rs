//! Serves `/v1/embeddings`: vectors by the embedder of a base.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pikerag_engine::{EmbedResponse, Session};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::chat::{Served, served};
use super::contract::{unknown, unsupported};
use crate::app::{App, Caller};
use crate::problem::{JsonBody, Problem};

/// Texts to embed.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct EmbeddingsBody {
    /// `pikerag`, followed by `@BASE`: the embedder of that base.
    #[serde(default)]
    model: String,
    /// A text, or a list of texts.
    #[schema(value_type = Object)]
    input: Value,
    /// `float`, which is the default, or `base64`.
    #[serde(default)]
    encoding_format: Option<String>,
    /// The number of dimensions that the embedder has; no other is possible.
    #[serde(default)]
    dimensions: Option<usize>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// Vectors of texts, by the embedder of a base.
#[utoipa::path(post, path = "/v1/embeddings", tag = "compatible", request_body = EmbeddingsBody,
    responses((status = 200, body = Value), (status = 400, body = Problem)))]
pub(crate) async fn embeddings(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody<EmbeddingsBody>,
) -> Result<Response, Problem> {
    let EmbeddingsBody { model, input, encoding_format, dimensions, others } = body;
    // `user` names the sender's own user and has no effect.
    let mut refused = others.iter().filter(|(name, value)| *name != "user" && !value.is_null());
    if let Some((name, _)) = refused.next() {
        return Err(unknown(name));
    }
    let is_packed = match encoding_format.as_deref() {
        None | Some("float") => false,
        Some("base64") => true,
        Some(other) => {
            let hint = "send `float` or `base64`";
            return Err(unsupported("encoding_format", &json!(other), hint));
        }
    };
    let texts = texts(&input)?;
    let Served { session, .. } = served(&app, &caller, &model)?;
    let made = embedded(&session, &texts, dimensions).await?;
    let encoded = |vector: &Vec<f32>| match is_packed {
        true => {
            let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
            json!(STANDARD.encode(bytes))
        }
        false => json!(vector),
    };
    let line = |(index, vector)| json!({"object": "embedding", "index": index, "embedding": encoded(vector)});
    let data: Vec<Value> = made.vectors.iter().enumerate().map(line).collect();
    let tokens = made.prompt_tokens.unwrap_or_default();
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    Ok(Json(json!({"object": "list", "data": data, "model": made.model, "usage": usage}))
        .into_response())
}

/// The vectors of texts, with as many dimensions as the request names. A number that the embedder does not have is
/// refused before the texts are embedded, if it is known then.
pub(super) async fn embedded(
    session: &Session,
    texts: &[String],
    wanted: Option<usize>,
) -> Result<EmbedResponse, Problem> {
    if wanted.is_some() {
        check_dimensions(wanted, pikerag_engine::dimensions(session).await?)?;
    }
    let made = pikerag_engine::embed(session, texts).await?;
    check_dimensions(wanted, made.vectors.first().map(Vec::len))?;
    Ok(made)
}

fn check_dimensions(wanted: Option<usize>, own: Option<usize>) -> Result<(), Problem> {
    match (wanted, own) {
        (Some(wanted), Some(own)) if wanted != own => {
            let hint = format!("the embedder has {own} dimensions: leave it out");
            Err(unsupported("dimensions", &json!(wanted), &hint))
        }
        _ => Ok(()),
    }
}

/// The texts of an input: one text, or a list of texts, none of them empty.
pub(super) fn texts(input: &Value) -> Result<Vec<String>, Problem> {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let found = match input {
        Value::Array(all) => all.iter().map(text).collect(),
        one => text(one).map(|text| vec![text]),
    };
    found.filter(|texts: &Vec<String>| !texts.is_empty()).ok_or_else(|| {
        let says = "`input` must be a text or a list of texts, none of them empty";
        let problem = Problem::bad_request(says).about("input");
        match holds_tokens(input) {
            true => problem.hint(
                "it holds numbers of tokens, which belong to another model: send text (LangChain: `check_embedding_ctx_length=False`)",
            ),
            false => problem,
        }
    })
}

/// Whether an input is a list of numbers, or of such lists.
fn holds_tokens(input: &Value) -> bool {
    let Value::Array(values) = input else { return false };
    values.first().is_some_and(|first| first.is_number() || holds_tokens(first))
}
