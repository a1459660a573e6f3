//! Serves `/api/chat` and `/api/generate`: questions, in one piece and line by line.

use std::time::Instant;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use pikerag_engine::narrate::Language;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::fields::{check, most_tokens, reason_without_question, stops, thinks};
use super::lines::{Delivery, Form, Running, Shape};
use super::{model, turns};
use crate::app::{App, Caller};
use crate::compat::chat::{Asked, Message, asked, check_length};
use crate::compat::contract::unsupported;
use crate::compat::cut::Ends;
use crate::compat::progress::Progress;
use crate::compat::structured;
use crate::problem::{LooseJson, Problem};
use crate::streams::{Drafts, Underway, Wanted};

/// A conversation that a program of Ollama sends.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OllamaChatBody {
    /// A name from `/api/tags`.
    model: String,
    /// The conversation; the last message is the question. Without messages, the reply says that
    /// the model is loaded.
    #[serde(default)]
    #[schema(value_type = Option<Vec<Object>>)]
    messages: Option<Vec<OllamaMessage>>,
    /// Whether the answer is streamed line by line; true by default.
    #[serde(default)]
    stream: Option<bool>,
    /// Whether steps and drafts are reported as `thinking`: true, false or a level. By default only
    /// in streams.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    think: Option<Value>,
    /// The answer as JSON: `json`, or a JSON Schema that is filled from the checked answer.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    format: Option<Value>,
    /// Other fields of this protocol: accepted if they have no effect, else refused.
    #[serde(flatten)]
    #[schema(ignore)]
    more: Map<String, Value>,
}

/// A message of a conversation.
#[derive(Debug, Deserialize)]
struct OllamaMessage {
    role: String,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    images: Option<Vec<Value>>,
}

impl OllamaMessage {
    fn images(&self) -> Option<&Vec<Value>> {
        self.images.as_ref().filter(|images| !images.is_empty())
    }
}

/// A prompt that a program of Ollama sends.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OllamaGenerateBody {
    /// A name from `/api/tags`.
    model: String,
    /// The question. Without one, the reply says that the model is loaded.
    #[serde(default)]
    prompt: Option<String>,
    /// Instructions of the program; they are not part of the question.
    #[serde(default)]
    system: Option<String>,
    /// Whether the answer is streamed line by line; true by default.
    #[serde(default)]
    stream: Option<bool>,
    /// Whether steps and drafts are reported as `thinking`: true, false or a level. By default only
    /// in streams.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    think: Option<Value>,
    /// The answer as JSON: `json`, or a JSON Schema that is filled from the checked answer.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    format: Option<Value>,
    /// Other fields of this protocol: accepted if they have no effect, else refused.
    #[serde(flatten)]
    #[schema(ignore)]
    more: Map<String, Value>,
}

/// Answers the last message of a conversation. Below the answer, a list links its sources; an answer
/// in a `format` is JSON alone.
#[utoipa::path(post, path = "/api/chat", tag = "compatible", request_body = OllamaChatBody,
    responses((status = 200, body = Value), (status = 404, body = Value)))]
pub(crate) async fn chat(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    LooseJson(body): LooseJson<OllamaChatBody>,
) -> Result<Response, Problem> {
    check(&body.more)?;
    let messages = body.messages.unwrap_or_default();
    if let Some(images) = messages.iter().find_map(OllamaMessage::images) {
        let hint = "questions are text only: put pictures into the base";
        return Err(unsupported("images", &json!(images), hint));
    }
    let messages = messages.into_iter().map(|message| Message {
        role: message.role,
        content: json!(message.content.unwrap_or_default()),
    });
    let form = form(Shape::Chat, body.model, body.stream, body.think.as_ref())?;
    reply(app, caller, form, (messages.collect(), body.format, body.more)).await
}

/// Answers a prompt. Below the answer, a list links its sources; an answer in a `format` is JSON
/// alone.
#[utoipa::path(post, path = "/api/generate", tag = "compatible", request_body = OllamaGenerateBody,
    responses((status = 200, body = Value), (status = 404, body = Value)))]
pub(crate) async fn generate(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    LooseJson(body): LooseJson<OllamaGenerateBody>,
) -> Result<Response, Problem> {
    check(&body.more)?;
    let mut messages = Vec::new();
    if let Some(prompt) = body.prompt.filter(|prompt| !prompt.is_empty()) {
        messages.extend(body.system.map(|system| turns::message("system", &system)));
        messages.extend(turns::messages(&prompt));
    }
    let form = form(Shape::Generate, body.model, body.stream, body.think.as_ref())?;
    reply(app, caller, form, (messages, body.format, body.more)).await
}

fn form(
    shape: Shape,
    model: String,
    stream: Option<bool>,
    think: Option<&Value>,
) -> Result<Form, Problem> {
    let delivery = if stream.unwrap_or(true) { Delivery::Lines } else { Delivery::Whole };
    let thinks = thinks(think)?.unwrap_or(delivery == Delivery::Lines);
    Ok(Form { shape, delivery, model, thinks, began: Instant::now() })
}

async fn reply(
    app: App,
    caller: Caller,
    form: Form,
    (messages, format, more): (Vec<Message>, Option<Value>, Map<String, Value>),
) -> Result<Response, Problem> {
    let model = model(&app, &caller, &form.model)?;
    let ends = Ends { most_tokens: most_tokens(&more)?, stops: stops(&more)? };
    let object = structured::Wanted::of_format(format.as_ref())?;
    if messages.is_empty() {
        return Ok(form.without_answer(reason_without_question(&more)));
    }
    check_length(&app, &messages)?;
    let (object, messages) = structured::read(object, messages)?;
    if let Some(object) = &object {
        object.check(&model.session).map_err(|problem| problem.about("format"))?;
    }
    let asked = asked(&app, (&caller, &model.session), model.method, &messages).await?;
    let (request, place) = match asked {
        Asked::Question(request, place) => (request, place),
        Asked::Background(text) => return Ok(form.at_once(&text)),
    };
    let language = Language::of(&request.question);
    let is_shown = form.delivery == Delivery::Lines && form.thinks;
    let drafts = if is_shown { Drafts::Sent } else { Drafts::LeftOut };
    let session = model.session;
    let (after, filling) = object.map(|object| object.after_run(session.clone())).unzip();
    let underway =
        Underway::begin_with(&app, (place, session), Wanted::Ask(request), drafts, after);
    let progress = Progress::new(language, underway);
    let running = Running { app, base: model.base, language, ends, filling, progress };
    match form.delivery {
        Delivery::Whole => form.awaited(running).await,
        Delivery::Lines => Ok(form.streamed(running)),
    }
}
