//! Lists and describes the models, and refuses to change them: they are the methods of each base.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::fields::check;
use super::model;
use crate::app::{App, CONVERSATION, Caller};
use crate::compat::chat::models;
use crate::problem::{LooseJson, Problem};

/// The protocol version that clients check.
const VERSION: &str = "0.12.0";
/// The day of change that each model shows: a method has no file.
const DAY: &str = "2026-01-01T00:00:00Z";
/// The bytes of a token of English text, for the length of conversations in tokens.
const BYTES_PER_TOKEN: usize = 4;

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
            "name": name, "model": name, "modified_at": DAY, "size": 0, "digest": digest(&name),
            "details": details(),
        })
    };
    Json(json!({"models": models(&app, &caller).into_iter().map(line).collect::<Vec<_>>()}))
}

/// The loaded models: an empty list, because none needs loading.
#[utoipa::path(get, path = "/api/ps", tag = "compatible", responses((status = 200, body = Value)))]
pub(crate) async fn ps() -> Json<Value> {
    Json(json!({ "models": [] }))
}

/// The name of a model.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OllamaModelBody {
    /// A name from `/api/tags`.
    #[serde(default)]
    model: Option<String>,
    /// The same, as earlier clients name it.
    #[serde(default)]
    name: Option<String>,
    /// Whether `/api/pull` replies line by line; true by default.
    #[serde(default)]
    stream: Option<bool>,
    /// Other fields of this protocol: accepted if they have no effect, else refused.
    #[serde(flatten)]
    #[schema(ignore)]
    more: Map<String, Value>,
}

impl OllamaModelBody {
    fn named(&self) -> &str {
        self.model.as_deref().or(self.name.as_deref()).unwrap_or_default()
    }
}

/// Describes a model.
#[utoipa::path(post, path = "/api/show", tag = "compatible", request_body = OllamaModelBody,
    responses((status = 200, body = Value), (status = 404, body = Value)))]
pub(crate) async fn show(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    LooseJson(body): LooseJson<OllamaModelBody>,
) -> Result<Json<Value>, Problem> {
    check(&body.more)?;
    let name = body.named();
    model(&app, &caller, name)?;
    let bytes = app.live().settings.question_bytes.saturating_mul(CONVERSATION);
    Ok(Json(json!({
        "modelfile": format!("FROM {name}\n"), "parameters": "", "template": "{{ .Prompt }}",
        "license": "", "modified_at": DAY, "details": details(),
        "model_info": {
            "general.architecture": "pikerag", "general.basename": name,
            "pikerag.context_length": bytes / BYTES_PER_TOKEN,
        },
        // Embeddings have routes of their own, and no method calls tools of the client.
        "capabilities": ["completion", "thinking"],
    })))
}

/// Reports that a model is available; nothing is downloaded.
#[utoipa::path(post, path = "/api/pull", tag = "compatible", request_body = OllamaModelBody,
    responses((status = 200, body = Value), (status = 404, body = Value)))]
pub(crate) async fn pull(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    LooseJson(body): LooseJson<OllamaModelBody>,
) -> Result<Response, Problem> {
    check(&body.more)?;
    model(&app, &caller, body.named())?;
    let done = json!({"status": "success"});
    if body.stream == Some(false) {
        return Ok(Json(done).into_response());
    }
    let lines = format!("{}\n{done}\n", json!({"status": "pulling manifest"}));
    let mut response = Body::from(lines).into_response();
    let kind = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

/// Refused: models cannot be created.
#[utoipa::path(post, path = "/api/create", tag = "compatible", responses((status = 400, body = Value)))]
pub(crate) async fn create() -> Problem {
    fixed("created", "创建")
}

/// Refused: models cannot be copied.
#[utoipa::path(post, path = "/api/copy", tag = "compatible", responses((status = 400, body = Value)))]
pub(crate) async fn copy() -> Problem {
    fixed("copied", "复制")
}

/// Refused: models cannot be deleted.
#[utoipa::path(delete, path = "/api/delete", tag = "compatible", responses((status = 400, body = Value)))]
pub(crate) async fn delete() -> Problem {
    fixed("deleted", "删除")
}

/// Refused: models cannot be published.
#[utoipa::path(post, path = "/api/push", tag = "compatible", responses((status = 400, body = Value)))]
pub(crate) async fn push() -> Problem {
    fixed("published", "发布")
}

/// Refused: no files of models are stored.
#[utoipa::path(post, path = "/api/blobs/{digest}", tag = "compatible", params(("digest" = String, Path)),
    responses((status = 400, body = Value)))]
pub(crate) async fn blob() -> Problem {
    fixed("uploaded", "上传")
}

fn fixed(english: &str, chinese: &str) -> Problem {
    Problem::bad_request(format!(
        "models cannot be {english} here: they are the methods of the bases"
    ))
    .in_chinese(format!("这里不能{chinese}模型：模型就是各知识库的方法"))
    .hint("GET /api/tags lists the models")
}

/// An identifier of a model, in the form of a checksum; clients tell models apart by it.
fn digest(name: &str) -> String {
    blake3::hash(name.as_bytes()).to_hex().to_string()
}

fn details() -> Value {
    json!({
        "parent_model": "", "format": "pikerag", "family": "pikerag", "families": ["pikerag"],
        "parameter_size": "", "quantization_level": "",
    })
}
