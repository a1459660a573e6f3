//! Questions and their answers: as one JSON object, or event by event.

use std::convert::Infallible;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event as Sse, KeepAlive};
use axum::response::{IntoResponse, Response, Sse as SseResponse};
use axum::{Extension, Json};
use futures::stream;
use pikerag_engine::knowledge::{Condition, Filter, Level, TaskClass};
use pikerag_engine::{AskRequest, AskResponse};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::app::{App, Caller};
use crate::problem::{JsonBody, Parts, Problem};
use crate::streams::{Happened, Underway, Wanted, answered, broken};

/// A question, and how to answer it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskBody {
    /// The question; at least one word.
    question: String,
    /// A method by name; `pike`, if none is named.
    #[serde(default)]
    method: String,
    /// The class of the question, where whoever asks knows it; with `pike` alone.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    class: Option<TaskClass>,
    /// The level of the answer (`L1` to `L4`); with `pike` alone.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    level: Option<Level>,
    /// What may be seen: conditions such as `folder=law`, `date>=2020`, all of which must fit.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    filter: Vec<Condition>,
}

/// What came of a question.
#[derive(Serialize, ToSchema)]
pub(crate) struct Asked {
    /// The run's name.
    run: String,
    /// Whether the base keeps the run.
    is_kept: bool,
    /// What was asked.
    question: String,
    /// The method that answered.
    method: String,
    /// The answer with its rationale, citations, context, what it was worked out from, the trace, and what was spent.
    #[schema(value_type = Object)]
    answer: Value,
    /// Where each citation can be looked at, in their order.
    links: Vec<String>,
    /// What to know besides.
    #[schema(value_type = Vec<Object>)]
    notices: Vec<Value>,
}

pub(crate) fn told(app: &App, base: &str, came: &AskResponse) -> Asked {
    let mut whole = json!(came);
    let citations = came.run.answer.iter().flat_map(|answer| &answer.citations);
    Asked {
        run: came.run.id.to_string(),
        is_kept: came.is_kept,
        question: came.run.question.text.clone(),
        method: came.run.method.clone(),
        answer: whole.get_mut("answer").map(Value::take).unwrap_or_default(),
        links: citations.map(|citation| app.permalink(base, citation.chunk)).collect(),
        notices: came.notices.iter().map(|notice| json!(notice)).collect(),
    }
}

/// Answers a question, with `Accept: text/event-stream` event by event: `run`, then each `event` of the trace as it happens,
/// then `answer` or `problem`. Whoever goes away stops the run.
#[utoipa::path(post, path = "/api/v1/bases/{base}/ask", tag = "ask", params(("base" = String, Path)),
    request_body = AskBody,
    responses((status = 200, body = Asked), (status = 400, body = Problem), (status = 402, body = Problem)))]
pub(crate) async fn ask(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    headers: HeaderMap,
    JsonBody(body): JsonBody<AskBody>,
) -> Result<Response, Problem> {
    let engine = app.base(&caller, &base)?;
    let request = AskRequest {
        question: body.question,
        method: body.method,
        class: body.class,
        level: body.level,
        filter: Filter { conditions: body.filter },
        ..AskRequest::default()
    };
    let underway = Underway::begin(&app, &caller, engine, Wanted::Ask(request));
    respond(app, base, &headers, underway).await
}

/// What comes of a run: as it happens where that is asked for, else at its end.
pub(crate) async fn respond(
    app: App,
    base: String,
    headers: &HeaderMap,
    underway: Underway,
) -> Result<Response, Problem> {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    if accepted.is_some_and(|accepted| accepted.contains("text/event-stream")) {
        return Ok(as_it_happens(app, base, underway).into_response());
    }
    let came = answered(*underway.end().await?)?;
    Ok(Json(told(&app, &base, &came)).into_response())
}

fn as_it_happens(
    app: App,
    base: String,
    underway: Underway,
) -> SseResponse<impl futures::Stream<Item = Result<Sse, Infallible>>> {
    let events = stream::unfold(Some((underway, false)), move |state| {
        let (app, base) = (app.clone(), base.clone());
        async move {
            let (mut underway, mut has_begun) = state?;
            loop {
                let (name, data) = match underway.next().await {
                    Some(Happened::Began(_)) if has_begun => continue,
                    Some(Happened::Began(run)) => {
                        has_begun = true;
                        let run = json!({"run": run.id, "question": run.question.text, "method": run.method});
                        ("run", run)
                    }
                    Some(Happened::Event(event)) => ("event", json!(event)),
                    Some(Happened::Ended(came)) => {
                        let last = match came.and_then(|came| answered(*came)) {
                            Ok(came) => ("answer", json!(told(&app, &base, &came))),
                            Err(problem) => ("problem", json!(problem)),
                        };
                        return Some((Ok(sse(last.0, &last.1)), None));
                    }
                    None => return Some((Ok(sse("problem", &json!(broken()))), None)),
                };
                return Some((Ok(sse(name, &data)), Some((underway, has_begun))));
            }
        }
    });
    SseResponse::new(events).keep_alive(KeepAlive::default())
}

fn sse(name: &str, data: &Value) -> Sse {
    Sse::default().event(name).data(data.to_string())
}
