//! Lets identical requests at one time share one call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pikerag_knowledge::{CallRef, ChatModel, ChatReply, ChatRequest, ModelError};
use tokio::sync::OnceCell;

use crate::ledger::{canonical, key};

/// A chat model that makes one call for all identical requests at one time. A caller that joins a
/// call gets the reply marked as replayed, because another caller has paid for it.
///
/// # Cancel safety
/// If the calling task fails or is dropped, one of the waiting callers takes over. Errors are not
/// shared: each waiting caller then makes its own call, one after the other.
pub struct SingleFlight<M> {
    inner: M,
    flights: Arc<Flights>,
    /// Requests are compared within this scope: those of one base.
    scope: String,
}

/// The running calls.
#[derive(Debug, Default)]
pub struct Flights(Mutex<HashMap<String, Flight>>);

/// Filled by the first success.
type Flight = Arc<OnceCell<ChatReply>>;

impl<M> SingleFlight<M> {
    /// Lets equal requests to `inner` share a call; nothing is kept after it.
    pub fn new(inner: M) -> Self {
        Self::among(inner, Arc::default(), String::new())
    }

    /// As [`SingleFlight::new`], among all models that share these flights and this scope.
    pub(crate) fn among(inner: M, flights: Arc<Flights>, scope: String) -> Self {
        Self { inner, flights, scope }
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
        let mut has_joined = true;
        let ask = || {
            has_joined = false;
            self.inner.complete(request)
        };
        let mut reply = seat.flight.get_or_try_init(ask).await.cloned()?;
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
    flight: Flight,
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
        if ours && (self.flight.initialized() || Arc::strong_count(&self.flight) == 2) {
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
    use pikerag_doubles::{ScriptedChat, request};

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
}
