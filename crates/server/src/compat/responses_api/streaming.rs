//! Streams a run as the events of a response.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::response::sse::{Event as Sse, KeepAlive};
use axum::response::{IntoResponse, Response, Sse as SseResponse};
use futures::stream;
use pikerag_engine::AskResponse;
use pikerag_engine::keys::now;
use pikerag_engine::narrate::Language;
use serde_json::Value;

use super::events::Events;
use super::reply::{Head, Reply};
use crate::app::App;
use crate::compat::words::{DraftWords, line};
use crate::problem::Problem;
use crate::streams::{Happened, Underway, answered, broken};

/// The parts of a request that its answer depends on.
pub(super) struct Place {
    pub(super) app: App,
    /// The name of the base.
    pub(super) base: String,
    /// The language of the question.
    pub(super) language: Language,
    /// The largest number of tokens of the answer.
    pub(super) at_most: Option<u64>,
}

/// Streams a run from its beginning.
///
/// # Errors
/// The run is refused before it begins, so that the problem has an HTTP status.
pub(super) async fn streamed(
    place: Place,
    head: Head,
    mut underway: Underway,
) -> Result<Response, Problem> {
    let run = loop {
        match underway.next().await {
            Some(Happened::Began(run)) => break run.id.to_string(),
            Some(Happened::Ended(Err(problem))) => return Err(problem),
            Some(Happened::Ended(Ok(_))) | None => return Err(broken()),
            // A model call that rewrites the question.
            Some(_) => {}
        }
    };
    let mut events = Events::new(head, run);
    let waiting = events.begin().into();
    let draft = DraftWords::default();
    let state = Streaming { place, events, draft, waiting, underway: Some(underway) };
    let events = stream::unfold(state, |mut state| async move {
        let event = state.next().await?;
        Some((Ok::<_, Infallible>(named(&event)), state))
    });
    Ok(SseResponse::new(events).keep_alive(KeepAlive::default()).into_response())
}

/// Streams a reply that is known at once.
pub(super) fn at_once(events: Vec<Value>) -> Response {
    let events = events.into_iter().map(|event| Ok::<_, Infallible>(named(&event)));
    SseResponse::new(stream::iter(events)).into_response()
}

/// An event under the name of its type.
fn named(event: &Value) -> Sse {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    Sse::default().event(kind).data(event.to_string())
}

struct Streaming {
    place: Place,
    events: Events,
    draft: DraftWords,
    /// The events to send before anything else.
    waiting: VecDeque<Value>,
    underway: Option<Underway>,
}

impl Streaming {
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            let language = self.place.language;
            let happened = self.underway.as_mut()?.next().await;
            let events = match happened {
                Some(Happened::Began(_) | Happened::Calls(_)) => continue,
                Some(Happened::Event(event)) => match line(&event, language) {
                    Some(line) => {
                        let end = self.draft.end();
                        self.events.step(&format!("{end}{line}\n"))
                    }
                    None => continue,
                },
                // Text cannot be taken back, so a draft is reasoning.
                Some(Happened::Draft(piece)) => {
                    let words = self.draft.next(&piece, language);
                    self.events.step(&words)
                }
                Some(Happened::Ended(came)) => {
                    self.underway = None;
                    self.last(came.and_then(|came| answered(*came, language)))
                }
                None => {
                    self.underway = None;
                    self.last(Err(broken()))
                }
            };
            self.waiting.extend(events);
        }
    }

    /// The last events of a stream.
    fn last(&mut self, came: Result<AskResponse, Problem>) -> Vec<Value> {
        let came = match came {
            Ok(came) => came,
            Err(problem) => return self.events.fail(&problem),
        };
        let Some(answer) = &came.run.answer else { return self.events.fail(&broken()) };
        let Place { app, base, at_most, .. } = &self.place;
        let reply = Reply::new(answer, *at_most, |citation| app.permalink(base, citation.chunk));
        self.events.answer(&reply, &came.run.cost.spent, now() / 1000)
    }
}
