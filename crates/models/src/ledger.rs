//! Records every call, so that no call is paid twice and every run can be replayed without network.

use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{
    CallRecord, CallRef, ChatModel, ChatReply, ChatRequest, Ledger, ModelError, StoreError,
    TokenLogprob,
};
use serde::Deserialize;

mod claims;
mod embedder;
mod key;
mod memory;
mod pins;
mod reranker;

pub use embedder::RecordedEmbedder;
pub(crate) use key::{canonical, key, served};
pub use memory::MemoryLedger;
pub use pins::Pins;
pub use reranker::RecordedReranker;

use claims::{PollDelay, claim};
use key::following;

use crate::payer::recorded_as;

/// The treatment of a request that was never recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Read recorded calls from the ledger; make and record all others.
    #[default]
    Record,
    /// Fail with [`ModelError::NotRecorded`]: no network.
    ReplayOnly,
}

/// A chat model that records every reply in the ledger before it returns it.
///
/// A new reply is read back from its record, so that a replay cannot differ from the run. Two
/// processes that send the same request at once use the same reply: the second waits for the first.
/// An unusable reply stays on record, and the next run asks again.
///
/// # Cancel safety
/// Dropping the future between the reply and the end of `keep` loses that one reply; the next run
/// asks for it again.
pub struct Recorded<M> {
    inner: M,
    ledger: Arc<dyn Ledger>,
    mode: Mode,
    endpoint: Option<String>,
    pins: Pins,
}

impl<M> Recorded<M> {
    /// Records the calls of a model.
    pub fn new(inner: M, ledger: Arc<dyn Ledger>, mode: Mode) -> Self {
        Self::pinned(inner, ledger, mode, Pins::default())
    }

    /// As [`Recorded::new`], with fixed replies for some requests.
    pub fn pinned(inner: M, ledger: Arc<dyn Ledger>, mode: Mode, pins: Pins) -> Self {
        Self { inner, ledger, mode, endpoint: None, pins }
    }

    /// Gives the model records of its own for one endpoint, identified by
    /// [`crate::endpoint_identity`]: another endpoint may have a different model of this name.
    #[must_use]
    pub fn served_by(self, endpoint: String) -> Self {
        Self { endpoint: Some(endpoint), ..self }
    }
}

impl<M: ChatModel> Recorded<M> {
    /// The keys of a request: the current one, and the one from before records were separated by
    /// endpoint.
    fn keys(&self, kind: &str, json: &str) -> (String, Option<String>) {
        let model = self.inner.name();
        let bare = key(kind, model, json);
        match self.endpoint.as_deref() {
            Some(endpoint) => (key(kind, &served(model, Some(endpoint)), json), Some(bare)),
            None => (bare, None),
        }
    }

    /// The reply that a request has, or the key that its next one will have. It looks under the
    /// request's own key, then under the one from before records were separated by endpoint, if
    /// that record is ours.
    async fn known(
        &self,
        key: &str,
        before: Option<&str>,
    ) -> Result<Result<CallRecord, String>, ModelError> {
        let mut last = self.last(key).await?;
        if let (None, Some(before), Some(endpoint)) = (&last, before, &self.endpoint)
            && let Some(call) = self.last(before).await?
            && self.ledger.inherits(self.inner.name(), endpoint).await.map_err(ledger_error)?
        {
            last = Some(call);
        }
        Ok(match last {
            // The last call, whatever its outcome.
            Some((call, is_pinned))
                if is_pinned || !call.unusable || self.mode == Mode::ReplayOnly =>
            {
                Ok(call)
            }
            Some((call, _)) => Err(following(&call.key)),
            None => Err(key.to_owned()),
        })
    }

    /// The call whose reply a request gets under this key, and whether it is pinned.
    async fn last(&self, key: &str) -> Result<Option<(CallRecord, bool)>, ModelError> {
        if let Some(pinned) = self.pins.of(key)
            && let Some(call) = self.ledger.find(&pinned).await.map_err(ledger_error)?
        {
            return Ok(Some((call, true)));
        }
        if self.pins.are_all() {
            return Ok(None);
        }
        let latest = self.ledger.latest(key).await.map_err(ledger_error)?;
        Ok(latest.map(|call| (call, false)))
    }

    /// The call of the replayed run that differs from this request in its schema only. The schema
    /// of a reply changes between versions of pikerag, and the run's reply is known without it.
    async fn pinned_with_another_schema(
        &self,
        kind: &str,
        json: &str,
    ) -> Result<Option<CallRecord>, ModelError> {
        let requests = self.pins.requests(self.ledger.as_ref()).await.map_err(ledger_error)?;
        for request in requests.like(json) {
            // The key also holds the model and the endpoint, which must be the same.
            let (key, before) = self.keys(kind, request);
            if let Ok(call) = self.known(&key, before.as_deref()).await? {
                return Ok(Some(call));
            }
        }
        Ok(None)
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Recorded<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.inner.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let model = self.inner.name();
        let (kind, json) = kind_and_json(request)?;
        let (request_key, before) = self.keys(kind, &json);
        let mut patience = PollDelay::default();
        let held = loop {
            let key = match self.known(&request_key, before.as_deref()).await? {
                Ok(call) => return read(&call, true),
                Err(key) => key,
            };
            if self.mode == Mode::ReplayOnly {
                let call = self.pinned_with_another_schema(kind, &json).await?;
                let call = call.ok_or_else(|| not_recorded(request.role.as_str(), model))?;
                return read(&call, true);
            }
            let (held, is_free) =
                claim(self.ledger.as_ref(), &[key]).await.map_err(ledger_error)?;
            if !held.keys().is_empty() {
                break held;
            }
            if !is_free {
                patience.wait().await;
            }
        };
        let call = recorded_as(held.keys().to_vec(), self.inner.complete(request));
        let reply = match held.during(call).await {
            Ok(reply) => reply,
            Err(error) => {
                held.give_up().await.map_err(ledger_error)?;
                return Err(error);
            }
        };
        let key = held.keys().first().cloned().unwrap_or(request_key);
        let call = CallRecord {
            role: request.role.to_string(),
            model: model.to_owned(),
            request: json,
            usage: reply.usage,
            reply: serde_json::to_string(&reply)
                .map_err(|error| failed("recording a reply", error))?,
            key,
            unusable: false,
            origin: request.origin.clone(),
        };
        self.ledger.keep_all(vec![call.clone()]).await.map_err(ledger_error)?;
        held.kept();
        let kept = self.ledger.find(&call.key).await.map_err(ledger_error)?;
        // The record keeps neither: they are of this call, and not of the reply.
        let (cached_tokens, timings) = (reply.cached_tokens, reply.timings);
        Ok(ChatReply { cached_tokens, timings, ..read(&kept.unwrap_or(call), false)? })
    }

    async fn discard(&self, calls: &[CallRef]) -> Result<(), ModelError> {
        if self.mode == Mode::ReplayOnly {
            return Ok(());
        }
        let keys: Vec<String> = calls.iter().map(|call| call.key.clone()).collect();
        for key in &keys {
            self.pins.pin(key);
        }
        self.ledger.mark_unusable(&keys).await.map_err(ledger_error)
    }
}

/// The kind of call and the request, as the key contains them. Log-probabilities change the kind,
/// not the request, as they did in the first layout: those calls stay paid.
fn kind_and_json(request: &ChatRequest) -> Result<(&'static str, String), ModelError> {
    let wrong = |error| failed("encoding a request", error);
    if !request.logprobs {
        return Ok(("chat", canonical(request).map_err(wrong)?));
    }
    let plain = ChatRequest { logprobs: false, ..request.clone() };
    Ok(("score", canonical(&plain).map_err(wrong)?))
}

/// A reply in its recorded form.
#[derive(Deserialize)]
#[serde(untagged)]
enum OnRecord {
    Reply(ChatReply),
    /// Before layout 4 log-probabilities were stored beside the reply.
    Scored(ChatReply, Vec<TokenLogprob>),
}

fn read(call: &CallRecord, replayed: bool) -> Result<ChatReply, ModelError> {
    let on_record = serde_json::from_str(&call.reply)
        .map_err(|error| failed(&format!("reading the recorded reply {}", call.key), error))?;
    let reply = match on_record {
        OnRecord::Reply(reply) => reply,
        OnRecord::Scored(reply, logprobs) => ChatReply { logprobs, ..reply },
    };
    Ok(ChatReply { call: Some(CallRef { key: call.key.clone(), replayed }), ..reply })
}

fn failed(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> ModelError {
    ledger_error(StoreError::Failed { what: what.to_owned(), source: error.into() })
}

fn ledger_error(error: StoreError) -> ModelError {
    ModelError::Ledger { source: Box::new(error) }
}

fn not_recorded(role: &str, model: &str) -> ModelError {
    ModelError::NotRecorded { role: role.to_owned(), model: model.to_owned() }
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::{CallOrigin, Claim, Schema, Usage};
    use serde_json::json;

    use super::*;
    use pikerag_doubles::{ScriptedChat, request};

    #[tokio::test]
    async fn asks_once_and_replays() {
        let ledger = Arc::new(MemoryLedger::default());
        let chat = ScriptedChat::in_order(["one", "two"]);
        let recorded = Recorded::new(&chat, ledger.clone(), Mode::Record);
        let first = recorded.complete(&request("a")).await.unwrap();
        let called = |replayed| {
            let key = ledger.calls()[0].key.clone();
            ChatReply { call: Some(CallRef { key, replayed }), ..first.clone() }
        };
        assert_eq!(first, called(false));
        assert_eq!(recorded.complete(&request("a")).await.unwrap(), called(true));
        let mut again = request("a");
        again.sample = 1;
        assert_eq!(recorded.complete(&again).await.unwrap().text, "two");
        assert_eq!(chat.requests().len(), 2);

        let replay = Recorded::new(&chat, ledger.clone(), Mode::ReplayOnly);
        assert_eq!(replay.complete(&request("a")).await.unwrap(), called(true));
        let error = replay.complete(&request("b")).await.unwrap_err();
        insta::assert_snapshot!(error, @"replaying without network, and this `answer` request to fake was never recorded");
        assert_eq!(chat.requests().len(), 2);

        let mut calls = ledger.calls();
        calls.retain(|call| call.reply.contains("one"));
        insta::assert_json_snapshot!(calls, @r#"
        [
          {
            "key": "1531b041f91d75b301bda629515df4d3e7e47ed52e3f484b657fe1fee33b9611",
            "role": "answer",
            "model": "fake",
            "request": "{\"max_tokens\":256,\"messages\":[{\"speaker\":\"user\",\"text\":\"a\"}],\"role\":\"answer\",\"sample\":0,\"schema\":null,\"temperature\":0.0}",
            "reply": "{\"text\":\"one\",\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}",
            "usage": {
              "prompt_tokens": 5,
              "completion_tokens": 1
            }
          }
        ]
        "#);
    }

    /// Reports that its cache held seven tokens of each prompt.
    struct Caching;

    #[async_trait]
    impl ChatModel for Caching {
        fn name(&self) -> &'static str {
            "fake"
        }

        async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ModelError> {
            Ok(ChatReply { cached_tokens: 7, ..ChatReply::default() })
        }
    }

    /// The report of the endpoint on a call reaches its caller. A reply on record has none.
    #[tokio::test]
    async fn tokens_of_the_cache_are_those_of_a_new_call() {
        let recorded = Recorded::new(Caching, Arc::new(MemoryLedger::default()), Mode::Record);
        for cached in [7, 0] {
            let reply = recorded.complete(&request("a")).await.unwrap();
            assert_eq!(reply.cached_tokens, cached);
        }
    }

    /// Two endpoints that use one model name share no records, except those from before records
    /// were separated by endpoint.
    #[tokio::test]
    async fn endpoints_share_no_reply() {
        let ledger = Arc::new(MemoryLedger::default());
        let chat = ScriptedChat::in_order(["old", "here", "there"]);
        let ask = async |endpoint: Option<&str>, text: &str| {
            let recorded = Recorded::new(&chat, ledger.clone(), Mode::Record);
            let recorded = match endpoint {
                Some(endpoint) => recorded.served_by(endpoint.to_owned()),
                None => recorded,
            };
            recorded.complete(&request(text)).await.unwrap().text
        };
        assert_eq!(ask(None, "a").await, "old");
        assert_eq!(ask(Some("1"), "a").await, "old");
        for _ in 0..2 {
            assert_eq!(ask(Some("1"), "b").await, "here");
            assert_eq!(ask(Some("2"), "b").await, "there");
        }
        assert_eq!(chat.requests().len(), 3);
    }

    /// An unusable reply stays, and later runs ask again; within a run, and in its replay, the
    /// reply is the same.
    #[tokio::test]
    async fn an_unusable_reply_is_kept_and_asked_for_again() {
        let ledger = Arc::new(MemoryLedger::default());
        let chat = ScriptedChat::in_order(["bad", "worse", "good"]);
        let run = || Recorded::new(&chat, ledger.clone(), Mode::Record);
        let (first, asked) = (run(), request("a"));
        let bad = first.complete(&asked).await.unwrap();
        let call = bad.call.clone().unwrap();
        first.discard(std::slice::from_ref(&call)).await.unwrap();
        assert_eq!(first.complete(&asked).await.unwrap().text, "bad");
        let second = run();
        let worse = second.complete(&asked).await.unwrap();
        second.discard(&[worse.call.clone().unwrap()]).await.unwrap();
        for _ in 0..2 {
            assert_eq!(run().complete(&asked).await.unwrap().text, "good");
        }
        let keys: Vec<String> = ledger.calls().into_iter().map(|call| call.key).collect();
        assert_eq!(keys, [call.key.clone(), format!("{}#1", call.key), format!("{}#2", call.key)]);

        let replay = |pins| Recorded::pinned(&chat, ledger.clone(), Mode::ReplayOnly, pins);
        assert_eq!(replay(Pins::default()).complete(&asked).await.unwrap().text, "good");
        for (nth, text) in [("", "bad"), ("#1", "worse"), ("#2", "good")] {
            let pins = Pins::all([format!("{}{nth}", call.key)]);
            assert_eq!(replay(pins).complete(&asked).await.unwrap().text, text);
        }
        let error = replay(Pins::all([])).complete(&asked).await.unwrap_err();
        assert!(matches!(error, ModelError::NotRecorded { .. }));
    }

    /// Schemas of replies change between a run and its replay; all else of a request must be equal.
    #[tokio::test]
    async fn a_replayed_run_finds_its_reply_under_another_schema() {
        let ledger = Arc::new(MemoryLedger::default());
        let chat = ScriptedChat::in_order(["one"]);
        let asked = |text: &str, name: &str| {
            let schema = Some(Schema { name: name.to_owned(), schema: json!({}) });
            ChatRequest { schema, ..request(text) }
        };
        let of = |mode, pins, endpoint: &str| {
            Recorded::pinned(&chat, ledger.clone(), mode, pins).served_by(endpoint.to_owned())
        };
        let live = of(Mode::Record, Pins::default(), "1");
        let call = live.complete(&asked("a", "then")).await.unwrap().call.unwrap();
        let pins = || Pins::all([call.key.clone()]);
        let pinned = of(Mode::ReplayOnly, pins(), "1");
        for _ in 0..2 {
            let reply = pinned.complete(&asked("a", "now")).await.unwrap();
            assert_eq!((reply.text.as_str(), reply.call.unwrap().key), ("one", call.key.clone()));
        }
        let longer = ChatRequest { max_tokens: 257, ..asked("a", "now") };
        for (pins, endpoint, asked) in [
            (pins(), "1", asked("b", "now")),
            (pins(), "1", longer),
            (pins(), "2", asked("a", "now")),
            (Pins::default(), "1", asked("a", "now")),
        ] {
            let error = of(Mode::ReplayOnly, pins, endpoint).complete(&asked).await.unwrap_err();
            assert!(matches!(error, ModelError::NotRecorded { .. }), "{error}");
        }
    }

    /// A record from before records were separated by endpoint is marked, requested again, pinned
    /// and claimed by its own key.
    #[tokio::test]
    async fn an_inherited_reply_that_is_unusable_is_asked_for_again() {
        let ledger = Arc::new(MemoryLedger::default());
        let chat = ScriptedChat::in_order(["bad", "good"]);
        let asked = request("a");
        let bare = Recorded::new(&chat, ledger.clone(), Mode::Record);
        let old = bare.complete(&asked).await.unwrap().call.unwrap().key;
        let of = |mode, pins| {
            Recorded::pinned(&chat, ledger.clone(), mode, pins).served_by("1".to_owned())
        };
        let first = of(Mode::Record, Pins::default());
        let bad = first.complete(&asked).await.unwrap();
        assert_eq!(bad.text, "bad");
        first.discard(&[bad.call.unwrap()]).await.unwrap();
        assert_eq!(first.complete(&asked).await.unwrap().text, "bad");
        for _ in 0..2 {
            let good = of(Mode::Record, Pins::default()).complete(&asked).await.unwrap();
            assert_eq!(
                (good.text, good.call.unwrap().key),
                ("good".to_owned(), format!("{old}#1"))
            );
        }
        for (nth, text) in [("", "bad"), ("#1", "good")] {
            let replay = of(Mode::ReplayOnly, Pins::all([format!("{old}{nth}")]));
            assert_eq!(replay.complete(&asked).await.unwrap().text, text);
        }
        assert_eq!(chat.requests().len(), 2);
    }

    #[tokio::test]
    async fn a_failed_call_is_not_recorded() {
        let ledger = Arc::new(MemoryLedger::default());
        let chat = ScriptedChat::in_order(Vec::<String>::new());
        let recorded = Recorded::new(&chat, ledger.clone(), Mode::Record);
        assert!(recorded.complete(&request("a")).await.is_err());
        assert!(ledger.calls().is_empty());
    }

    #[tokio::test]
    async fn the_first_record_wins() {
        /// Finds nothing before the first `keep`, and then a record that another process kept
        /// earlier.
        #[derive(Default)]
        struct Shared(MemoryLedger);
        #[async_trait]
        impl Ledger for Shared {
            async fn find_all(
                &self,
                keys: &[String],
            ) -> Result<Vec<Option<CallRecord>>, StoreError> {
                self.0.find_all(keys).await
            }
            async fn latest(&self, key: &str) -> Result<Option<CallRecord>, StoreError> {
                self.0.latest(key).await
            }
            async fn mark_unusable(&self, keys: &[String]) -> Result<(), StoreError> {
                self.0.mark_unusable(keys).await
            }
            async fn claim_all(
                &self,
                holder: u64,
                keys: &[String],
            ) -> Result<Vec<Claim>, StoreError> {
                self.0.claim_all(holder, keys).await
            }
            fn release(&self, holder: u64, keys: &[String]) {
                self.0.release(holder, keys);
            }
            async fn keep_all(&self, calls: Vec<CallRecord>) -> Result<(), StoreError> {
                let their = |call: &CallRecord| call.reply.replace("ours", "theirs");
                let theirs =
                    calls.iter().map(|call| CallRecord { reply: their(call), ..call.clone() });
                self.0.keep_all(theirs.collect()).await?;
                self.0.keep_all(calls).await
            }
        }
        let chat = ScriptedChat::in_order(["ours"]);
        let recorded = Recorded::new(&chat, Arc::new(Shared::default()), Mode::Record);
        assert_eq!(recorded.complete(&request("a")).await.unwrap().text, "theirs");
    }

    /// The form of calls that were recorded before replies carried their log-probabilities.
    #[tokio::test]
    async fn an_older_record_of_log_probabilities_is_read() {
        let ledger = Arc::new(MemoryLedger::default());
        let scored = ChatRequest { logprobs: true, ..request("a") };
        let (kind, json) = kind_and_json(&scored).unwrap();
        assert_eq!((kind, &json), ("score", &kind_and_json(&request("a")).unwrap().1));
        let usage = Usage { prompt_tokens: 5, completion_tokens: 1 };
        let reply = r#"[{"text":"one","usage":{"prompt_tokens":5,"completion_tokens":1}},[{"token":"one","logprob":-0.5}]]"#;
        let (role, model) = ("answer".to_owned(), "fake".to_owned());
        let key = key(kind, &model, &json);
        let reply = reply.to_owned();
        let call = CallRecord {
            key,
            role,
            model,
            request: json,
            reply,
            usage,
            unusable: false,
            origin: CallOrigin::default(),
        };
        ledger.keep_all(vec![call]).await.unwrap();
        let chat = ScriptedChat::in_order(Vec::<String>::new());
        let recorded = Recorded::new(&chat, ledger, Mode::Record);
        let reply = recorded.complete(&scored).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.logprobs[0].logprob), ("one", -0.5));
        assert!(recorded.complete(&request("a")).await.is_err());
    }

    #[test]
    fn equal_requests_have_equal_keys() {
        let with = |schema| {
            let schema = Some(Schema { name: "x".to_owned(), schema });
            let json = canonical(&ChatRequest { schema, ..request("a") }).unwrap();
            key("chat", "m", &json)
        };
        assert_eq!(
            with(json!({"a": {"b": 1, "c": 2}, "d": 3})),
            with(json!({"d": 3, "a": {"c": 2, "b": 1}}))
        );
        assert_ne!(with(json!({"a": [1, 2]})), with(json!({"a": [2, 1]})));
    }
}
