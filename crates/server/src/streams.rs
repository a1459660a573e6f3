//! Streams a run to its caller: each event as it happens, the checked answer last. Dropping the
//! stream stops the run.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Instant;

use axum::response::sse::Event as Sse;
use pikerag_engine::knowledge::{OpenCall, RunEvent, RunRecord, RunSink};
use pikerag_engine::narrate::Language;
use pikerag_engine::parts::OpenCalls;
use pikerag_engine::{AskRequest, AskResponse, EngineError, ForkRequest, Session};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use tracing::Instrument;

use crate::admission::Place;
use crate::app::App;
use crate::problem::{Fault, Problem};

/// One step of a run.
pub(crate) enum Happened {
    /// It has begun.
    Began(Box<RunRecord>),
    /// The next event.
    Event(Box<RunEvent>),
    /// A model call has begun or ended: the calls that have no reply yet.
    Calls(Vec<OpenCall>),
    /// The run is over.
    Ended(Result<Box<AskResponse>, Problem>),
}

/// The run to begin.
pub(crate) enum Wanted {
    Ask(AskRequest),
    Replay(String),
    Fork(ForkRequest),
}

/// A running run. Dropping it stops the run: no model call begins after that.
pub(crate) struct Underway {
    happened: UnboundedReceiver<Happened>,
    _stops: DropGuard,
}

struct EventSender(UnboundedSender<Happened>);

impl RunSink for EventSender {
    fn record(&self, run: &RunRecord) {
        // The caller may have left.
        let _ = self.0.send(Happened::Began(Box::new(run.clone())));
    }

    fn event(&self, event: &RunEvent) {
        let _ = self.0.send(Happened::Event(Box::new(event.clone())));
    }
}

impl Underway {
    /// Begins a run on a task of its own, so that it is recorded to its end even if the caller
    /// leaves. The next one may begin when it has ended.
    pub(crate) fn begin(app: &App, place: Place, session: Session, wanted: Wanted) -> Self {
        let (sender, happened) = unbounded_channel();
        let stop = CancellationToken::new();
        let (app, cancel) = (Arc::clone(app), stop.clone());
        app.metrics.asked();
        let began = Instant::now();
        let run = async move {
            let _place = place;
            let listener: Option<Arc<dyn RunSink>> = Some(Arc::new(EventSender(sender.clone())));
            let calls = Arc::new(OpenCalls::default());
            // Before the run begins, so that no change is missed.
            let changes = calls.changes();
            let open_calls = Some(Arc::clone(&calls));
            let asked = |ask: AskRequest| AskRequest { listener, cancel, open_calls, ..ask };
            let run = async {
                match wanted {
                    Wanted::Ask(ask) => pikerag_engine::ask(&session, &asked(ask)).await,
                    Wanted::Replay(run) => {
                        let ask = asked(AskRequest::default());
                        pikerag_engine::replay_run(&session, &run, &ask).await
                    }
                    Wanted::Fork(fork) => {
                        let fork = ForkRequest { ask: asked(AskRequest::default()), ..fork };
                        pikerag_engine::fork_run(&session, &fork).await
                    }
                }
            };
            let came = tokio::select! {
                biased;
                came = run => came,
                never = send_calls(&calls, changes, &sender) => match never {},
            };
            let state = came.as_ref().map_or("refused", |came| came.run.state.as_str());
            app.metrics.ran(state, began.elapsed());
            let _ = sender.send(Happened::Ended(came.map(Box::new).map_err(Problem::from)));
        };
        let run: JoinHandle<()> = tokio::spawn(run.in_current_span());
        drop(run);
        Self { happened, _stops: stop.drop_guard() }
    }

    /// The next step; `None` once the run is over.
    pub(crate) async fn next(&mut self) -> Option<Happened> {
        self.happened.recv().await
    }

    /// The result, without the steps.
    pub(crate) async fn end(mut self) -> Result<Box<AskResponse>, Problem> {
        while let Some(happened) = self.next().await {
            if let Happened::Ended(came) = happened {
                return came;
            }
        }
        Err(broken())
    }
}

/// Sends the open calls after each change.
async fn send_calls(
    calls: &OpenCalls,
    mut changes: watch::Receiver<u64>,
    sender: &UnboundedSender<Happened>,
) -> Infallible {
    while changes.changed().await.is_ok() {
        // The caller may have left.
        let _ = sender.send(Happened::Calls(calls.list()));
    }
    pending().await
}

/// An event of a stream: `event` is its name, `data` its content.
pub(crate) fn sent(event: &impl Serialize) -> Sse {
    let value = json!(event);
    let part = |name: &str| value.get(name).cloned().unwrap_or_default();
    Sse::default().event(part("event").as_str().unwrap_or_default()).data(part("data").to_string())
}

/// A run that ended without a result.
pub(crate) fn broken() -> Problem {
    Problem::new(500, "run-broken", Fault::Server)
        .saying("the run ended without a result; see the server's log")
}

/// The answer of a run, or its problem.
pub(crate) fn answered(came: AskResponse, language: Language) -> Result<AskResponse, Problem> {
    match came.result {
        Ok(answer) => Ok(AskResponse { result: Ok(answer), ..came }),
        Err(error) => {
            let problem = Problem::worded(&EngineError::from(error), language);
            Err(if came.is_kept {
                problem.hint(format!("the run {} keeps its events and its cost", came.run.id))
            } else {
                problem
            })
        }
    }
}
