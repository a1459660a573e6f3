//! Streams a run to its caller: each event as it happens, the answer while a model writes it, the
//! checked answer last. Dropping the stream stops the run.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event as Sse, KeepAlive};
use axum::response::{IntoResponse, Response, Sse as SseResponse};
use futures::future::BoxFuture;
use futures::stream;
use pikerag_engine::knowledge::{DraftPart, OpenCall, RunEvent, RunRecord, RunSink};
use pikerag_engine::narrate::Language;
use pikerag_engine::parts::{DraftText, OpenCalls};
use pikerag_engine::{AskRequest, AskResponse, EngineError, ForkRequest, Session};
use serde::Serialize;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};

use tracing::Instrument;
use utoipa::ToSchema;

use crate::admission::Place;
use crate::app::App;
use crate::problem::{Fault, Problem};

/// The shortest time between two pieces of a draft.
const DRAFT_PERIOD: Duration = Duration::from_millis(150);
/// The shortest time between two readings of a draft, which is read from its beginning.
const READ_PERIOD: Duration = Duration::from_millis(10);

/// One step of a run.
pub(crate) enum Happened {
    /// It has begun.
    Began(Box<RunRecord>),
    /// The next event.
    Event(Box<RunEvent>),
    /// A model call has begun or ended: the calls that have no reply yet.
    Calls(Vec<OpenCall>),
    /// A model has written more of the answer.
    Draft(DraftPiece),
    /// The run is over.
    Ended(Result<Box<AskResponse>, Problem>),
}

/// A piece of the answer that a model writes, or of its reasons, unchecked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct DraftPiece {
    /// Whether it begins a draft: the text of earlier pieces is void. With an empty text, there is
    /// no draft now.
    pub(crate) begins: bool,
    /// What the draft is: reasons are shown until the answer begins.
    pub(crate) part: DraftPart,
    /// The text to append.
    pub(crate) text: String,
}

/// Whether the answer is sent while a model writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drafts {
    Sent,
    LeftOut,
}

impl Drafts {
    /// Receives the drafts if they are sent. Without a receiver, models are not asked for replies piece by piece.
    fn receiver(self, calls: &OpenCalls) -> Option<watch::Receiver<u64>> {
        match self {
            Self::Sent => Some(calls.drafts()),
            Self::LeftOut => None,
        }
    }
}

/// The run to begin.
pub(crate) enum Wanted {
    Ask(AskRequest),
    Replay(String),
    Fork(ForkRequest),
}

/// Work on the result of a run that is a part of it. It has the place of the run, and stops when the token
/// is cancelled, because the caller has left.
pub(crate) type After = Box<
    dyn FnOnce(Box<AskResponse>, CancellationToken) -> BoxFuture<'static, Box<AskResponse>> + Send,
>;

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
    pub(crate) fn begin(
        app: &App,
        place: Place,
        session: Session,
        wanted: Wanted,
        drafts: Drafts,
    ) -> Self {
        Self::begin_with(app, (place, session), wanted, drafts, None)
    }

    /// As [`Underway::begin`], with work after the run. It is on the task of the run, so that a caller that reads
    /// nothing keeps no place.
    pub(crate) fn begin_with(
        app: &App,
        (place, session): (Place, Session),
        wanted: Wanted,
        drafts: Drafts,
        after: Option<After>,
    ) -> Self {
        let (sender, happened) = unbounded_channel();
        let stop = CancellationToken::new();
        let (app, cancel, has_left) = (Arc::clone(app), stop.clone(), stop.clone());
        app.metrics.asked();
        let began = Instant::now();
        let run = async move {
            let _place = place;
            let listener: Option<Arc<dyn RunSink>> = Some(Arc::new(EventSender(sender.clone())));
            let calls = Arc::new(OpenCalls::default());
            // Before the run begins, so that no change is missed.
            let changes = calls.changes();
            let drafts = drafts.receiver(&calls);
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
                never = send_drafts(&calls, drafts, &sender) => match never {},
            };
            let state = came.as_ref().map_or("refused", |came| came.run.state.as_str());
            let took = began.elapsed();
            let came = match (came.map(Box::new), after) {
                (Ok(came), Some(after)) => Ok(after(came, has_left).await),
                (came, _) => came,
            };
            app.metrics.ran(state, took);
            // The caller may have left.
            let _ = sender.send(Happened::Ended(came.map_err(Problem::from)));
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

/// Sends what is new of the answer that a model writes, after each change, but not too often.
async fn send_drafts(
    calls: &OpenCalls,
    drafts: Option<watch::Receiver<u64>>,
    sender: &UnboundedSender<Happened>,
) -> Infallible {
    let Some(mut drafts) = drafts else { return pending().await };
    let mut sent = SentDraft::default();
    while drafts.changed().await.is_ok() {
        let Some(piece) = sent.next(calls.draft()) else {
            sleep(READ_PERIOD).await;
            continue;
        };
        // The caller may have left.
        let _ = sender.send(Happened::Draft(piece));
        sleep(DRAFT_PERIOD).await;
    }
    pending().await
}

/// The part of a draft that was sent.
#[derive(Default)]
struct SentDraft {
    number: Option<u64>,
    bytes: usize,
}

impl SentDraft {
    /// The piece that follows what was sent; `None` if nothing is new.
    fn next(&mut self, draft: Option<DraftText>) -> Option<DraftPiece> {
        let Some(draft) = draft else {
            let before = std::mem::take(self);
            let (part, text) = (DraftPart::Answer, String::new());
            return before.number.map(|_| DraftPiece { begins: true, part, text });
        };
        let begins = self.number != Some(draft.number);
        let from = if begins { 0 } else { self.bytes };
        let text = draft.text.get(from..).unwrap_or_default().to_owned();
        *self = Self { number: Some(draft.number), bytes: draft.text.len() };
        let part = draft.part;
        (begins || !text.is_empty()).then_some(DraftPiece { begins, part, text })
    }
}

/// An event of a stream: `event` is its name, `data` its content.
pub(crate) fn sent(event: &impl Serialize) -> Sse {
    let value = json!(event);
    let part = |name: &str| value.get(name).cloned().unwrap_or_default();
    Sse::default().event(part("event").as_str().unwrap_or_default()).data(part("data").to_string())
}

/// Whether a request asks for a stream of events.
pub(crate) fn accepts_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/event-stream"))
}

/// A state that changes. A request for a stream of events gets it again at each step, until it is
/// over.
pub(crate) fn watched<T, E>(
    headers: &HeaderMap,
    watched: watch::Receiver<T>,
    is_over: fn(&T) -> bool,
    event: fn(T) -> E,
) -> Response
where
    T: Clone + Serialize + Send + Sync + 'static,
    E: Serialize + 'static,
{
    if !accepts_events(headers) {
        let state = watched.borrow().clone();
        return Json(state).into_response();
    }
    let events = stream::unfold(Some((watched, false)), move |state| async move {
        let (mut watched, was_sent) = state?;
        if was_sent && watched.changed().await.is_err() {
            return None;
        }
        let state = watched.borrow_and_update().clone();
        let next = (!is_over(&state)).then_some((watched, true));
        Some((Ok::<_, Infallible>(sent(&event(state))), next))
    });
    SseResponse::new(events).keep_alive(KeepAlive::default()).into_response()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(number: u64, text: &str) -> DraftText {
        let part = if number == 0 { DraftPart::Reasons } else { DraftPart::Answer };
        DraftText { number, part, text: text.to_owned() }
    }

    #[test]
    fn pieces_add_up_to_the_draft_and_another_draft_begins_again() {
        let mut sent = SentDraft::default();
        let steps = [
            None,
            Some(draft(0, "So")),
            Some(draft(1, "In ")),
            Some(draft(1, "In ")),
            Some(draft(1, "In 青")),
            Some(draft(1, "In 青砚")),
            Some(draft(2, "In 青砚.")),
            None,
            None,
            Some(draft(2, "x")),
        ];
        let mut shown = Vec::new();
        for step in steps {
            shown.push(sent.next(step).map(|piece| (piece.begins, piece.part, piece.text)));
        }
        let piece = |begins, text: &str| Some((begins, DraftPart::Answer, text.to_owned()));
        let wanted = [
            None,
            Some((true, DraftPart::Reasons, "So".to_owned())),
            piece(true, "In "),
            None,
            piece(false, "青"),
            piece(false, "砚"),
            piece(true, "In 青砚."),
            piece(true, ""),
            None,
            piece(true, "x"),
        ];
        assert_eq!(shown, wanted);
    }

    /// `serve` tests the drafts themselves with a model server.
    #[tokio::test]
    async fn without_a_receiver_no_draft_is_sent() {
        let (sender, _happened) = unbounded_channel();
        for drafts in [Drafts::LeftOut, Drafts::Sent] {
            let calls = OpenCalls::default();
            let received = drafts.receiver(&calls);
            let mut sending = Box::pin(send_drafts(&calls, received, &sender));
            assert!(futures::poll!(&mut sending).is_pending());
            assert_eq!(calls.is_watched(), drafts == Drafts::Sent, "{drafts:?}");
        }
    }
}
