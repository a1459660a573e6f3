//! Streams a run as the events of a response.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::response::sse::{Event as Sse, KeepAlive};
use axum::response::{IntoResponse, Response, Sse as SseResponse};
use futures::stream;
use pikerag_engine::keys::now;
use serde_json::Value;

use super::content::Reply;
use super::events::Events;
use super::form::Form;
use super::reply::Head;
use crate::compat::progress::{Progress, Step};
use crate::problem::Problem;
use crate::streams::broken;

/// Streams a run from its beginning.
///
/// # Errors
/// The run is refused before it begins, so that the problem has an HTTP status.
pub(super) async fn streamed(
    form: Form,
    head: Head,
    mut progress: Progress,
) -> Result<Response, Problem> {
    let run = loop {
        match progress.next().await {
            Step::Began(run) => break run,
            Step::Ended(Err(problem)) => return Err(problem),
            Step::Ended(Ok(_)) => return Err(broken()),
            // A model call that rewrites the question.
            Step::Words(_) => {}
        }
    };
    let mut events = Events::new(head, run);
    let waiting = events.begin().into();
    let state = Streaming { form, events, waiting, progress: Some(progress) };
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
    events: Events,
    /// The events to send before anything else.
    waiting: VecDeque<Value>,
    /// None once the run is over.
    progress: Option<Progress>,
}

impl Streaming {
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            let step = self.progress.as_mut()?.next().await;
            let events = match step {
                Step::Began(_) => continue,
                // Text cannot be taken back, so a draft is reasoning.
                Step::Words(words) => self.events.step(&words),
                Step::Ended(came) => {
                    self.progress = None;
                    let reply = match came {
                        Ok(came) => self.form.reply(&came.run).await,
                        Err(problem) => Err(problem),
                    };
                    self.last(reply)
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
