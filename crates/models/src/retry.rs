//! Retries calls to a busy model, and gives up in the end.

use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use pikerag_knowledge::ports::Cause;
use pikerag_knowledge::{
    ChatModel, ChatReply, ChatRequest, Embedder, Message, ModelError, Relevance, Reranker, Vector,
    error_chain,
};
use tokio::time::{Instant, sleep};
use tracing::{debug, warn};

use crate::circuit::{Circuit, Paused};

/// Attempts if no connection can be made, including the first: a restarting server is back in a
/// moment, and an absent one is reported within a second.
const CONNECTS: u32 = 3;
/// A refused connection fails at once. If a failure took longer than this, it is not retried.
const SOON: Duration = Duration::from_secs(2);
/// The wait before the second attempt, doubled before the third.
const RECONNECT: Duration = Duration::from_millis(200);

/// The patience with a busy model.
#[derive(Clone, Copy, Debug)]
pub struct RetryParams {
    /// Attempts in all, the first included.
    pub attempts: NonZeroU32,
    /// The wait after the first failure, doubled after each; no wait is shorter.
    pub first_wait: Duration,
    /// Our longest wait; an endpoint may ask for a longer one.
    pub longest_wait: Duration,
    /// No attempt begins later than this after the first.
    pub total: Duration,
    /// Spreads the waits, so that calls that failed together are not repeated together. Equal
    /// requests wait equally long. None: no spread.
    pub jitter_seed: Option<u64>,
}

impl Default for RetryParams {
    fn default() -> Self {
        Self {
            attempts: NonZeroU32::MIN.saturating_add(7),
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_mins(1),
            total: Duration::from_mins(10),
            jitter_seed: Some(0),
        }
    }
}

/// A model that is called again while it is busy. Every other error is returned at once.
///
/// Its calls share their state: if the endpoint asks one for a pause, all wait; and while it is
/// unreachable, calls fail at once.
pub struct Retry<M> {
    inner: M,
    params: RetryParams,
    circuit: Arc<Circuit>,
}

impl<M> Retry<M> {
    /// Calls `inner` again while it is busy.
    pub fn new(inner: M, params: RetryParams) -> Self {
        Self { inner, params, circuit: Arc::default() }
    }

    /// As [`Retry::new`]; its calls share the circuit with all others.
    #[must_use]
    pub(crate) fn sharing(self, circuit: Arc<Circuit>) -> Self {
        Self { circuit, ..self }
    }

    async fn persist<T, F>(
        &self,
        model: &str,
        request: impl Hash,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>> + Send,
    {
        let (started, mut attempts, mut waits) = (Instant::now(), 0, None);
        loop {
            self.pause(model, &request, started).await?;
            self.circuit.admit().map_err(|why| out_of_reach(model, why.into()))?;
            attempts += 1;
            let began = Instant::now();
            let (wait, cause, is_there) = match attempt().await {
                Err(ModelError::Busy { retry_after, source, .. }) => {
                    let waits = waits.get_or_insert_with(|| self.params.waits(&request));
                    let ours = waits.next();
                    if let Some(theirs) = retry_after {
                        self.circuit.pause_for(theirs);
                    }
                    let wait = ours.map(|ours| self.params.wait(ours, retry_after));
                    let elapsed = started.elapsed();
                    match wait.filter(|wait| elapsed.saturating_add(*wait) <= self.params.total) {
                        Some(wait) => (wait, source, true),
                        None => {
                            return Err(self.give_up(
                                model,
                                attempts,
                                elapsed,
                                retry_after,
                                source,
                            ));
                        }
                    }
                }
                Err(ModelError::Unreachable { source, .. }) => {
                    // A server that drops packets would take as long again.
                    let again = self.params.reconnect(attempts);
                    match again.filter(|_| began.elapsed() < SOON) {
                        Some(wait) => (wait + self.params.spread(&request, wait), source, false),
                        None => {
                            self.circuit.open(error_chain(source.as_ref()));
                            return Err(out_of_reach(model, source));
                        }
                    }
                }
                // A server that refuses a request is reachable.
                done => {
                    self.circuit.answered();
                    return done;
                }
            };
            let retries = self.circuit.retried();
            let wait_ms = wait.as_millis() as u64;
            match is_there {
                true => warn!(model, attempts, retries, wait_ms, %cause, "busy; retrying"),
                // Logged at `debug`: many calls meet the same failure, and the caller reports it
                // once.
                false => debug!(model, attempts, wait_ms, %cause, "no connection; retrying"),
            }
            sleep(wait).await;
        }
    }

    /// Waits for the rest of the pause, whichever call the endpoint asked for it.
    async fn pause(
        &self,
        model: &str,
        request: &impl Hash,
        started: Instant,
    ) -> Result<(), ModelError> {
        let pause = self.circuit.pause();
        if pause.is_zero() {
            return Ok(());
        }
        if self.params.total < started.elapsed().saturating_add(pause) {
            let why = Paused { seconds: pause.as_secs_f64() };
            if self.circuit.gave_up(|| why.to_string()) {
                return Err(out_of_reach(model, why.into()));
            }
            let (model, retry_after) = (model.to_owned(), Some(pause));
            return Err(ModelError::Busy { model, retry_after, source: why.into() });
        }
        sleep(pause + self.params.spread(request, pause)).await;
        Ok(())
    }

    fn give_up(
        &self,
        model: &str,
        attempts: u32,
        elapsed: Duration,
        retry_after: Option<Duration>,
        source: Cause,
    ) -> ModelError {
        let why = GaveUp { attempts, seconds: elapsed.as_secs_f64(), retry_after, source };
        if self.circuit.gave_up(|| error_chain(&why)) {
            return out_of_reach(model, why.into());
        }
        ModelError::Busy { model: model.to_owned(), retry_after, source: why.into() }
    }
}

fn out_of_reach(model: &str, source: Cause) -> ModelError {
    ModelError::Unreachable { model: model.to_owned(), source }
}

#[derive(Debug, thiserror::Error)]
#[error("gave up after {attempts} attempts in {seconds:.1} s{}", requested_wait(*.retry_after))]
struct GaveUp {
    attempts: u32,
    seconds: f64,
    retry_after: Option<Duration>,
    source: Cause,
}

/// The wait that the endpoint asks for, if it is longer than ours.
fn requested_wait(retry_after: Option<Duration>) -> String {
    match retry_after.map_or(0, |wait| wait.as_secs()) {
        0 => String::new(),
        seconds => format!("; the endpoint asks for a retry in {seconds} s"),
    }
}

impl RetryParams {
    /// The waits between the attempts, one fewer than attempts.
    fn waits(&self, request: &impl Hash) -> ExponentialBackoff {
        let waits = ExponentialBuilder::new()
            .with_min_delay(self.first_wait)
            .with_max_delay(self.longest_wait)
            .with_max_times(self.attempts.get() as usize - 1);
        let waits = match self.seed(request) {
            Some(seed) => waits.with_jitter().with_jitter_seed(seed),
            None => waits,
        };
        waits.build()
    }

    /// The endpoint's wait in full, if it asks for one, plus a part of our own: calls that got the
    /// same wait are then spread. A wait of zero is not accepted.
    fn wait(&self, ours: Duration, theirs: Option<Duration>) -> Duration {
        match theirs {
            Some(theirs) => {
                let spread = ours.saturating_sub(self.first_wait).min(theirs / 4);
                theirs.max(self.first_wait).saturating_add(spread)
            }
            None => ours.min(self.longest_wait),
        }
    }

    /// The wait before another attempt to connect; `None` after the last one.
    fn reconnect(&self, attempts: u32) -> Option<Duration> {
        let first = RECONNECT.min(self.first_wait);
        (attempts < self.attempts.get().min(CONNECTS)).then(|| first * attempts)
    }

    /// A random addition of up to a quarter of a wait.
    fn spread(&self, request: &impl Hash, wait: Duration) -> Duration {
        match self.seed(request) {
            Some(seed) => (wait / 4).mul_f64(f64::from(seed as u32) / f64::from(u32::MAX)),
            None => Duration::ZERO,
        }
    }

    fn seed(&self, request: &impl Hash) -> Option<u64> {
        let seed = self.jitter_seed?;
        let mut hasher = DefaultHasher::new(); // The same in every process.
        request.hash(&mut hasher);
        Some(seed ^ hasher.finish())
    }
}

/// The parts of a request that distinguish it, for the spread of waits.
struct Distinct<'a>(&'a ChatRequest);

impl Hash for Distinct<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.0.role, self.0.sample).hash(hasher);
        for message in &self.0.messages {
            let (Message::System { text }
            | Message::User { text, .. }
            | Message::Assistant { text }) = message;
            text.hash(hasher);
        }
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Retry<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.inner.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        self.persist(self.inner.name(), Distinct(request), || self.inner.complete(request)).await
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Retry<E> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        self.persist(self.inner.name(), texts, || self.inner.embed(texts)).await
    }
}

#[async_trait]
impl<R: Reranker> Reranker for Retry<R> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Relevance, ModelError> {
        let ask = || self.inner.rerank(query, texts);
        self.persist(self.inner.name(), (query, texts), ask).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikerag_doubles::{HashEmbedder, ScriptedChat, ScriptedEmbedder, busy, request};

    const QUICK: RetryParams = RetryParams {
        attempts: NonZeroU32::new(3).unwrap(),
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(40),
        total: Duration::from_mins(1),
        jitter_seed: None,
    };

    fn busy_until(free: usize) -> ScriptedChat {
        ScriptedChat::by_turn(
            move |turn, _| {
                if turn < free { Err(busy("fake")) } else { Ok("fine".to_owned()) }
            },
        )
    }

    #[tokio::test]
    async fn retries_a_busy_model() {
        let chat = Retry::new(busy_until(2), QUICK);
        assert_eq!(chat.complete(&request("a")).await.unwrap().text, "fine");
        assert_eq!(chat.circuit.retried(), 3);
    }

    #[tokio::test]
    async fn gives_up_and_reports_the_attempts() {
        let chat = busy_until(9);
        let error = Retry::new(&chat, QUICK).complete(&request("a")).await.unwrap_err();
        assert_eq!(chat.requests().len(), 3);
        let gave_up = std::error::Error::source(&error).unwrap();
        assert!(gave_up.to_string().starts_with("gave up after 3 attempts in 0."));
        assert_eq!(gave_up.source().unwrap().to_string(), "on purpose");
    }

    #[tokio::test]
    async fn never_repeats_a_refusal() {
        let chat = ScriptedChat::in_order(Vec::<String>::new());
        let error = Retry::new(&chat, QUICK).complete(&request("a")).await.unwrap_err();
        assert!(matches!(error, ModelError::Denied { .. }));
        assert_eq!(chat.requests().len(), 1);
    }

    fn pausing(wait: Duration) -> ScriptedChat {
        ScriptedChat::by_turn(move |turn, _| match turn {
            0 => Err(ModelError::Busy {
                model: "fake".to_owned(),
                retry_after: Some(wait),
                source: "later, please".into(),
            }),
            _ => Ok("fine".to_owned()),
        })
    }

    #[tokio::test]
    async fn waits_as_long_as_the_endpoint_asks() {
        let started = Instant::now();
        let asked = QUICK.longest_wait * 2;
        let chat = Retry::new(pausing(asked), QUICK);
        assert_eq!(chat.complete(&request("a")).await.unwrap().text, "fine");
        assert!(asked <= started.elapsed());
    }

    /// A wait that is too long for us does not allow an earlier retry, whichever call got it.
    #[tokio::test]
    async fn no_call_is_made_during_the_pause() {
        let chat = pausing(Duration::from_hours(1));
        let retry = Retry::new(&chat, QUICK);
        let error = retry.complete(&request("a")).await.unwrap_err();
        assert!(error_chain(&error).contains("retry in 3600 s"), "{error:?}");
        for _ in 0..2 {
            let error = retry.complete(&request("b")).await.unwrap_err();
            assert!(error_chain(&error).contains("pause of another"), "{error:?}");
        }
        assert!(matches!(retry.complete(&request("c")).await, Err(ModelError::Unreachable { .. })));
        assert_eq!(chat.requests().len(), 1);
    }

    #[test]
    fn calls_with_the_same_wait_are_spread() {
        let params = RetryParams::default();
        let asked = Duration::from_secs(20);
        let wait = |text: &str| params.wait(params.waits(&text).next().unwrap(), Some(asked));
        assert_ne!(wait("a"), wait("b"));
        assert!(asked <= wait("a") && asked <= wait("b"));
    }

    #[tokio::test]
    async fn stops_when_the_time_is_over() {
        let params = RetryParams { total: Duration::ZERO, ..QUICK };
        let chat = busy_until(1);
        assert!(Retry::new(&chat, params).complete(&request("a")).await.is_err());
        assert_eq!(chat.requests().len(), 1);
    }

    fn unreachable() -> ModelError {
        ModelError::Unreachable { model: "fake".to_owned(), source: "connection refused".into() }
    }

    /// Three attempts detect it; later calls fail without a further one.
    #[tokio::test]
    async fn unreachable_endpoints_fail_soon_and_then_at_once() {
        let chat = ScriptedChat::by(|_| Err(unreachable()));
        let retry = Retry::new(
            &chat,
            RetryParams { first_wait: QUICK.first_wait, ..RetryParams::default() },
        );
        for _ in 0..3 {
            let error = retry.complete(&request("a")).await.unwrap_err();
            assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
            assert!(error_chain(&error).contains("connection refused"), "{error:?}");
            assert_eq!(chat.requests().len(), 3);
        }
    }

    /// A firewall may drop packets: then each attempt takes until its timeout.
    #[tokio::test]
    async fn a_silent_address_is_tried_once() {
        let silent = ScriptedChat::by(|_| Err(unreachable()));
        let chat = silent.with_latency(SOON + Duration::from_millis(100));
        let retry = Retry::new(&chat, QUICK);
        assert!(retry.complete(&request("a")).await.is_err());
        assert_eq!(chat.requests().len(), 1);
    }

    #[test]
    fn unreachable_endpoints_are_detected_within_a_second() {
        let params = RetryParams::default();
        let waits: Vec<Duration> = (1..9).map_while(|n| params.reconnect(n)).collect();
        assert_eq!(waits.len(), 2);
        let all = waits.iter().map(|wait| *wait + *wait / 4).sum::<Duration>();
        assert!(all < Duration::from_secs(1), "{all:?}");
    }

    #[tokio::test]
    async fn a_restarting_server_is_retried() {
        let chat = ScriptedChat::by_turn(|turn, _| match turn {
            0 | 1 => Err(unreachable()),
            _ => Ok("fine".to_owned()),
        });
        assert_eq!(Retry::new(&chat, QUICK).complete(&request("a")).await.unwrap().text, "fine");
    }

    /// Failed calls in a row open the circuit; an answered call closes it.
    #[tokio::test]
    async fn failed_calls_in_a_row_open_the_circuit() {
        let chat = ScriptedChat::by(|_| Err(busy("fake")));
        let retry = Retry::new(&chat, QUICK);
        for given_up in 1..5 {
            let error = retry.complete(&request("a")).await.unwrap_err();
            let open = 3 <= given_up;
            assert_eq!(matches!(error, ModelError::Unreachable { .. }), open, "{error:?}");
        }
        assert_eq!(chat.requests().len(), 3 * 3);
    }

    #[tokio::test]
    async fn retries_embeddings() {
        let model = ScriptedEmbedder::by_turn(|turn, texts| {
            if turn == 0 { Err(busy("hash")) } else { Ok(HashEmbedder::new(4).vectors(texts)) }
        });
        let vectors = Retry::new(&model, QUICK).embed(&["a".to_owned()]).await.unwrap();
        assert_eq!(vectors.len(), 1);
        assert_eq!(model.requests().len(), 2);
    }

    #[test]
    fn spreads_are_deterministic() {
        let params = RetryParams { jitter_seed: Some(7), ..RetryParams::default() };
        let waits = |text: &str| params.waits(&text).collect::<Vec<_>>();
        assert_eq!(waits("a"), waits("a"));
        assert_ne!(waits("a"), waits("b"));
        assert_eq!(waits("a").len(), 7);
    }
}
