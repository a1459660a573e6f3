//! Answers questions, as one JSON object or as a stream of events.

use std::convert::Infallible;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as Sse, KeepAlive};
use axum::response::{IntoResponse, Response, Sse as SseResponse};
use axum::{Extension, Json};
use futures::stream;
use pikerag_engine::knowledge::{OpenCall, RunEvent, RunId, RunRecord};
use pikerag_engine::narrate::Language;
use pikerag_engine::{AskRequest, AskResponse, Notice, RunUsd, TracedAnswer};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::app::{App, Caller};
use crate::problem::{JsonBody, Parts, Problem};
use crate::streams::{
    DraftPiece, Drafts, Happened, Underway, Wanted, accepts_events, answered, broken, sent,
};

/// The result of a question.
#[derive(Serialize, ToSchema)]
pub(crate) struct Asked {
    /// The run's name.
    run: String,
    /// Whether the base keeps the run.
    is_kept: bool,
    /// The question.
    question: String,
    /// The method that answered.
    method: String,
    /// The answer with its rationale, citations, context, evidence, trace and cost.
    #[schema(value_type = TracedAnswer)]
    answer: Value,
    /// The cost of its model calls.
    usd: RunUsd,
    /// A link to the passage of each citation, in the order of the citations.
    links: Vec<String>,
    /// Notices about this run.
    notices: Vec<Notice>,
}

/// An event of the stream of a question: its name and its data.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "event", content = "data")]
pub(crate) enum AskEvent {
    /// The first event: the run has begun.
    Run(Begun),
    /// The next event of its trace.
    Event(Box<RunEvent>),
    /// A model call has begun or ended: the calls that have no reply yet, the oldest first.
    Calls(Vec<OpenCall>),
    /// A model has written more of the answer, or of its reasons. It is not checked yet; `answer`
    /// replaces it.
    Draft(DraftPiece),
    /// The last event of a successful run: the result.
    Answer(Box<Asked>),
    /// The last event of a failed run: why it failed.
    Problem(Problem),
}

/// A run that has begun.
#[derive(Serialize, ToSchema)]
pub(crate) struct Begun {
    /// The run's name.
    run: RunId,
    /// The question.
    question: String,
    /// The method that answers.
    method: String,
}

pub(crate) fn asked_of(app: &App, base: &str, came: &AskResponse) -> Asked {
    let mut whole = json!(came);
    let citations = came.run.answer.iter().flat_map(|answer| &answer.citations);
    Asked {
        run: came.run.id.to_string(),
        is_kept: came.is_kept,
        question: came.run.question.text.clone(),
        method: came.run.method.clone(),
        answer: whole.get_mut("answer").map(Value::take).unwrap_or_default(),
        usd: came.usd.clone(),
        links: citations.map(|citation| app.permalink(base, citation.chunk)).collect(),
        notices: came.notices.clone(),
    }
}

/// Answers a question. With `Accept: text/event-stream` it sends a stream: `run`, then each `event`
/// of the trace as it happens, the open model `calls` after each change and the `draft` of the
/// answer while a model writes it, then `answer` or `problem`. Closing the connection stops the
/// run.
#[utoipa::path(post, path = "/api/v1/bases/{base}/ask", operation_id = "ask", tag = "ask", params(("base" = String, Path)),
    request_body = AskRequest,
    responses((status = 200, content((Asked = "application/json"), (AskEvent = "text/event-stream"))), (status = 400, body = Problem), (status = 402, body = Problem)))]
pub(crate) async fn ask(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    headers: HeaderMap,
    JsonBody(request): JsonBody<AskRequest>,
) -> Result<Response, Problem> {
    let session = app.base(&caller, &base)?;
    app.within(&[&request.question], &request.filter.conditions)?;
    app.conversation_within(request.earlier.iter().map(|turn| turn.text.len()).sum())?;
    let place = app.admitted(&caller).await?;
    let request = pikerag_engine::standalone(&session, request).await?;
    let wanted = Wanted::Ask(request);
    let underway = Underway::begin(&app, place, session, wanted, drafts(&headers));
    respond(app, base, &headers, underway).await
}

/// Responds with the run's events as they happen if the request accepts a stream, else with its
/// result.
pub(crate) async fn respond(
    app: App,
    base: String,
    headers: &HeaderMap,
    underway: Underway,
) -> Result<Response, Problem> {
    if accepts_events(headers) {
        return Ok(as_it_happens(app, base, underway).into_response());
    }
    let came = answered(*underway.end().await?, Language::English)?;
    Ok(Json(asked_of(&app, &base, &came)).into_response())
}

/// Drafts are sent in streams alone.
pub(crate) fn drafts(headers: &HeaderMap) -> Drafts {
    if accepts_events(headers) { Drafts::Sent } else { Drafts::LeftOut }
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
                let event = match underway.next().await {
                    Some(Happened::Began(_)) if has_begun => continue,
                    Some(Happened::Began(run)) => {
                        has_begun = true;
                        let RunRecord { id, question, method, .. } = *run;
                        AskEvent::Run(Begun { run: id, question: question.text, method })
                    }
                    Some(Happened::Event(event)) => AskEvent::Event(event),
                    Some(Happened::Calls(calls)) => AskEvent::Calls(calls),
                    Some(Happened::Draft(piece)) => AskEvent::Draft(piece),
                    Some(Happened::Ended(came)) => {
                        let last = match came.and_then(|came| answered(*came, Language::English)) {
                            Ok(came) => AskEvent::Answer(Box::new(asked_of(&app, &base, &came))),
                            Err(problem) => AskEvent::Problem(problem),
                        };
                        return Some((Ok(sent(&last)), None));
                    }
                    None => return Some((Ok(sent(&AskEvent::Problem(broken()))), None)),
                };
                return Some((Ok(sent(&event)), Some((underway, has_begun))));
            }
        }
    });
    SseResponse::new(events).keep_alive(KeepAlive::default())
}
