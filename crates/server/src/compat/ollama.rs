//! Serves `/api` as Ollama does. Its replies hold no citations, only their numbers in the text.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::chat::{Asked, Message, asked, models, named, shown};
use super::errors::Shape;
use crate::app::{App, Caller};
use crate::problem::{JsonBody, Problem};
use crate::streams::{Drafts, Underway, Wanted, answered, broken};
use pikerag_engine::narrate::Language;

/// The protocol version that clients check.
const VERSION: &str = "0.12.0";
/// A day for fields that need one.
const DAY: &str = "2026-01-01T00:00:00Z";

/// The protocol version.
#[utoipa::path(get, path = "/api/version", tag = "compatible", responses((status = 200, body = Value)))]
pub(crate) async fn version() -> Json<Value> {
    Json(json!({ "version": VERSION }))
}

/// The available models.
#[utoipa::path(get, path = "/api/tags", tag = "compatible", responses((status = 200, body = Value)))]
pub(crate) async fn tags(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Json<Value> {
    let line = |name: String| {
        json!({
            "name": name, "model": name, "modified_at": DAY, "size": 0, "digest": "0".repeat(64),
            "details": {"parent_model": "", "format": "pikerag", "family": "pikerag", "families": ["pikerag"],
                "parameter_size": "", "quantization_level": ""},
        })
    };
    Json(json!({"models": models(&app, &caller).into_iter().map(line).collect::<Vec<_>>()}))
}

/// The loaded models: an empty list, because none needs loading.
#[utoipa::path(get, path = "/api/ps", tag = "compatible", responses((status = 200, body = Value)))]
pub(crate) async fn ps() -> Json<Value> {
    Json(json!({ "models": [] }))
}

/// The request that a chat program sends.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OllamaBody {
    /// A name from `/v1/models`.
    model: String,
    /// The conversation; the last message is the question.
    #[schema(value_type = Vec<Object>)]
    messages: Vec<Message>,
    /// Whether the answer is streamed line by line; true by default.
    #[serde(default)]
    stream: Option<bool>,
}

/// Answers the last message of a conversation.
#[utoipa::path(post, path = "/api/chat", tag = "compatible", request_body = OllamaBody,
    responses((status = 200, body = Value)))]
pub(crate) async fn chat(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody<OllamaBody>,
) -> Result<Response, Problem> {
    let (method, base) = named(&body.model);
    let session = app.base(&caller, &base)?;
    let (model, streams) = (body.model, body.stream.unwrap_or(true));
    let line = move |content: &str, counts: Option<(u64, u64)>| {
        let mut line = json!({
            "model": model, "created_at": DAY, "message": {"role": "assistant", "content": content},
            "done": counts.is_some(),
        });
        if let (Some((prompt, reply)), Some(fields)) = (counts, line.as_object_mut()) {
            fields.insert("done_reason".to_owned(), json!("stop"));
            fields.insert("prompt_eval_count".to_owned(), json!(prompt));
            fields.insert("eval_count".to_owned(), json!(reply));
        }
        line
    };
    let (request, place) = match asked(&app, (&caller, &session), method, &body.messages).await? {
        Asked::Question(request, place) => (request, place),
        Asked::Background(reply) => {
            return Ok(Json(line(&reply, Some((0, 0)))).into_response());
        }
    };
    let language = Language::of(&request.question);
    let underway = Underway::begin(&app, place, session, Wanted::Ask(request), Drafts::LeftOut);
    let answer = async move {
        let came = answered(*underway.end().await?, language)?;
        let answer = came.run.answer.as_ref().ok_or_else(broken)?;
        let usage = came.run.cost.spent.usage();
        Ok::<_, Problem>((shown(answer).0, usage.prompt_tokens, usage.completion_tokens))
    };
    if !streams {
        let (text, prompt, reply) = answer.await?;
        return Ok(Json(line(&text, Some((prompt, reply)))).into_response());
    }
    let lines = stream::once(async move {
        Ok::<_, Infallible>(match answer.await {
            Ok((text, prompt, reply)) => {
                format!("{}\n{}\n", line(&text, None), line("", Some((prompt, reply))))
            }
            Err(problem) => format!("{}\n", Shape::Ollama.error(&problem)),
        })
    });
    let mut response = Body::from_stream(lines).into_response();
    let kind = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}
