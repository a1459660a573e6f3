//! Lets identical requests at one time share one call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pikerag_knowledge::{CallRef, ChatModel, ChatReply, ChatRequest, ModelError};
use tokio::sync::OnceCell;

use crate::draft::{SharedDraft, shared_by};
use crate::ledger::{canonical, key};
use crate::open_calls::OpenCalls;

/// A chat model that makes one call for all identical requests at one time. A caller that joins a
/// call gets the reply marked as replayed, because another caller has paid for it, and sees its
/// draft meanwhile.
///
/// # Cancel safety
/// If the calling task fails or is dropped, one of the waiting callers takes over. Errors are not
/// shared: each waiting caller then makes its own call, one after the other.
pub struct SingleFlight<M> {
    inner: M,
    flights: Arc<Flights>,
    /// Requests are compared within this scope: those of one base.
    scope: String,
    /// Shows the drafts of joined calls.
    open_calls: Option<Arc<OpenCalls>>,
}

/// The running calls.
#[derive(Debug, Default)]
pub struct Flights(Mutex<HashMap<String, Arc<Flight>>>);

/// A call and those who wait for it.
#[derive(Debug, Default)]
struct Flight {
    /// Filled by the first success.
    reply: OnceCell<ChatReply>,
    /// The answer so far, if the caller who makes the call watches it.
    draft: Arc<SharedDraft>,
}

impl<M> SingleFlight<M> {
    /// Lets equal requests to `inner` share a call; nothing is kept after it.
    pub fn new(inner: M) -> Self {
        Self::among(inner, Arc::default(), String::new())
    }

    /// As [`SingleFlight::new`], among all models that share these flights and this scope.
    pub(crate) fn among(inner: M, flights: Arc<Flights>, scope: String) -> Self {
        Self { inner, flights, scope, open_calls: None }
    }

    /// Shows the drafts of joined calls here, as [`crate::Observed`] shows those of its own calls.
    #[must_use]
    pub(crate) fn shown_in(self, open_calls: Option<Arc<OpenCalls>>) -> Self {
        Self { open_calls, ..self }
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for SingleFlight<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.inner.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let Ok(json) = canonical(request) else {
            return self.inner.complete(request).await; // There is no key to compare.
        };
        let kind = if request.logprobs { "scored" } else { "chat" };
        let seat = Seat::take(&self.flights, key(kind, &self.scope, &json));
        let draft = &seat.flight.draft;
        let mut joined = self.open_calls.as_ref().and_then(|calls| calls.join(request, draft));
        let mut has_joined = true;
        let ask = || {
            has_joined = false;
            drop(joined.take());
            shared_by(Arc::clone(draft), self.inner.complete(request))
        };
        let mut reply = seat.flight.reply.get_or_try_init(ask).await.cloned()?;
        if let Some(joined) = joined {
            joined.answered();
        }
        if let Some(call) = &mut reply.call {
            call.replayed |= has_joined;
        }
        Ok(reply)
    }

    async fn discard(&self, calls: &[CallRef]) -> Result<(), ModelError> {
        self.inner.discard(calls).await
    }
}

/// One caller's place in a flight; the last to leave, or the first after the reply, removes it.
struct Seat<'a> {
    flights: &'a Flights,
    key: String,
    flight: Arc<Flight>,
}

impl<'a> Seat<'a> {
    fn take(flights: &'a Flights, key: String) -> Self {
        let mut map = flights.0.lock().unwrap_or_else(PoisonError::into_inner);
        let flight = map.entry(key.clone()).or_default().clone();
        Self { flights, key, flight }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut map = self.flights.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = map.get(&self.key).is_some_and(|flight| Arc::ptr_eq(flight, &self.flight));
        // Two owners: the map and this seat. Others can come only under the lock that we hold.
        if ours && (self.flight.reply.initialized() || Arc::strong_count(&self.flight) == 2) {
            map.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::future::join_all;
    use futures::poll;

    use super::*;
    use crate::draft::watched;
    use crate::open_calls::Observed;
    use pikerag_doubles::{ScriptedChat, request};
    use pikerag_knowledge::{DraftFields, Usage};
    use tokio::task::yield_now;

    const SHORT: Duration = Duration::from_millis(5);

    #[tokio::test]
    async fn identical_requests_share_one_call() {
        let chat = ScriptedChat::in_order(["one", "two"]).with_latency(SHORT);
        let single = SingleFlight::new(&chat);
        let (same, other) = (request("a"), request("b"));
        let asked = [&same, &other, &same, &same].map(|request| single.complete(request));
        let replies: Vec<_> = join_all(asked).await.into_iter().map(|r| r.unwrap().text).collect();
        assert_eq!(replies, ["one", "two", "one", "one"]);
        assert_eq!(chat.requests().len(), 2);
        assert!(single.flights.0.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_later_request_is_a_new_call() {
        let chat = ScriptedChat::in_order(["one", "two"]);
        let single = SingleFlight::new(&chat);
        assert_eq!(single.complete(&request("a")).await.unwrap().text, "one");
        assert_eq!(single.complete(&request("a")).await.unwrap().text, "two");
    }

    #[tokio::test]
    async fn waiting_callers_take_over_after_a_failure() {
        let chat = ScriptedChat::by_turn(|turn, _| {
            if turn == 0 { Err(pikerag_doubles::busy("fake")) } else { Ok("fine".to_owned()) }
        });
        let chat = chat.with_latency(SHORT);
        let single = SingleFlight::new(&chat);
        let same = request("a");
        let replies = join_all([0, 1, 2].map(|_| single.complete(&same))).await;
        assert!(replies[0].is_err());
        assert_eq!(replies[1].as_ref().unwrap().text, "fine");
        assert_eq!(replies[2].as_ref().unwrap().text, "fine");
        assert_eq!(chat.requests().len(), 2);
        assert!(single.flights.0.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn waiting_callers_take_over_from_a_dropped_one() {
        let chat = ScriptedChat::by(|_| Ok("fine".to_owned())).with_latency(SHORT);
        let single = SingleFlight::new(&chat);
        let same = request("a");
        let mut leaves = single.complete(&same);
        let mut stays = single.complete(&same);
        assert!(poll!(&mut leaves).is_pending() && poll!(&mut stays).is_pending());
        drop(leaves);
        assert_eq!(stays.await.unwrap().text, "fine");
        assert_eq!(chat.requests().len(), 2);
        assert!(single.flights.0.lock().unwrap().is_empty());
    }
    /// A model that writes its answer in two pieces if somebody watches, each after a pause.
    struct Streams;

    #[async_trait]
    impl ChatModel for Streams {
        fn name(&self) -> &'static str {
            "streams"
        }

        async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ModelError> {
            yield_now().await;
            if let Some(draft) = watched() {
                draft.restart();
                for piece in [r#"{"answer": "Os"#, r#"lo"}"#] {
                    draft.push(piece);
                    yield_now().await;
                }
            }
            Ok(ChatReply::new(r#"{"answer": "Oslo"}"#, Usage::default()))
        }
    }

    /// The model as one question asks it.
    fn asked_by(calls: &Arc<OpenCalls>, flights: &Arc<Flights>) -> SingleFlight<Observed<Streams>> {
        let observed = Observed::new(Streams, Some(Arc::clone(calls)));
        let single = SingleFlight::among(observed, Arc::clone(flights), String::new());
        single.shown_in(Some(Arc::clone(calls)))
    }

    fn final_request() -> ChatRequest {
        let mut asked = request("Where?");
        asked.origin.draft = Some(DraftFields { answer: "answer", only_if: None, reasons: None });
        asked
    }

    fn shown(calls: &OpenCalls) -> Option<String> {
        calls.draft().map(|draft| draft.text)
    }

    #[tokio::test]
    async fn all_who_wait_for_a_call_see_its_draft() {
        let (flights, asked) = (Arc::default(), final_request());
        let [leader, early, late, blind] = [(); 4].map(|()| Arc::new(OpenCalls::default()));
        let mut changes = [&leader, &early, &late].map(|calls| calls.drafts());
        let models = [&leader, &early, &late, &blind].map(|calls| asked_by(calls, &flights));
        let [mut leads, mut waits, mut comes, mut other] =
            models.each_ref().map(|model| model.complete(&asked));
        // The first joins before a word is written, and the second after.
        assert!(poll!(&mut leads).is_pending() && poll!(&mut waits).is_pending());
        assert_eq!((shown(&leader), shown(&early)), (None, None));
        changes[1].mark_unchanged();
        assert!(poll!(&mut leads).is_pending());
        assert!(changes[1].has_changed().unwrap());
        assert!(poll!(&mut comes).is_pending() && poll!(&mut other).is_pending());
        assert!(changes[2].has_changed().unwrap());
        for calls in [&leader, &early, &late] {
            assert_eq!(shown(calls).as_deref(), Some("Os"));
        }
        changes[2].mark_unchanged();
        assert!(poll!(&mut leads).is_pending());
        assert!(changes[2].has_changed().unwrap());
        // Only the first question has an open call, and nobody watches the last one.
        assert_eq!((leader.list().len(), early.list().len(), shown(&blind)), (1, 0, None));
        for reply in join_all([leads, waits, comes, other]).await {
            assert_eq!(reply.unwrap().text, r#"{"answer": "Oslo"}"#);
        }
        for calls in [&leader, &early, &late] {
            assert_eq!(shown(calls).as_deref(), Some("Oslo"), "until the next call");
        }
    }

    #[tokio::test]
    async fn a_caller_who_takes_over_gets_a_draft_of_its_own() {
        let (flights, asked) = (Arc::default(), final_request());
        let [leader, joins] = [(); 2].map(|()| Arc::new(OpenCalls::default()));
        let _watched = [&leader, &joins].map(|calls| calls.drafts());
        let models = [&leader, &joins].map(|calls| asked_by(calls, &flights));
        let [mut leads, mut waits] = models.each_ref().map(|model| model.complete(&asked));
        for _ in 0..2 {
            assert!(poll!(&mut leads).is_pending() && poll!(&mut waits).is_pending());
        }
        let first = joins.draft().unwrap();
        drop(leads);
        assert_eq!(shown(&joins), None, "the call is gone");
        for _ in 0..2 {
            assert!(poll!(&mut waits).is_pending());
        }
        let second = joins.draft().unwrap();
        assert_eq!(first.text, second.text);
        assert_ne!(first.number, second.number);
        assert_eq!(joins.list().len(), 1);
        waits.await.unwrap();
        assert_eq!(shown(&joins).as_deref(), Some("Oslo"));
    }
}
