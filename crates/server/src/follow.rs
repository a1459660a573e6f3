//! Follows a run by the events that the base stores, whichever server makes it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};
use axum::response::sse::{Event as Sse, KeepAlive};
use axum::response::{IntoResponse, Response, Sse as SseResponse};
use futures::stream;
use pikerag_engine::knowledge::{RunEvent, RunState};
use pikerag_engine::{RunSummary, Session};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use utoipa::ToSchema;

use crate::app::App;
use crate::problem::Problem;
use crate::streams::sent;

/// The header with the number of the last event that a client received.
const LAST: HeaderName = HeaderName::from_static("last-event-id");
/// The pause between two readings of a running run without notifications, and with them: one may be
/// lost. A run stores its events 100 ms after they happen.
const PERIOD: Duration = Duration::from_millis(300);
const PERIOD_BESIDE: Duration = Duration::from_secs(1);

/// An event of the stream of a kept run: its name and its data.
#[derive(Clone, Serialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "event", content = "data")]
pub(crate) enum FollowEvent {
    /// The first event: the run as it is now.
    Run(Box<RunSummary>),
    /// The next event of its trace. The `id` of the stream's event is its number: sent as
    /// `Last-Event-ID`, it continues behind this event, on any server.
    Event(Box<RunEvent>),
    /// The last event: the run as it ended, or as its server left it.
    Ended(Box<RunSummary>),
    /// The last event if the run cannot be read any more.
    Problem(Problem),
}

/// A run that is followed.
struct Following {
    app: App,
    session: Session,
    run: String,
    /// The number of the last event that was sent.
    last: Option<u32>,
    pending: VecDeque<FollowEvent>,
    /// Wakes it when any run has more events.
    changes: Option<watch::Receiver<u64>>,
    has_begun: bool,
    is_over: bool,
}

/// A stream of the events of a run, until it has ended. It ends early when this server stops: the client
/// then continues on another one.
///
/// # Errors
/// There is no such run.
pub(crate) async fn followed(
    app: App,
    session: Session,
    run: &str,
    headers: &HeaderMap,
    shown: fn(&mut RunSummary),
) -> Result<Response, Problem> {
    let last = headers.get(LAST).and_then(|last| last.to_str().ok()?.trim().parse().ok());
    // The name may be the beginning of a name, which later runs could share.
    let run = pikerag_engine::follow_run(&session, run, Some(u32::MAX)).await?.summary.run.id.0;
    let changes = pikerag_engine::run_changes(&session).await?;
    let (pending, has_begun, is_over) = (VecDeque::new(), false, false);
    let following = Following { app, session, run, last, pending, changes, has_begun, is_over };
    let events = stream::unfold(following, move |mut following| async move {
        let event = following.next(shown).await?;
        let sse = match &event {
            FollowEvent::Event(of_run) => sent(&event).id(of_run.seq.to_string()),
            _ => sent(&event),
        };
        Some((Ok::<Sse, Infallible>(sse), following))
    });
    Ok(SseResponse::new(events).keep_alive(KeepAlive::default()).into_response())
}

impl Following {
    async fn next(&mut self, shown: fn(&mut RunSummary)) -> Option<FollowEvent> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            if self.has_begun {
                tokio::select! {
                    () = woken(self.changes.as_mut()) => {}
                    () = self.app.stopping.cancelled() => return None,
                }
            }
            self.read(shown).await;
        }
    }

    async fn read(&mut self, shown: fn(&mut RunSummary)) {
        let read = pikerag_engine::follow_run(&self.session, &self.run, self.last).await;
        let mut came = match read {
            Ok(came) => came,
            Err(error) => {
                self.is_over = true;
                self.pending.push_back(FollowEvent::Problem(error.into()));
                return;
            }
        };
        shown(&mut came.summary);
        if !self.has_begun {
            self.has_begun = true;
            self.pending.push_back(FollowEvent::Run(Box::new(came.summary.clone())));
        }
        for event in came.events {
            self.last = Some(event.seq);
            self.pending.push_back(FollowEvent::Event(Box::new(event)));
        }
        if came.summary.run.state != RunState::Running || came.summary.interrupted {
            self.is_over = true;
            self.pending.push_back(FollowEvent::Ended(Box::new(came.summary)));
        }
    }
}

/// Waits until a run may have more events.
async fn woken(changes: Option<&mut watch::Receiver<u64>>) {
    let Some(changes) = changes else { return sleep(PERIOD).await };
    match timeout(PERIOD_BESIDE, changes.changed()).await {
        Ok(Ok(())) | Err(_) => {}
        // Nothing wakes it any more.
        Ok(Err(_)) => sleep(PERIOD).await,
    }
}
