//! Serves `/v1` as OpenAI's chat completions, in one piece and as a stream.

use std::convert::Infallible;

use axum::extract::State;
use axum::response::sse::{Event as Sse, KeepAlive};
use axum::response::{IntoResponse, Response, Sse as SseResponse};
use axum::{Extension, Json};
use futures::stream;
use pikerag_engine::knowledge::{Citation, Spent};
use pikerag_engine::narrate::Language;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::chat::{Asked, Message, asked, models as model_names, named, shown};
use super::words::{DraftWords, line};
use crate::app::{App, Caller};
use crate::problem::{JsonBody, Problem};
use crate::streams::{Drafts, Happened, Underway, Wanted, answered, broken};

/// The request that a chat program sends; other fields are ignored.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ChatBody {
    /// `pikerag` or `pikerag/METHOD`, followed by `@BASE` for another base.
    model: String,
    /// The conversation; the last message is the question.
    #[schema(value_type = Vec<Object>)]
    messages: Vec<Message>,
    /// Whether the answer comes as a stream.
    #[serde(default)]
    stream: bool,
    /// `include_usage`: the last chunk of a stream reports the tokens.
    #[serde(default)]
    #[schema(value_type = Object)]
    stream_options: Value,
}

/// Answers the last message of a conversation. In a stream, `reasoning_content` reports each step
/// as it happens, and the answer while a model writes it. The checked answer comes last, with a `source` event for each citation, as Open
/// WebUI reads them.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "compatible", request_body = ChatBody,
    responses((status = 200, body = Value), (status = 400, body = Value)))]
pub(crate) async fn chat(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody<ChatBody>,
) -> Response {
    match completed(app, caller, body).await {
        Ok(response) => response,
        Err(problem) => refused(&problem),
    }
}

fn refused(problem: &Problem) -> Response {
    (problem.status(), Json(error(problem))).into_response()
}

/// A problem in this protocol's format.
fn error(problem: &Problem) -> Value {
    let kind =
        if problem.status().is_client_error() { "invalid_request_error" } else { "server_error" };
    json!({"error": {"message": problem.detail(), "type": kind, "code": problem.code(), "param": null}})
}

async fn completed(app: App, caller: Caller, body: ChatBody) -> Result<Response, Problem> {
    let (method, base) = named(&body.model);
    let session = app.base(&caller, &base)?;
    let head = Head { model: body.model, created: pikerag_engine::keys::now() / 1000 };
    let (request, place) = match asked(&app, (&caller, &session), method, &body.messages).await? {
        Asked::Question(request, place) => (request, place),
        Asked::Background(reply) if body.stream => {
            let chunks = vec![
                head.delta("b", &json!({"role": "assistant", "content": reply})),
                head.end("b"),
            ];
            let events = chunks.into_iter().map(|chunk| chunk.to_string());
            let events =
                events.chain(["[DONE]".to_owned()]).map(|data| Ok(Sse::default().data(data)));
            return Ok(SseResponse::new(stream::iter(
                events.collect::<Vec<Result<_, Infallible>>>(),
            ))
            .into_response());
        }
        Asked::Background(reply) => {
            let message = json!({"role": "assistant", "content": reply, "refusal": null});
            return Ok(Json(head.whole("background", &message, &Spent::default())).into_response());
        }
    };
    let language = Language::of(&request.question);
    let drafts = if body.stream { Drafts::Sent } else { Drafts::LeftOut };
    let underway = Underway::begin(&app, place, session, Wanted::Ask(request), drafts);
    if body.stream {
        let with_usage = body.stream_options.get("include_usage") == Some(&json!(true));
        return Ok(streamed(app, base, head, (with_usage, language), underway).into_response());
    }
    let came = answered(*underway.end().await?, language)?;
    let Some(answer) = &came.run.answer else { return Err(broken()) };
    let (content, places) = shown(answer);
    let annotations: Vec<Value> = places
        .iter()
        .map(|(citation, begins, ends)| {
            let url = app.permalink(&base, citation.chunk);
            json!({"type": "url_citation", "url_citation": {
                "url": url, "title": citation.title, "start_index": begins, "end_index": ends
            }})
        })
        .collect();
    let message = json!({
        "role": "assistant", "content": content, "refusal": null, "annotations": annotations,
    });
    Ok(Json(head.whole(&came.run.id.to_string(), &message, &came.run.cost.spent)).into_response())
}

/// The fields that every part of one reply repeats.
#[derive(Clone)]
struct Head {
    model: String,
    created: u64,
}

impl Head {
    fn whole(&self, id: &str, message: &Value, spent: &Spent) -> Value {
        json!({
            "id": format!("chatcmpl-{id}"), "object": "chat.completion", "created": self.created, "model": self.model,
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"}],
            "usage": usage(spent),
        })
    }

    fn delta(&self, id: &str, delta: &Value) -> Value {
        self.chunk(
            id,
            &json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}]),
        )
    }

    fn end(&self, id: &str) -> Value {
        self.chunk(
            id,
            &json!([{"index": 0, "delta": {}, "logprobs": null, "finish_reason": "stop"}]),
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

/// A citation as Open WebUI reads it: `page` counts from zero. `[n]` opens the n-th source by
/// distinct `metadata.source`. An address there would replace the title and be sent to icon
/// services, so it holds a name that is unique to this citation. The distance is 0 because the
/// quote is verbatim.
fn source(app: &App, base: &str, number: usize, citation: &Citation) -> Value {
    let url = app.permalink(base, citation.chunk);
    let own = format!("{base}/{}#{number}", citation.chunk);
    let mut metadata = json!({"source": own, "name": citation.title, "uri": citation.uri});
    if let (Some(page), Some(fields)) = (citation.page, metadata.as_object_mut()) {
        fields.insert("page".to_owned(), json!(page.saturating_sub(1)));
    }
    json!({"type": "source", "data": {
        "source": {"name": citation.title, "url": url}, "document": [citation.quote],
        "metadata": [metadata], "distances": [1.0],
    }})
}

fn streamed(
    app: App,
    base: String,
    head: Head,
    (with_usage, language): (bool, Language),
    underway: Underway,
) -> SseResponse<impl futures::Stream<Item = Result<Sse, Infallible>>> {
    let state = Streaming {
        app,
        base,
        head,
        with_usage,
        language,
        id: "run".to_owned(),
        waiting: Vec::new(),
        draft: DraftWords::default(),
        underway: Some(underway),
    };
    let events = stream::unfold(state, |mut state| async move {
        let data = state.next().await?;
        Some((Ok(Sse::default().data(data)), state))
    });
    SseResponse::new(events).keep_alive(KeepAlive::default())
}

struct Streaming {
    app: App,
    base: String,
    head: Head,
    with_usage: bool,
    language: Language,
    id: String,
    /// The lines to send before anything else, the next one last.
    waiting: Vec<String>,
    draft: DraftWords,
    underway: Option<Underway>,
}

impl Streaming {
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(data) = self.waiting.pop() {
                return Some(data);
            }
            let happened = self.underway.as_mut()?.next().await;
            let chunks = match happened {
                Some(Happened::Began(run)) if self.id == "run" => {
                    self.id = run.id.to_string();
                    vec![
                        self.head
                            .delta(&self.id, &json!({"role": "assistant", "content": ""}))
                            .to_string(),
                    ]
                }
                Some(Happened::Began(_) | Happened::Calls(_)) => continue,
                Some(Happened::Event(event)) => match line(&event, self.language) {
                    Some(line) => {
                        let end = self.draft.end();
                        self.reasoning(&format!("{end}{line}\n"))
                    }
                    None => continue,
                },
                // Content cannot be taken back, so only the checked answer is content.
                Some(Happened::Draft(piece)) => {
                    let words = self.draft.next(&piece, self.language);
                    self.reasoning(&words)
                }
                Some(Happened::Ended(came)) => {
                    self.underway = None;
                    self.last(came.and_then(|came| answered(*came, self.language)))
                }
                None => {
                    self.underway = None;
                    self.last(Err(broken()))
                }
            };
            self.waiting = chunks.into_iter().rev().collect();
        }
    }

    /// A chunk that reports a step; none without words.
    fn reasoning(&self, words: &str) -> Vec<String> {
        if words.is_empty() {
            return Vec::new();
        }
        vec![self.head.delta(&self.id, &json!({ "reasoning_content": words })).to_string()]
    }

    /// The last lines of a stream.
    fn last(&self, came: Result<pikerag_engine::AskResponse, Problem>) -> Vec<String> {
        let mut chunks: Vec<Value> = Vec::new();
        match came.map(|came| (came.run.answer.clone(), came)) {
            Ok((Some(answer), came)) => {
                let (content, places) = shown(&answer);
                for (number, (citation, ..)) in (1..).zip(&places) {
                    // On a chunk with choices, which strict clients accept.
                    let mut chunk = self.head.delta(&self.id, &json!({}));
                    if let Some(fields) = chunk.as_object_mut() {
                        fields.insert(
                            "event".to_owned(),
                            source(&self.app, &self.base, number, citation),
                        );
                    }
                    chunks.push(chunk);
                }
                chunks.push(self.head.delta(&self.id, &json!({"content": content})));
                chunks.push(self.head.end(&self.id));
                if self.with_usage {
                    let mut last = self.head.chunk(&self.id, &json!([]));
                    if let Some(fields) = last.as_object_mut() {
                        fields.insert("usage".to_owned(), usage(&came.run.cost.spent));
                    }
                    chunks.push(last);
                }
            }
            Ok((None, _)) => chunks.push(error(&broken())),
            Err(problem) => chunks.push(error(&problem)),
        }
        chunks.iter().map(Value::to_string).chain(["[DONE]".to_owned()]).collect()
    }
}

/// The available models: a name for each method and base.
#[utoipa::path(get, path = "/v1/models", tag = "compatible", responses((status = 200, body = Value)))]
pub(crate) async fn models(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
) -> Json<Value> {
    let line =
        |name: String| json!({"id": name, "object": "model", "created": 0, "owned_by": "pikerag"});
    let data: Vec<Value> = model_names(&app, &caller).into_iter().map(line).collect();
    Json(json!({"object": "list", "data": data}))
}
