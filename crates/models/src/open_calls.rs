//! Shows the chat calls that have no reply yet, with the answer that one of them writes, and measures
//! how long calls take.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use pikerag_knowledge::{CallRef, ChatModel, ChatReply, ChatRequest, ModelError, OpenCall, Role};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tracing::debug;

use crate::draft::{Changes, Draft, DraftText, SharedDraft, share, watched_by};
use crate::estimate::estimate_prompt;
use crate::speeds::Speed;

/// The chat calls of one question that have no reply yet. Calls that the ledger answers, and calls
/// that join one of another question, are not among them; the draft of a joined call is shown.
#[derive(Debug)]
pub struct OpenCalls {
    state: Mutex<State>,
    /// The number of changes so far.
    changes: watch::Sender<u64>,
    /// The number of changes of drafts so far.
    drafts: Changes,
}

#[derive(Debug, Default)]
struct State {
    /// By the order of their beginning.
    open: BTreeMap<u64, Begun>,
    begun: u64,
    /// Final answers of calls that this question waits for, by the order of their beginning.
    joined: BTreeMap<u64, Arc<SharedDraft>>,
    /// The draft of the last call, if it was answered and none has begun since.
    last: Option<Arc<Draft>>,
    /// The pace of calls before this question.
    earlier: Paces,
    /// The pace of calls of this question.
    measured: Paces,
}

#[derive(Debug)]
struct Begun {
    role: Role,
    model: String,
    passages: u64,
    prompt_tokens: u64,
    at: Instant,
    /// Filled while the reply arrives; `None` if nobody watches, or if it is no final answer.
    draft: Option<Arc<Draft>>,
}

/// The pace of answered calls, by model and role. It contains no text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paces(BTreeMap<String, ModelPace>);

/// The pace of one model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ModelPace {
    #[serde(flatten)]
    by_role: BTreeMap<Role, Pace>,
    /// Measured by endpoints that report times, and by `doctor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    speed: Option<Speed>,
}

/// Sums over answered calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Pace {
    calls: u64,
    /// Estimated, as for the calls that are compared with them.
    prompt_tokens: u64,
    completion_tokens: u64,
    millis: u64,
    /// The calls whose replies arrived piece by piece, and the sum of their milliseconds to the
    /// first piece.
    #[serde(default)]
    streamed: u64,
    #[serde(default)]
    first_token_ms: u64,
}

impl Default for OpenCalls {
    fn default() -> Self {
        let (changes, drafts) = (watch::Sender::new(0), Arc::new(watch::Sender::new(0)));
        Self { state: Mutex::default(), changes, drafts }
    }
}

impl OpenCalls {
    /// The open calls, the oldest first.
    pub fn list(&self) -> Vec<OpenCall> {
        let state = self.state();
        let shown = |call: &Begun| OpenCall {
            role: call.role,
            model: call.model.clone(),
            passages: call.passages,
            prompt_tokens: call.prompt_tokens,
            waited_ms: millis(call.at.elapsed()),
            expected_ms: state.expected_ms(call),
        };
        state.open.values().map(shown).collect()
    }

    /// Notifies of each call that begins or ends.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Notifies of each piece of a draft. While a receiver exists, final answers are received from
    /// their models piece by piece.
    pub fn drafts(&self) -> watch::Receiver<u64> {
        self.drafts.subscribe()
    }

    /// Whether a receiver of drafts exists.
    pub fn is_watched(&self) -> bool {
        0 < self.drafts.receiver_count()
    }

    /// The answer that a model writes now, or its reasons, unchecked: of the oldest call that has one. After its
    /// call it stays until another call begins.
    pub fn draft(&self) -> Option<DraftText> {
        let state = self.state();
        let open = state.open.values().filter_map(|call| call.draft.clone());
        let joined = state.joined.values().filter_map(|shared| shared.draft());
        open.chain(joined).chain(state.last.clone()).find_map(|draft| draft.text())
    }

    /// Sets the pace of earlier calls, from which the expected times are computed.
    pub fn expect(&self, earlier: Paces) {
        self.state().earlier = earlier;
    }

    /// Takes the pace of the calls that were answered since the last `take_measured`. The expected
    /// times of later calls still use it.
    pub fn take_measured(&self) -> Paces {
        let mut state = self.state();
        let measured = std::mem::take(&mut state.measured);
        state.earlier.merge(&measured);
        measured
    }

    /// Shows the draft of a call that another question may make, while this one waits for it; `None`
    /// if nobody watches, or if it is no final answer.
    pub(crate) fn join(
        &self,
        request: &ChatRequest,
        shared: &Arc<SharedDraft>,
    ) -> Option<Joined<'_>> {
        request.origin.draft.filter(|_| self.is_watched())?;
        let mut state = self.state();
        let id = state.begun;
        state.begun += 1;
        state.joined.insert(id, Arc::clone(shared));
        drop(state);
        shared.join(&self.drafts);
        Some(Joined { calls: self, id, shared: Arc::clone(shared) })
    }

    fn begin(&self, model: &str, request: &ChatRequest) -> Opened<'_> {
        let fields = request.origin.draft.filter(|_| self.is_watched());
        let draft = fields.map(|fields| Arc::new(Draft::new(fields, Arc::clone(&self.drafts))));
        let call = Begun {
            role: request.role,
            model: model.to_owned(),
            passages: request.origin.n_passages as u64,
            prompt_tokens: estimate_prompt(request),
            at: Instant::now(),
            draft: draft.clone(),
        };
        let mut state = self.state();
        let id = state.begun;
        state.begun += 1;
        state.open.insert(id, call);
        let replaced = state.last.take();
        drop(state);
        if replaced.is_some() {
            self.drafts.send_modify(|changes| *changes += 1);
        }
        self.changed();
        Opened { calls: self, id, draft }
    }

    fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn expected_ms(&self, call: &Begun) -> Option<u64> {
        let mut pace = self.earlier.of(&call.model, call.role);
        pace.add(self.measured.of(&call.model, call.role));
        pace.expected_ms(call.prompt_tokens)
    }
}

impl Paces {
    /// Whether no call was measured.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Self) {
        for (model, own) in &other.0 {
            for (role, pace) in &own.by_role {
                self.entry(model, *role).add(*pace);
            }
            if let Some(speed) = own.speed {
                self.add_speed(model, speed);
            }
        }
    }

    /// How fast a model reads and writes; `None` if it was not measured.
    pub fn speed(&self, model: &str) -> Option<Speed> {
        self.0.get(model)?.speed
    }

    /// Adds the measured speed of a model.
    pub fn add_speed(&mut self, model: &str, speed: Speed) {
        self.0.entry(model.to_owned()).or_default().speed.get_or_insert_default().add(speed);
    }

    /// The mean tokens of a reply; `None` without a call.
    pub fn reply_tokens(&self, model: &str, role: Role) -> Option<f64> {
        let pace = self.of(model, role);
        (0 < pace.calls).then(|| pace.completion_tokens as f64 / pace.calls as f64)
    }

    fn of(&self, model: &str, role: Role) -> Pace {
        self.0.get(model).and_then(|own| own.by_role.get(&role)).copied().unwrap_or_default()
    }

    fn entry(&mut self, model: &str, role: Role) -> &mut Pace {
        self.0.entry(model.to_owned()).or_default().by_role.entry(role).or_default()
    }
}

impl Pace {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.millis += other.millis;
        self.streamed += other.streamed;
        self.first_token_ms += other.first_token_ms;
    }

    /// The time of a call with this prompt and a reply of mean length, at the mean time of a token.
    fn expected_ms(self, prompt_tokens: u64) -> Option<u64> {
        let tokens = self.prompt_tokens + self.completion_tokens;
        if self.calls == 0 || tokens == 0 {
            return None;
        }
        let reply = self.completion_tokens as f64 / self.calls as f64;
        let share = (prompt_tokens as f64 + reply) / tokens as f64;
        Some((self.millis as f64 * share).round() as u64)
    }
}

/// A call from its beginning to its reply, its error or its cancellation.
struct Opened<'a> {
    calls: &'a OpenCalls,
    id: u64,
    draft: Option<Arc<Draft>>,
}

impl Opened<'_> {
    /// Counts its time.
    fn answered(self, reply: &ChatReply) {
        let mut state = self.calls.state();
        if let Some(call) = state.open.remove(&self.id) {
            let first = call.draft.as_ref().and_then(|draft| draft.first());
            let first = first.map(|first| millis(first.saturating_duration_since(call.at)));
            let pace = Pace {
                calls: 1,
                prompt_tokens: call.prompt_tokens,
                completion_tokens: reply.usage.completion_tokens,
                millis: millis(call.at.elapsed()),
                streamed: u64::from(first.is_some()),
                first_token_ms: first.unwrap_or_default(),
            };
            if let Some(first_token_ms) = first {
                debug!(model = call.model, %call.role, first_token_ms, pace.millis, "streamed");
            }
            state.measured.entry(&call.model, call.role).add(pace);
            if let Some(timings) = reply.timings {
                state.measured.add_speed(&call.model, Speed::of(timings));
            }
            state.last = call.draft;
        }
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        let failed = self.calls.state().open.remove(&self.id);
        if let Some(draft) = failed.and_then(|call| call.draft) {
            draft.clear();
        }
        self.calls.changed();
    }
}

/// A call whose reply this question waits for, from its beginning to its end.
pub(crate) struct Joined<'a> {
    calls: &'a OpenCalls,
    id: u64,
    shared: Arc<SharedDraft>,
}

impl Joined<'_> {
    /// Shows the draft until the next call begins.
    pub(crate) fn answered(self) {
        if let Some(draft) = self.shared.draft() {
            self.calls.state().last = Some(draft);
        }
    }
}

impl Drop for Joined<'_> {
    fn drop(&mut self) {
        self.calls.state().joined.remove(&self.id);
        self.shared.leave(&self.calls.drafts);
        if self.shared.draft().is_some() {
            self.calls.drafts.send_modify(|changes| *changes += 1);
        }
    }
}

/// A chat model whose open calls are shown, with the final answer that one of them writes.
pub struct Observed<M> {
    inner: M,
    calls: Option<Arc<OpenCalls>>,
}

impl<M> Observed<M> {
    /// Adds the calls of `inner` to `calls` while they are open; with `None`, shows nothing.
    pub fn new(inner: M, calls: Option<Arc<OpenCalls>>) -> Self {
        Self { inner, calls }
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Observed<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.inner.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let Some(calls) = &self.calls else { return self.inner.complete(request).await };
        let call = calls.begin(self.inner.name(), request);
        let reply = match call.draft.clone() {
            Some(draft) => {
                share(&draft);
                watched_by(draft, self.inner.complete(request)).await?
            }
            None => self.inner.complete(request).await?,
        };
        call.answered(&reply);
        Ok(reply)
    }

    async fn discard(&self, calls: &[CallRef]) -> Result<(), ModelError> {
        self.inner.discard(calls).await
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use futures::poll;
    use pikerag_doubles::{ScriptedChat, request};
    use pikerag_knowledge::{DraftFields, Timings, Usage};

    use super::*;
    use crate::draft::watched;
    use crate::ledger::{MemoryLedger, Mode, Recorded};

    /// A chat model that answers after a moment, its calls, and a ledger around it.
    fn recorded() -> (Recorded<Observed<ScriptedChat>>, Arc<OpenCalls>) {
        let calls = Arc::new(OpenCalls::default());
        let chat = ScriptedChat::by(|_| Ok("fine".to_owned()));
        let chat = chat.with_latency(Duration::from_millis(5));
        let observed = Observed::new(chat, Some(Arc::clone(&calls)));
        (Recorded::new(observed, Arc::new(MemoryLedger::default()), Mode::Record), calls)
    }

    #[tokio::test]
    async fn a_call_is_open_until_its_reply_and_a_recorded_one_is_not() {
        let (chat, calls) = recorded();
        let mut changes = calls.changes();
        let mut asked = request("What is measured?");
        asked.origin.n_passages = 9;
        let mut call = chat.complete(&asked);
        while calls.list().is_empty() {
            assert!(poll!(&mut call).is_pending());
        }
        let open = calls.list();
        assert_eq!((open.len(), open[0].role, open[0].model.as_str()), (1, Role::Answer, "fake"));
        assert_eq!((open[0].passages, open[0].prompt_tokens), (9, estimate_prompt(&asked)));
        assert_eq!(open[0].expected_ms, None);
        assert!(changes.has_changed().unwrap());
        call.await.unwrap();
        assert!(calls.list().is_empty());

        changes.mark_unchanged();
        assert!(chat.complete(&asked).await.unwrap().call.unwrap().replayed);
        assert!(!changes.has_changed().unwrap(), "the ledger's reply is no call");
    }

    #[tokio::test]
    async fn a_dropped_call_is_closed_and_not_measured() {
        let (chat, calls) = recorded();
        let asked = request("a");
        let mut call = chat.complete(&asked);
        while calls.list().is_empty() {
            assert!(poll!(&mut call).is_pending());
        }
        drop(call);
        assert!(calls.list().is_empty());
        assert!(calls.take_measured().is_empty());
    }

    #[tokio::test]
    async fn later_calls_are_expected_to_take_as_long_as_measured_ones() {
        let (chat, calls) = recorded();
        chat.complete(&request("a")).await.unwrap();
        let measured = calls.take_measured();
        assert!(!measured.is_empty() && calls.take_measured().is_empty());
        assert!(5 <= measured.of("fake", Role::Answer).millis);

        let later = OpenCalls::default();
        later.expect(measured);
        let opened = later.begin("fake", &request("b"));
        assert!(later.list()[0].expected_ms.is_some());
        let other = later.begin("other", &request("b"));
        assert_eq!(later.list()[1].expected_ms, None);
        drop((opened, other));
        assert!(later.list().is_empty());
    }

    /// A model whose reply arrives in two pieces; a call fails between them if it is not the last.
    struct Streams {
        fails: bool,
    }

    #[async_trait]
    impl ChatModel for Streams {
        fn name(&self) -> &'static str {
            "streams"
        }

        async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ModelError> {
            if let Some(draft) = watched() {
                draft.restart();
                draft.push(r#"{"answer": "Os"#);
                tokio::task::yield_now().await;
                if self.fails {
                    return Err(pikerag_doubles::busy("streams"));
                }
                draft.push(r#"lo"}"#);
            }
            Ok(ChatReply::new(r#"{"answer": "Oslo"}"#, Usage::default()))
        }
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
    async fn a_final_answer_is_shown_while_it_is_written_and_until_the_next_call() {
        let calls = Arc::new(OpenCalls::default());
        let mut drafts = calls.drafts();
        let chat = Observed::new(Streams { fails: false }, Some(Arc::clone(&calls)));
        let asked = final_request();
        let mut call = chat.complete(&asked);
        assert!(poll!(&mut call).is_pending());
        assert_eq!(shown(&calls).as_deref(), Some("Os"));
        call.await.unwrap();
        assert_eq!(shown(&calls).as_deref(), Some("Oslo"));
        assert_eq!(calls.take_measured().of("streams", Role::Answer).streamed, 1);

        drafts.mark_unchanged();
        chat.complete(&request("no final answer")).await.unwrap();
        assert_eq!(shown(&calls), None);
        assert!(drafts.has_changed().unwrap());
        assert_eq!(calls.take_measured().of("streams", Role::Answer).streamed, 0);
    }

    #[tokio::test]
    async fn the_draft_of_a_failed_call_is_gone() {
        let calls = Arc::new(OpenCalls::default());
        let mut drafts = calls.drafts();
        let chat = Observed::new(Streams { fails: true }, Some(Arc::clone(&calls)));
        let asked = final_request();
        let mut call = chat.complete(&asked);
        assert!(poll!(&mut call).is_pending());
        assert!(shown(&calls).is_some());
        drafts.mark_unchanged();
        call.await.unwrap_err();
        assert_eq!(shown(&calls), None);
        assert!(drafts.has_changed().unwrap());
    }

    #[tokio::test]
    async fn nothing_is_streamed_if_nobody_watches() {
        let calls = Arc::new(OpenCalls::default());
        let chat = Observed::new(Streams { fails: true }, Some(Arc::clone(&calls)));
        // With a draft, the model would fail.
        assert!(chat.complete(&final_request()).await.is_ok());
        assert_eq!(shown(&calls), None);
        drop(calls.drafts());
        assert!(chat.complete(&final_request()).await.is_ok());
    }

    #[test]
    fn the_expected_time_grows_with_the_prompt() {
        // Two calls of 400 tokens of prompt and 100 of reply took 10 s each.
        let counted = Pace { calls: 2, prompt_tokens: 800, ..Pace::default() };
        let pace = Pace { completion_tokens: 200, millis: 20_000, ..counted };
        assert_eq!(pace.expected_ms(400), Some(10_000));
        assert_eq!(pace.expected_ms(900), Some(20_000));
        assert_eq!(Pace::default().expected_ms(400), None);
    }

    #[test]
    fn paces_add_up_by_model_and_role_and_survive_json() {
        let counted = Pace { calls: 1, prompt_tokens: 10, completion_tokens: 2, ..Pace::default() };
        let pace = Pace { millis: 30, ..counted };
        let mut paces = Paces::default();
        *paces.entry("m", Role::Answer) = pace;
        let other = paces.clone();
        paces.merge(&other);
        paces.entry("m", Role::Look).add(pace);
        assert_eq!(paces.of("m", Role::Answer).millis, 60);
        assert_eq!(paces.of("m", Role::Look).millis, 30);
        let json = serde_json::to_string(&paces).unwrap();
        assert_eq!(serde_json::from_str::<Paces>(&json).unwrap(), paces);
        // An earlier version counted no streams.
        let earlier =
            r#"{"m":{"answer":{"calls":1,"prompt_tokens":10,"completion_tokens":2,"millis":30}}}"#;
        let earlier: Paces = serde_json::from_str(earlier).unwrap();
        assert_eq!(earlier.of("m", Role::Answer), pace);
    }

    /// A file of an earlier version has roles alone.
    #[test]
    fn speeds_are_stored_beside_the_roles_of_a_model() {
        let earlier =
            r#"{"m":{"answer":{"calls":2,"prompt_tokens":10,"completion_tokens":5,"millis":30}}}"#;
        let mut paces: Paces = serde_json::from_str(earlier).unwrap();
        assert_eq!((paces.speed("m"), paces.speed("other")), (None, None));
        assert_eq!(paces.reply_tokens("m", Role::Answer), Some(2.5));
        assert_eq!(paces.reply_tokens("m", Role::Look), None);
        let second = Duration::from_secs(1);
        let timings =
            Timings { read_tokens: 80, reading: second, written_tokens: 10, writing: second };
        let mut measured = Paces::default();
        measured.add_speed("m", Speed::of(timings));
        paces.merge(&measured);
        assert_eq!(paces.speed("m").and_then(Speed::reading), Some(80.0));
        let json = serde_json::to_string(&paces).unwrap();
        assert_eq!(serde_json::from_str::<Paces>(&json).unwrap(), paces);
    }
}
