//! Provides scripted models for tests, without network, weights or randomness. It is a
//! dev-dependency only.

mod embedders;
mod reranker;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
pub use embedders::{HashEmbedder, ScriptedEmbedder};
use pikerag_knowledge::{
    CallOrigin, ChatModel, ChatReply, ChatRequest, Chunk, ChunkId, ChunkKind, Message, ModelError,
    Role, SourceId, Span, TokenLogprob, Usage,
};
pub use reranker::ScriptedReranker;

/// A chat model that gives scripted replies. It records its requests.
pub struct ScriptedChat {
    name: &'static str,
    reply: Box<ChatScript>,
    latency: Duration,
    requests: Mutex<Vec<ChatRequest>>,
    in_flight: AtomicUsize,
    peak: AtomicUsize,
}

/// A function of the number of the call, from 0, and the request.
type ChatScript = dyn Fn(usize, &ChatRequest) -> Result<String, ModelError> + Send + Sync;

impl ScriptedChat {
    /// Gives these replies in order, for any request. Once they are used up, it refuses.
    pub fn in_order(replies: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let replies: Vec<String> = replies.into_iter().map(Into::into).collect();
        Self::by_turn(move |turn, request| {
            replies.get(turn).cloned().ok_or_else(|| used_up(request.role))
        })
    }

    /// Gives each role its replies in order. Once they are used up, it refuses.
    pub fn by_role<R, S>(replies: impl IntoIterator<Item = (Role, R)>) -> Self
    where
        R: IntoIterator<Item = S>,
        S: Into<String>,
    {
        let mut queues: BTreeMap<Role, VecDeque<String>> = BTreeMap::new();
        for (role, replies) in replies {
            queues.entry(role).or_default().extend(replies.into_iter().map(Into::into));
        }
        let queues = Mutex::new(queues);
        Self::by_turn(move |_, request| {
            let mut queues = queues.lock().unwrap_or_else(PoisonError::into_inner);
            let next = queues.get_mut(&request.role).and_then(VecDeque::pop_front);
            next.ok_or_else(|| used_up(request.role))
        })
    }

    /// Computes the reply from the request.
    pub fn by(
        reply: impl Fn(&ChatRequest) -> Result<String, ModelError> + Send + Sync + 'static,
    ) -> Self {
        Self::by_turn(move |_, request| reply(request))
    }

    /// Computes the reply from the number of the call, from 0, and the request.
    pub fn by_turn(
        reply: impl Fn(usize, &ChatRequest) -> Result<String, ModelError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: "fake",
            reply: Box::new(reply),
            latency: Duration::ZERO,
            requests: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
        }
    }

    /// The same under another name than `fake`.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Delays each reply by `latency`.
    #[must_use]
    pub fn with_latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The prompts so far, in order: the first message of each request, if it is the user's.
    pub fn prompts(&self) -> Vec<String> {
        let requests = self.requests();
        requests.into_iter().filter_map(|request| prompt(&request).map(str::to_owned)).collect()
    }

    /// The largest number of concurrent calls.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl ChatModel for ScriptedChat {
    fn name(&self) -> &'static str {
        self.name
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let turn = {
            let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.push(request.clone());
            requests.len() - 1
        };
        let _under_way = UnderWay::begin(self);
        if !self.latency.is_zero() {
            tokio::time::sleep(self.latency).await;
        }
        let text = (self.reply)(turn, request)?;
        let usage =
            Usage { prompt_tokens: prompt_tokens(request), completion_tokens: tokens(&text) };
        Ok(ChatReply::new(text, usage))
    }
}

/// A borrowed script, so that a test can inspect it while it is wrapped.
#[async_trait]
impl ChatModel for &ScriptedChat {
    fn name(&self) -> &'static str {
        "fake"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        (**self).complete(request).await
    }
}

/// A scorer that gives scripted replies with scripted token probabilities. It records its requests.
pub struct ScriptedScorer {
    queues: Mutex<BTreeMap<Role, VecDeque<Scored>>>,
    requests: Mutex<Vec<ChatRequest>>,
}

/// A reply, and the probability of each of its tokens.
type Scored = (String, Vec<f32>);

impl ScriptedScorer {
    /// Gives each role its replies in order, with the probabilities (not their logarithms) of the
    /// tokens. Once they are used up, it refuses.
    pub fn by_role<R, S, P>(replies: impl IntoIterator<Item = (Role, R)>) -> Self
    where
        R: IntoIterator<Item = (S, P)>,
        S: Into<String>,
        P: Into<Vec<f32>>,
    {
        let mut queues: BTreeMap<Role, VecDeque<Scored>> = BTreeMap::new();
        for (role, replies) in replies {
            let replies = replies.into_iter().map(|(text, tokens)| (text.into(), tokens.into()));
            queues.entry(role).or_default().extend(replies);
        }
        Self { queues: Mutex::new(queues), requests: Mutex::default() }
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl ChatModel for ScriptedScorer {
    fn name(&self) -> &'static str {
        "fake"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let next = queues.get_mut(&request.role).and_then(VecDeque::pop_front);
        let (text, probabilities) = next.ok_or_else(|| used_up(request.role))?;
        let logprobs: Vec<TokenLogprob> = probabilities
            .into_iter()
            .map(|p| TokenLogprob { token: String::new(), logprob: p.ln() })
            .collect();
        let usage = Usage {
            prompt_tokens: prompt_tokens(request),
            completion_tokens: logprobs.len() as u64,
        };
        Ok(ChatReply { logprobs, ..ChatReply::new(text, usage) })
    }
}

struct UnderWay<'a>(&'a ScriptedChat);

impl<'a> UnderWay<'a> {
    fn begin(chat: &'a ScriptedChat) -> Self {
        let now = chat.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        chat.peak.fetch_max(now, Ordering::SeqCst);
        Self(chat)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The tokens that the doubles count for a prompt: four tokens per message, a thousand per picture.
fn prompt_tokens(request: &ChatRequest) -> u64 {
    let counted = request.messages.iter().map(|message| match message {
        Message::System { text } | Message::Assistant { text } => 4 + tokens(text),
        Message::User { text, images } => 4 + tokens(text) + 1_000 * images.len() as u64,
    });
    counted.sum()
}

/// Four characters per token.
fn tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

/// The first message of a request, if it is the user's: the rendered prompt.
pub fn prompt(request: &ChatRequest) -> Option<&str> {
    match request.messages.first() {
        Some(Message::User { text, .. }) => Some(text),
        _ => None,
    }
}

/// A chunk of plain text: the whole of document `a.md`, whose number is its own.
pub fn chunk(id: u64, title: &str, text: &str) -> Chunk {
    Chunk {
        id: ChunkId(id),
        source: SourceId(id),
        uri: "a.md".to_owned(),
        title: title.to_owned(),
        section: None,
        headings: Vec::new(),
        ordinal: 0,
        kind: ChunkKind::Text,
        text: text.to_owned(),
        span: Span { start: 0, end: text.len() },
        page: None,
        area: None,
        boxes: Vec::new(),
        summary: None,
        hidden: false,
        table: None,
    }
}

/// A small request in the answering role.
pub fn request(text: &str) -> ChatRequest {
    ChatRequest {
        role: Role::Answer,
        messages: vec![Message::User { text: text.to_owned(), images: Vec::new() }],
        temperature: 0.0,
        max_tokens: 256,
        schema: None,
        prompt: None,
        sample: 0,
        logprobs: false,
        origin: CallOrigin::default(),
    }
}

/// A temporary failure.
pub fn busy(model: &str) -> ModelError {
    ModelError::Busy { model: model.to_owned(), retry_after: None, source: "on purpose".into() }
}

fn used_up(role: Role) -> ModelError {
    let source = format!("the script has no reply left for `{role}`");
    ModelError::Denied { model: "fake".to_owned(), source: source.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn replies_by_role() {
        let chat = ScriptedChat::by_role([
            (Role::Answer, vec!["London", "Paris"]),
            (Role::Judge, vec!["yes"]),
        ]);
        let judge = ChatRequest { role: Role::Judge, ..request("b") };
        assert_eq!(chat.complete(&request("a")).await.unwrap().text, "London");
        assert_eq!(chat.complete(&judge).await.unwrap().text, "yes");
        assert_eq!(chat.complete(&request("a")).await.unwrap().text, "Paris");
        let error = chat.complete(&judge).await.unwrap_err();
        let cause = std::error::Error::source(&error).unwrap();
        assert_eq!(cause.to_string(), "the script has no reply left for `judge`");
        assert_eq!(chat.requests().len(), 4);
    }

    #[tokio::test]
    async fn scores_by_role() {
        let scorer =
            ScriptedScorer::by_role([(Role::Answer, vec![("London", vec![1.0_f32, 0.5])])]);
        let reply = scorer.complete(&request("a")).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.usage.completion_tokens), ("London", 2));
        let logprobs: Vec<f32> = reply.logprobs.iter().map(|token| token.logprob).collect();
        assert_eq!(logprobs, [0.0, 0.5_f32.ln()]);
        assert!(scorer.complete(&request("a")).await.is_err());
        assert_eq!(scorer.requests().len(), 2);
    }
}
