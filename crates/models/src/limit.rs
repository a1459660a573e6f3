//! Limits the calls to an endpoint at one time and per minute.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use pikerag_knowledge::{
    ChatModel, ChatReply, ChatRequest, Embedder, ModelError, Relevance, Reranker, Vector,
};
use tokio::sync::{AcquireError, Notify, Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep};

use crate::circuit::{Circuit, Paused};
use crate::estimate::{estimate_chat, estimate_embedding, estimate_reranking};

/// The limits of an endpoint; a missing entry means no limit. Default: 16 calls at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls that run at one time; the others wait in line.
    pub in_flight: NonZeroUsize,
    /// Calls per minute; a tenth of them may start at once.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Tokens per minute, estimated as providers do it: the prompt and the whole `max_tokens`.
    pub tokens_per_minute: Option<NonZeroU32>,
}

impl Limits {
    /// The stricter of two, limit by limit.
    #[must_use]
    pub fn strictest(self, other: Self) -> Self {
        let least = |one: Option<NonZeroU32>, other: Option<NonZeroU32>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self {
            in_flight: self.in_flight.min(other.in_flight),
            requests_per_minute: least(self.requests_per_minute, other.requests_per_minute),
            tokens_per_minute: least(self.tokens_per_minute, other.tokens_per_minute),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_flight: NonZeroUsize::MIN.saturating_add(15),
            requests_per_minute: None,
            tokens_per_minute: None,
        }
    }
}

/// The gate before an endpoint. All callers of one model of an endpoint share its limiter.
#[derive(Debug)]
pub struct Limiter {
    seats: Gate,
    /// One seat: calls that wait for the rate wait in line.
    line: Gate,
    requests: Option<Rate>,
    tokens: Option<Rate>,
}

/// A model behind a gate.
///
/// # Cancel safety
/// A call that is dropped while it waits leaves the line, and has cost nothing.
pub struct Limit<M> {
    inner: M,
    limiter: Arc<Limiter>,
    circuit: Arc<Circuit>,
    is_background: bool,
}

/// A semaphore that lets calls of questions pass before those of indexing.
#[derive(Debug)]
pub(crate) struct Gate {
    seats: Semaphore,
    /// Waiting calls of questions.
    urgent: AtomicUsize,
    /// Notified when no call of a question waits.
    calm: Notify,
}

impl<M> Limit<M> {
    /// Puts `inner` behind a gate, which it may share with other models.
    pub fn new(inner: M, limiter: Arc<Limiter>) -> Self {
        Self { inner, limiter, circuit: Arc::default(), is_background: false }
    }

    /// As [`Limit::new`], for an endpoint that may ask for a pause while a call waits in line.
    pub(crate) fn sharing(self, circuit: Arc<Circuit>) -> Self {
        Self { circuit, ..self }
    }

    /// Lets all other calls pass before these.
    pub(crate) fn in_background(self) -> Self {
        Self { is_background: true, ..self }
    }

    /// Waits until a call may begin. If the endpoint asked another call for a pause meanwhile, this
    /// one fails with [`ModelError::Busy`], too.
    async fn pass(&self, model: &str, tokens: u64) -> Result<SemaphorePermit<'_>, ModelError> {
        let pass = self.limiter.pass(tokens, self.is_background).await?;
        let pause = self.circuit.pause();
        if pause.is_zero() {
            return Ok(pass);
        }
        let source = Paused { seconds: pause.as_secs_f64() }.into();
        Err(ModelError::Busy { model: model.to_owned(), retry_after: Some(pause), source })
    }

    /// Notes the pause that the endpoint asks for, while the call still has its seat: the next call
    /// finds it.
    fn noting_pause<T>(&self, done: Result<T, ModelError>) -> Result<T, ModelError> {
        if let Err(ModelError::Busy { retry_after: Some(wait), .. }) = &done {
            self.circuit.pause_for(*wait);
        }
        done
    }
}

impl Default for Limiter {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Limiter {
    /// A gate that no call has passed yet.
    pub fn new(limits: Limits) -> Self {
        let most = NonZeroUsize::MIN.saturating_add(Semaphore::MAX_PERMITS - 1);
        Self {
            seats: Gate::new(limits.in_flight.min(most).get()),
            line: Gate::new(1),
            requests: limits.requests_per_minute.map(Rate::new),
            tokens: limits.tokens_per_minute.map(Rate::new),
        }
    }

    /// Waits until a call with `tokens` tokens may begin; dropping the permit ends the call.
    async fn pass(
        &self,
        tokens: u64,
        is_background: bool,
    ) -> Result<SemaphorePermit<'_>, ModelError> {
        let seat = self.seats.pass(is_background).await.map_err(closed)?;
        if self.requests.is_some() || self.tokens.is_some() {
            let _first_in_line = self.line.pass(is_background).await.map_err(closed)?;
            if let Some(rate) = &self.requests {
                rate.take(1).await;
            }
            if let Some(rate) = &self.tokens {
                rate.take(tokens).await;
            }
        }
        Ok(seat)
    }
}

impl Gate {
    /// A gate with this many seats, all of which are free.
    pub(crate) fn new(seats: usize) -> Self {
        Self { seats: Semaphore::new(seats), urgent: AtomicUsize::new(0), calm: Notify::new() }
    }

    /// Waits for a seat. A background call also waits until no other call does.
    pub(crate) async fn pass(
        &self,
        is_background: bool,
    ) -> Result<SemaphorePermit<'_>, AcquireError> {
        if !is_background {
            let _urgent = Urgent::waiting(self);
            return self.seats.acquire().await;
        }
        loop {
            // Created before the check, so that a notification in between is not missed.
            let calm = self.calm.notified();
            if self.urgent.load(Ordering::SeqCst) == 0 {
                let seat = self.seats.acquire().await?;
                if self.urgent.load(Ordering::SeqCst) == 0 {
                    return Ok(seat);
                }
                // A call of a question came meanwhile, and goes first.
                drop(seat);
            }
            calm.await;
        }
    }
}

/// A waiting call of a question; counted until it has its seat or gives up.
struct Urgent<'a>(&'a Gate);

impl<'a> Urgent<'a> {
    fn waiting(gate: &'a Gate) -> Self {
        gate.urgent.fetch_add(1, Ordering::SeqCst);
        Self(gate)
    }
}

impl Drop for Urgent<'_> {
    fn drop(&mut self) {
        if self.0.urgent.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.calm.notify_waiters();
        }
    }
}

/// Unreachable: nothing closes our semaphores.
fn closed(error: AcquireError) -> ModelError {
    ModelError::Refused { model: "limiter".to_owned(), source: error.into() }
}

/// The amount that may be used at once: a tenth of a minute's.
pub(crate) fn burst(per_minute: NonZeroU32) -> NonZeroU32 {
    NonZeroU32::new(per_minute.get() / 10).unwrap_or(NonZeroU32::MIN)
}

/// A rate per minute. It uses Tokio's clock, and starts no thread for timers as `until_ready` of
/// `governor` does.
#[derive(Debug)]
struct Rate {
    limiter: RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Duration>>,
    clock: TokioClock,
    burst: NonZeroU32,
}

impl Rate {
    fn new(per_minute: NonZeroU32) -> Self {
        let burst = burst(per_minute);
        let quota = Quota::per_minute(per_minute).allow_burst(burst);
        let clock = TokioClock(Instant::now());
        let limiter = RateLimiter::direct_with_clock(quota, clock.clone());
        Self { limiter, clock, burst }
    }

    /// Takes `n` in one piece, or in several if it exceeds the burst.
    async fn take(&self, mut n: u64) {
        while let Some(piece) = NonZeroU32::new(n.min(u64::from(self.burst.get())) as u32) {
            match self.limiter.check_n(piece) {
                Ok(Err(not_yet)) => sleep(not_yet.wait_time_from(self.clock.now())).await,
                // A piece is never larger than the burst.
                Ok(Ok(())) | Err(_) => n -= u64::from(piece.get()),
            }
        }
    }
}

#[derive(Clone, Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Limit<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.inner.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let _pass = self.pass(self.inner.name(), estimate_chat(request)).await?;
        self.noting_pause(self.inner.complete(request).await)
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Limit<E> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        let tokens = estimate_embedding(texts).prompt_tokens;
        let _pass = self.pass(self.inner.name(), tokens).await?;
        self.noting_pause(self.inner.embed(texts).await)
    }
}

#[async_trait]
impl<R: Reranker> Reranker for Limit<R> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Relevance, ModelError> {
        let tokens = estimate_reranking(query, texts).usage.prompt_tokens;
        let _pass = self.pass(self.inner.name(), tokens).await?;
        self.noting_pause(self.inner.rerank(query, texts).await)
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use futures::poll;

    use super::*;
    use pikerag_doubles::{ScriptedChat, request};

    const FREE: Limits = Limits {
        in_flight: NonZeroUsize::new(100).unwrap(),
        requests_per_minute: None,
        tokens_per_minute: None,
    };

    /// The most calls at one time and the time that `n` calls took.
    async fn run(limits: Limits, n: usize) -> (usize, Duration) {
        let chat = ScriptedChat::by_turn(|_, _| Ok(String::new()));
        let chat = chat.with_latency(Duration::from_millis(3));
        let limit = Limit::new(&chat, Arc::new(Limiter::new(limits)));
        let same = request("a");
        let started = Instant::now();
        for reply in join_all((0..n).map(|_| limit.complete(&same))).await {
            reply.unwrap();
        }
        (chat.peak(), started.elapsed())
    }

    #[tokio::test]
    async fn calls_at_one_time_stay_under_the_limit() {
        for n in [1, 3, 100] {
            let in_flight = NonZeroUsize::new(n).unwrap();
            assert_eq!(run(Limits { in_flight, ..FREE }, 100).await.0, n);
        }
    }

    #[tokio::test]
    async fn calls_per_minute_stay_under_the_limit() {
        // A burst of 60, and five more at ten a second.
        let requests_per_minute = NonZeroU32::new(600);
        let (_, took) = run(Limits { requests_per_minute, ..FREE }, 65).await;
        assert!(Duration::from_millis(480) <= took, "{took:?}");
    }

    #[tokio::test]
    async fn tokens_per_minute_stay_under_the_limit() {
        // 261 tokens each; a burst of 1,200, and 105 more at 200 a second.
        let tokens_per_minute = NonZeroU32::new(12_000);
        let (_, took) = run(Limits { tokens_per_minute, ..FREE }, 5).await;
        assert!(Duration::from_millis(500) <= took, "{took:?}");
    }

    #[tokio::test]
    async fn questions_pass_before_indexing() {
        let chat = ScriptedChat::by_turn(|_, _| Ok(String::new()));
        let chat = chat.with_latency(Duration::from_millis(2));
        let limits = Limits { in_flight: NonZeroUsize::MIN, ..FREE };
        let requests_per_minute = NonZeroU32::new(60_000);
        for limits in [limits, Limits { requests_per_minute, ..limits }] {
            let limiter = Arc::new(Limiter::new(limits));
            let indexing = Limit::new(&chat, Arc::clone(&limiter)).in_background();
            let asking = Limit::new(&chat, limiter);
            let before = chat.requests().len();
            let background = join_all((0..5).map(|n| {
                let (indexing, request) = (&indexing, request(&format!("index {n}")));
                async move { indexing.complete(&request).await }
            }));
            let question = async {
                // By now all background calls wait: one has the seat.
                tokio::task::yield_now().await;
                asking.complete(&request("question")).await
            };
            let (indexed, answered) = futures::future::join(background, question).await;
            answered.unwrap();
            assert!(indexed.into_iter().all(|reply| reply.is_ok()));
            let asked = chat.requests().split_off(before);
            let place = asked.iter().position(|asked| *asked == request("question"));
            assert_eq!((place, asked.len()), (Some(1), 6));
        }
    }

    /// Otherwise the second call takes the seat before the pause of the first one is known.
    #[tokio::test]
    async fn a_call_that_waits_for_a_seat_keeps_to_the_pause_of_the_one_before() {
        let chat = ScriptedChat::by(|_| {
            Err(ModelError::Busy {
                model: "fake".to_owned(),
                retry_after: Some(Duration::from_hours(1)),
                source: "later, please".into(),
            })
        });
        let limits = Limits { in_flight: NonZeroUsize::MIN, ..FREE };
        let limit = Limit::new(&chat, Arc::new(Limiter::new(limits)));
        let same = request("a");
        let replies = join_all([limit.complete(&same), limit.complete(&same)]).await;
        assert!(replies.iter().all(|reply| matches!(reply, Err(ModelError::Busy { .. }))));
        assert_eq!(chat.requests().len(), 1);
    }

    #[tokio::test]
    async fn dropped_calls_take_no_seat() {
        let one = NonZeroUsize::MIN;
        let chat = ScriptedChat::by_turn(|_, _| Ok(String::new()));
        let chat = chat.with_latency(Duration::from_millis(10));
        let limit = Limit::new(&chat, Arc::new(Limiter::new(Limits { in_flight: one, ..FREE })));
        let same = request("a");
        let mut stays = limit.complete(&same);
        let mut leaves = limit.complete(&same);
        assert!(poll!(&mut stays).is_pending() && poll!(&mut leaves).is_pending());
        drop(leaves);
        assert!(stays.await.is_ok());
        assert_eq!(chat.requests().len(), 1);
        assert!(limit.complete(&same).await.is_ok());
    }
}
