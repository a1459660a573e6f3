//! When is a busy model asked again, and when do we give up?

use std::future::Future;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use pikerag_knowledge::ports::Cause;
use pikerag_knowledge::{ChatModel, ChatReply, ChatRequest, Embedder, Message, ModelError, Vector};
use tokio::time::{Instant, sleep};
use tracing::warn;

/// How patient to be with a busy model.
#[derive(Clone, Copy, Debug)]
pub struct RetryParams {
    /// Attempts in all, the first included.
    pub attempts: NonZeroU32,
    /// The wait after the first failure, doubled after each; no wait is shorter.
    pub first_wait: Duration,
    /// The longest wait, also where the endpoint asks for a longer one.
    pub longest_wait: Duration,
    /// No attempt begins later than this after the first.
    pub total: Duration,
    /// Spreads the waits, so that calls that failed together do not come back together. Equal
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

/// A model that is asked again while it is busy. Every other error ends the matter.
pub struct Retry<M> {
    inner: M,
    params: RetryParams,
    retries: AtomicU64,
}

impl<M> Retry<M> {
    /// Asks `inner` again while it is busy.
    pub fn new(inner: M, params: RetryParams) -> Self {
        Self { inner, params, retries: AtomicU64::new(0) }
    }

    /// How often it was asked again, over all calls.
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    async fn persist<T, F>(
        &self,
        request: impl Hash,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>> + Send,
    {
        let (started, mut attempts, mut waits) = (Instant::now(), 0, None);
        loop {
            attempts += 1;
            let (model, retry_after, source) = match attempt().await {
                Err(ModelError::Busy { model, retry_after, source }) => {
                    (model, retry_after, source)
                }
                done => return done,
            };
            let waits = waits.get_or_insert_with(|| self.params.waits(&request));
            let elapsed = started.elapsed();
            let wait = waits.next().map(|wait| self.params.wait(wait, retry_after));
            let Some(wait) = wait.filter(|wait| elapsed + *wait <= self.params.total) else {
                let source = GaveUp { attempts, seconds: elapsed.as_secs_f64(), source };
                return Err(ModelError::Busy { model, retry_after, source: source.into() });
            };
            let retries = self.retries.fetch_add(1, Ordering::Relaxed) + 1;
            let wait_ms = wait.as_millis() as u64;
            warn!(model, attempts, retries, wait_ms, cause = %source, "busy; asking again");
            sleep(wait).await;
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("gave up after {attempts} attempts in {seconds:.1} s")]
struct GaveUp {
    attempts: u32,
    seconds: f64,
    source: Cause,
}

impl RetryParams {
    /// One wait fewer than attempts.
    fn waits(&self, request: &impl Hash) -> ExponentialBackoff {
        let waits = ExponentialBuilder::new()
            .with_min_delay(self.first_wait)
            .with_max_delay(self.longest_wait)
            .with_max_times(self.attempts.get() as usize - 1);
        let waits = match self.jitter_seed {
            Some(seed) => {
                let mut hasher = DefaultHasher::new(); // The same in every process.
                request.hash(&mut hasher);
                waits.with_jitter().with_jitter_seed(seed ^ hasher.finish())
            }
            None => waits,
        };
        waits.build()
    }

    /// The endpoint knows better than we do, but neither for ever nor at once.
    fn wait(&self, ours: Duration, theirs: Option<Duration>) -> Duration {
        let wait = theirs.map_or(ours, |theirs| theirs.max(self.first_wait));
        wait.min(self.longest_wait)
    }
}

/// What tells requests apart, for the spread of their waits.
struct Words<'a>(&'a ChatRequest);

impl Hash for Words<'_> {
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

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        self.persist(Words(request), || self.inner.complete(request)).await
    }
}

#[async_trait]
impl<E: Embedder> Embedder for Retry<E> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, ModelError> {
        self.persist(texts, || self.inner.embed(texts)).await
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
    async fn asks_a_busy_model_again() {
        let chat = Retry::new(busy_until(2), QUICK);
        assert_eq!(chat.complete(&request("a")).await.unwrap().text, "fine");
        assert_eq!(chat.retries(), 2);
    }

    #[tokio::test]
    async fn gives_up_and_says_so() {
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
        assert!(matches!(error, ModelError::Refused { .. }));
        assert_eq!(chat.requests().len(), 1);
    }

    #[tokio::test]
    async fn waits_as_told_within_reason() {
        let chat = ScriptedChat::by_turn(|turn, _| match turn {
            0 => Err(ModelError::Busy {
                model: "fake".to_owned(),
                retry_after: Some(Duration::from_hours(1)),
                source: "an hour, please".into(),
            }),
            _ => Ok("fine".to_owned()),
        });
        let started = Instant::now();
        let chat = Retry::new(chat, QUICK);
        assert_eq!(chat.complete(&request("a")).await.unwrap().text, "fine");
        assert!(QUICK.longest_wait <= started.elapsed());
    }

    #[tokio::test]
    async fn stops_when_the_time_is_over() {
        let params = RetryParams { total: Duration::ZERO, ..QUICK };
        let chat = busy_until(1);
        assert!(Retry::new(&chat, params).complete(&request("a")).await.is_err());
        assert_eq!(chat.requests().len(), 1);
    }

    #[tokio::test]
    async fn embeds_again() {
        let model = ScriptedEmbedder::by_turn(|turn, texts| {
            if turn == 0 { Err(busy("hash")) } else { Ok(HashEmbedder::new(4).vectors(texts)) }
        });
        let vectors = Retry::new(&model, QUICK).embed(&["a".to_owned()]).await.unwrap();
        assert_eq!(vectors.len(), 1);
        assert_eq!(model.requests().len(), 2);
    }

    #[test]
    fn spreads_the_same_way_each_time() {
        let params = RetryParams { jitter_seed: Some(7), ..RetryParams::default() };
        let waits = |text: &str| params.waits(&text).collect::<Vec<_>>();
        assert_eq!(waits("a"), waits("a"));
        assert_ne!(waits("a"), waits("b"));
        assert_eq!(waits("a").len(), 7);
    }
}
