//! Serves `/v1` as OpenAI's chat completions, in one piece and as a stream.

use std::collections::BTreeMap;
use std::convert::Infallible;

use axum::extract::State;
use axum::response::sse::{Event as Sse, KeepAlive};
use axum::response::{IntoResponse, Response, Sse as SseResponse};
use axum::{Extension, Json};
use futures::stream;
use pikerag_engine::AskRequest;
use pikerag_engine::knowledge::{Filter, Level, RunRecord, Spent, TaskClass};
use pikerag_engine::narrate::Language;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::chat::{
    Asked, Message, Served, asked_with, check_length, models as model_names, served, shown,
};
use super::cited::{Place, annotations, source};
use super::contract;
use super::cut::Ends;
use super::errors::Shape;
use super::events::{event, for_parsers, only_parsers};
use super::progress::{Progress, Step};
use super::structured::{self, Filling};
use crate::app::{App, Caller};
use crate::problem::{JsonBody, Parts, Problem};
use crate::streams::{Drafts, Underway, Wanted, answered, broken};

/// The largest number of stop sequences, as at OpenAI.
const MOST_STOPS: usize = 4;

/// The request that a chat program sends. `response_format`, and a function that `tool_choice`
/// demands, are filled from the checked answer. Any other field is accepted if it asks for nothing
/// or cannot change a checked answer, such as `temperature`; else it is refused by its name.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatBody {
    /// `pikerag` or `pikerag/METHOD`, followed by `@BASE` for another base.
    model: String,
    /// The conversation; the last message is the question.
    #[schema(value_type = Vec<Object>)]
    messages: Vec<Message>,
    /// Whether the answer comes as a stream.
    #[serde(default)]
    stream: Option<bool>,
    /// `include_usage`: the last chunk of a stream reports the tokens.
    #[serde(default)]
    #[schema(value_type = Object)]
    stream_options: Value,
    /// The largest number of tokens of the shown answer, from 1. A longer answer is cut after a word
    /// or a citation, and its `finish_reason` is `length`.
    #[serde(default)]
    #[schema(value_type = Option<u64>)]
    max_tokens: Value,
    /// Another name of `max_tokens`. The smaller one holds.
    #[serde(default)]
    #[schema(value_type = Option<u64>)]
    max_completion_tokens: Value,
    /// At most four sequences: the shown answer ends before the first of them. An object is not cut.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    stop: Value,
    /// The documents that the answer may use: conditions such as `folder=law`, `date>=2020`, all of
    /// which must hold. `filters` is the same.
    #[serde(default, alias = "filters")]
    #[schema(value_type = Option<Vec<String>>)]
    filter: Option<Filter>,
    /// The class of the question, if you know it; only with `pike`.
    #[serde(default)]
    class: Option<TaskClass>,
    /// The level of the system (`L0` to `L4`); only with `pike`.
    #[serde(default)]
    level: Option<Level>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// Answers the last message of a conversation. In a stream, `reasoning_content` reports each step
/// as it happens, and the answer while a model writes it. The checked answer comes last, with a
/// `source` event for each citation, as Open WebUI reads them, and with the citations as
/// `annotations`.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "compatible", request_body = ChatBody,
    responses((status = 200, body = Value), (status = 400, body = Value)))]
pub(crate) async fn chat(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody<ChatBody>,
) -> Result<Response, Problem> {
    let mut others = body.others;
    let object = structured::Wanted::take(&mut others)?;
    contract::check(&others)?;
    contract::check_parts(&body.messages)?;
    let most_tokens = contract::fewest_tokens(&[
        ("max_tokens", &body.max_tokens),
        ("max_completion_tokens", &body.max_completion_tokens),
    ])?;
    let ends =
        Ends { most_tokens, stops: contract::stop_sequences("stop", &body.stop, MOST_STOPS)? };
    let Served { method, base, session } = served(&app, &caller, &body.model)?;
    check_length(&app, &body.messages)?;
    let (object, messages) = structured::read(object, body.messages)?;
    if let Some(object) = &object {
        object.check(&session)?;
    }
    let streams = body.stream.unwrap_or(false);
    let head = Head {
        model: body.model,
        created: pikerag_engine::keys::now() / 1000,
        ends,
        with_usage: body.stream_options.get("include_usage") == Some(&json!(true)),
    };
    let wanted = AskRequest {
        method,
        filter: body.filter.unwrap_or_default(),
        class: body.class,
        level: body.level,
        ..AskRequest::default()
    };
    let asked = asked_with(&app, (&caller, &session), wanted, &messages).await?;
    let (request, place) = match asked {
        Asked::Question(request, place) => (request, place),
        Asked::Background(reply) if streams => {
            let chunks = [
                head.delta("b", &json!({"role": "assistant", "content": reply})),
                head.end("b", "stop"),
            ];
            let events = chunks.iter().map(event).chain([Sse::default().data("[DONE]")]);
            let events: Vec<Result<_, Infallible>> = events.map(Ok).collect();
            return Ok(SseResponse::new(stream::iter(events)).into_response());
        }
        Asked::Background(reply) => {
            let message = json!({"role": "assistant", "content": reply, "refusal": null});
            let whole = head.whole("background", &message, "stop", &Spent::default());
            return Ok(Json(whole).into_response());
        }
    };
    let language = Language::of(&request.question);
    let drafts = if streams { Drafts::Sent } else { Drafts::LeftOut };
    let (after, filling) = object.map(|object| object.after_run(session.clone())).unzip();
    let underway =
        Underway::begin_with(&app, (place, session), Wanted::Ask(request), drafts, after);
    if streams {
        let progress = Progress::new(language, underway);
        let events = streamed((app, base), (head, filling), progress);
        return Ok(for_parsers(events.into_response()));
    }
    let came = answered(*underway.end().await?, language)?;
    let Written { mut message, places, finish, spent, .. } =
        head.written(filling, &came.run).await?;
    if let Some(fields) = message.as_object_mut() {
        fields.insert("annotations".to_owned(), json!(annotations(&app, &base, &places)));
    }
    Ok(Json(head.whole(&came.run.id.to_string(), &message, finish, &spent)).into_response())
}

/// An answer as this protocol shows it.
struct Written {
    message: Value,
    /// The same for a stream, without the role.
    delta: Value,
    places: Vec<Place>,
    /// Why it ends: `stop`, `tool_calls`, or `length` if it was cut.
    finish: &'static str,
    /// The run's calls, with those that filled an object.
    spent: Spent,
}

/// The fields that every part of one reply repeats.
#[derive(Clone)]
struct Head {
    model: String,
    created: u64,
    /// Where the caller wants the answer to end.
    ends: Ends,
    /// Whether the last chunk of a stream reports the tokens.
    with_usage: bool,
}

impl Head {
    /// The answer of a run as a text, or as the object that was asked for. An object is not cut.
    async fn written(&self, filling: Option<Filling>, run: &RunRecord) -> Result<Written, Problem> {
        let Some(answer) = &run.answer else { return Err(broken()) };
        let (whole, spent) = (shown(answer), run.cost.spent.clone());
        if let Some(filling) = filling {
            let filled = filling.filled().await?;
            let id = run.id.to_string();
            let (message, delta) = (filled.message(&id), filled.delta(&id));
            let (places, finish) = (filled.places(whole.1), filled.finish());
            return Ok(Written { message, delta, places, finish, spent });
        }
        let ((content, places), end) = self.ends.shown(whole);
        let finish = end.reason();
        let message = json!({"role": "assistant", "content": content, "refusal": null});
        let delta = json!({ "content": content });
        Ok(Written { message, delta, places, finish, spent })
    }

    fn whole(&self, id: &str, message: &Value, finish: &str, spent: &Spent) -> Value {
        json!({
            "id": format!("chatcmpl-{id}"), "object": "chat.completion", "created": self.created, "model": self.model,
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}],
            "usage": usage(spent),
        })
    }

    fn delta(&self, id: &str, delta: &Value) -> Value {
        self.chunk(
            id,
            &json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}]),
        )
    }

    fn end(&self, id: &str, finish: &str) -> Value {
        self.chunk(
            id,
            &json!([{"index": 0, "delta": {}, "logprobs": null, "finish_reason": finish}]),
        )
    }

    fn chunk(&self, id: &str, choices: &Value) -> Value {
        json!({
            "id": format!("chatcmpl-{id}"), "object": "chat.completion.chunk", "created": self.created,
            "model": self.model, "choices": choices,
        })
    }
}

fn usage(spent: &Spent) -> Value {
    let usage = spent.usage();
    json!({
        "prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    })
}

fn streamed(
    (app, base): (App, String),
    (head, filling): (Head, Option<Filling>),
    progress: Progress,
) -> SseResponse<impl futures::Stream<Item = Result<Sse, Infallible>>> {
    let state = Streaming {
        app,
        base,
        head,
        filling,
        id: "run".to_owned(),
        waiting: Vec::new(),
        progress: Some(progress),
    };
    let events = stream::unfold(state, |mut state| async move {
        let event = state.next().await?;
        Some((Ok(event), state))
    });
    SseResponse::new(events).keep_alive(KeepAlive::default())
}

struct Streaming {
    app: App,
    base: String,
    head: Head,
    /// The object to send in place of a text.
    filling: Option<Filling>,
    id: String,
    /// The events to send before anything else, the next one last.
    waiting: Vec<Sse>,
    /// None once the run is over.
    progress: Option<Progress>,
}

impl Streaming {
    async fn next(&mut self) -> Option<Sse> {
        loop {
            if let Some(event) = self.waiting.pop() {
                return Some(event);
            }
            let step = self.progress.as_mut()?.next().await;
            let events = match step {
                Step::Began(run) if self.id == "run" => {
                    self.id = run;
                    let first = json!({"role": "assistant", "content": ""});
                    vec![event(&self.head.delta(&self.id, &first))]
                }
                Step::Began(_) => continue,
                // Content cannot be taken back, so only the checked answer is content.
                Step::Words(words) => {
                    let delta = json!({ "reasoning_content": words });
                    vec![event(&self.head.delta(&self.id, &delta))]
                }
                Step::Ended(came) => {
                    self.progress = None;
                    let written = match came {
                        Ok(came) => self.head.written(self.filling.take(), &came.run).await,
                        Err(problem) => Err(problem),
                    };
                    self.last(written)
                }
            };
            self.waiting = events.into_iter().rev().collect();
        }
    }

    /// The last events of a stream.
    fn last(&self, written: Result<Written, Problem>) -> Vec<Sse> {
        let mut events = match written {
            Ok(written) => self.answer(&written),
            Err(problem) => vec![event(&Shape::OpenAi.error(&problem))],
        };
        events.push(Sse::default().data("[DONE]"));
        events
    }

    fn answer(&self, written: &Written) -> Vec<Sse> {
        let Written { places, finish, spent, .. } = written;
        let delta = |delta: &Value| self.head.delta(&self.id, delta);
        let mut events: Vec<Sse> = Vec::new();
        for (number, (citation, ..)) in (1..).zip(places) {
            // On a chunk with choices, which strict clients accept.
            let mut chunk = delta(&json!({}));
            if let Some(fields) = chunk.as_object_mut() {
                let source = source(&self.app, &self.base, number, citation);
                fields.insert("event".to_owned(), source);
            }
            events.push(event(&chunk));
        }
        events.push(event(&delta(&written.delta)));
        let annotations = annotations(&self.app, &self.base, places);
        if !annotations.is_empty() {
            events.push(only_parsers(&delta(&json!({ "annotations": annotations }))));
        }
        events.push(event(&self.head.end(&self.id, finish)));
        if self.head.with_usage {
            let mut last = self.head.chunk(&self.id, &json!([]));
            if let Some(fields) = last.as_object_mut() {
                fields.insert("usage".to_owned(), usage(spent));
            }
            events.push(event(&last));
        }
        events
    }
}

/// The available models: a name for each method and base.
#[utoipa::path(get, path = "/v1/models", tag = "compatible", responses((status = 200, body = Value)))]
pub(crate) async fn models(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Json<Value> {
    let data: Vec<Value> = model_names(&app, &caller).iter().map(|name| listed(name)).collect();
    Json(json!({"object": "list", "data": data}))
}

/// One model by its name, whose `/` and `@` may be percent-encoded.
#[utoipa::path(get, path = "/v1/models/{*model}", tag = "compatible", params(("model" = String, Path)),
    responses((status = 200, body = Value), (status = 404, body = Value)))]
pub(crate) async fn model(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(model): Parts<String>,
) -> Result<Json<Value>, Problem> {
    served(&app, &caller, &model)?;
    Ok(Json(listed(&model)))
}

fn listed(name: &str) -> Value {
    json!({"id": name, "object": "model", "created": 0, "owned_by": "pikerag"})
}
