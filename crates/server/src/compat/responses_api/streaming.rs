//! Streams a run as the events of a response.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::response::sse::{Event as Sse, KeepAlive};
use axum::response::{IntoResponse, Response, Sse as SseResponse};
use futures::stream;
use pikerag_engine::keys::now;
use pikerag_engine::narrate::Language;
use serde_json::Value;

use super::content::Reply;
use super::events::Events;
use super::form::Form;
use super::reply::Head;
use crate::compat::words::{DraftWords, line};
use crate::problem::Problem;
use crate::streams::{Happened, Underway, answered, broken};

/// Streams a run from its beginning.
///
/// # Errors
/// The run is refused before it begins, so that the problem has an HTTP status.
pub(super) async fn streamed(
    form: Form,
    language: Language,
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
    let underway = Some(underway);
    let state = Streaming { form, language, events, draft, waiting, underway };
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
    form: Form,
    language: Language,
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
            let language = self.language;
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
                    let reply = match came.and_then(|came| answered(*came, language)) {
                        Ok(came) => self.form.reply(&came.run).await,
                        Err(problem) => Err(problem),
                    };
                    self.last(reply)
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
    fn last(&mut self, reply: Result<Reply, Problem>) -> Vec<Value> {
        match reply {
            Ok(reply) => self.events.answer(&reply, now() / 1000),
            Err(problem) => self.events.fail(&problem),
        }
    }
}
