//! Runs a model server in the test's process. It speaks OpenAI's protocol, counts requests, and
//! answers rightly, late, wrongly, or not at all.

pub mod canned;
mod counts;
mod faults;
mod http;
mod kind;
mod streamed;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use base64::Engine;
use serde_json::{Value, json};

pub use counts::Received;
pub use faults::{Fault, Faults, Malformed, When};

use crate::oracle::OracleReply;
use crate::words::{tokens, vector};
use counts::Counts;
use faults::Drawn;
use http::{Request, Response};
use kind::Kind;

/// The default length of vectors.
const DIMENSIONS: usize = 384;
/// The path that tells how many prompts of each kind came in.
const KINDS: &str = "/kinds";
/// The pause between two checks of a waiting request.
const PATIENCE: Duration = Duration::from_millis(1);

/// The pieces of a streamed reply that take as long as a reply in one piece.
const PIECES: u32 = 8;

/// The function from a prompt to its reply.
type Mind = dyn Fn(&str) -> OracleReply + Send + Sync;

/// A model server on a free port; it ends when it is dropped.
pub struct Server {
    port: u16,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    mind: Box<Mind>,
    faults: Faults,
    latency: Duration,
    dimensions: usize,
    counts: Mutex<Counts>,
    /// Words, and the faults of requests that contain them.
    spoiled: Mutex<Vec<Spoiled>>,
    /// The number of requests to answer; later ones wait until it grows.
    answered: AtomicU64,
    is_over: Arc<AtomicBool>,
}

/// A fault of requests of a kind that contain a word.
struct Spoiled {
    kind: Kind,
    word: String,
    fault: Fault,
}

impl Server {
    /// Starts a server that replies with `mind`.
    ///
    /// # Panics
    /// No port is free.
    pub fn start(
        mind: impl Fn(&str) -> OracleReply + Send + Sync + 'static,
        faults: Faults,
        latency: Duration,
    ) -> Self {
        Self::with_dimensions(mind, faults, latency, DIMENSIONS)
    }

    /// Starts a server with vectors of another length.
    ///
    /// # Panics
    /// No port is free.
    pub fn with_dimensions(
        mind: impl Fn(&str) -> OracleReply + Send + Sync + 'static,
        faults: Faults,
        latency: Duration,
        dimensions: usize,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            mind: Box::new(mind),
            faults,
            latency,
            dimensions,
            counts: Mutex::default(),
            spoiled: Mutex::default(),
            answered: AtomicU64::new(u64::MAX),
            is_over: Arc::default(),
        });
        let answering = Arc::clone(&shared);
        let accepting =
            http::serve(listener, Arc::clone(&shared.is_over), move |request, writer| {
                answering.answer(&request, writer)
            });
        Self { port, shared, accepting: Some(accepting) }
    }

    /// The port of the server.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The base URL for clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The counts of all requests so far.
    #[must_use]
    pub fn received(&self) -> Received {
        self.shared.counts().received.clone()
    }

    /// First line and headers of each request, in order.
    #[must_use]
    pub fn heads(&self) -> Vec<String> {
        self.shared.counts().heads.clone()
    }

    /// All texts that were embedded, in alphabetical order.
    #[must_use]
    pub fn embedded(&self) -> Vec<String> {
        self.shared.counts().texts.keys().cloned().collect()
    }

    /// From now on, chats that contain `word` get `fault`.
    pub fn spoil_chats(&self, word: &str, fault: Fault) {
        self.spoil(Kind::Chat, word, fault);
    }

    /// From now on, requests for vectors that contain `word` get `fault`.
    pub fn spoil_texts(&self, word: &str, fault: Fault) {
        self.spoil(Kind::Vectors, word, fault);
    }

    /// From now on, requests to rerank that contain `word` get `fault`.
    pub fn spoil_rerankings(&self, word: &str, fault: Fault) {
        self.spoil(Kind::Order, word, fault);
    }

    fn spoil(&self, kind: Kind, word: &str, fault: Fault) {
        let spoiled = Spoiled { kind, word: word.to_owned(), fault };
        self.shared.spoiled().push(spoiled);
    }

    /// Removes all faults that the `spoil_` functions set.
    pub fn stop_faults(&self) {
        self.shared.spoiled().clear();
    }

    /// Resets all counts.
    pub fn reset(&self) {
        *self.shared.counts() = Counts::default();
    }

    /// Answers the first `n` requests and lets later ones wait, so that a run cannot finish.
    pub fn answer_only(&self, n: u64) {
        self.shared.answered.store(n, Ordering::Relaxed);
    }

    /// Answers all requests.
    pub fn answer_all(&self) {
        self.answer_only(u64::MAX);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.answer_all();
        // Wakes the accepting thread, so that the port becomes free.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
        drop(self.accepting.take().map(JoinHandle::join));
    }
}

impl Shared {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spoiled(&self) -> MutexGuard<'_, Vec<Spoiled>> {
        self.spoiled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fault that the words of a request select.
    fn spoils(&self, body: &[u8], kind: Kind) -> Option<Fault> {
        let body = String::from_utf8_lossy(body);
        let spoiled = self.spoiled();
        let of = |it: &&Spoiled| it.kind == kind && body.contains(&it.word);
        spoiled.iter().find(of).map(|it| it.fault)
    }

    /// Answers one request. Returns whether the connection stays open.
    fn answer(&self, request: &Request, writer: &mut TcpStream) -> std::io::Result<bool> {
        let asked: Value = match serde_json::from_slice(&request.body) {
            Ok(asked) => asked,
            Err(_) if request.path.ends_with("/models") || request.path.ends_with(KINDS) => {
                Value::Null
            }
            Err(error) => {
                let error = json!({"error": {"message": error.to_string()}});
                return Response::json(400, &error).write(writer);
            }
        };
        if request.path.ends_with("/models") {
            let list = json!({"object": "list", "data": [{"id": "stub", "object": "model"}]});
            return Response::json(200, &list).write(writer);
        }
        if request.path.ends_with(KINDS) {
            return Response::json(200, &json!(self.counts().received.kinds)).write(writer);
        }
        let kind = Kind::of(&request.path);
        let (reply, drawn, place) = {
            let mut counts = self.counts();
            counts.heads.push(request.head.clone());
            let spoils = self.spoils(&request.body, kind);
            let drawn = counts.draw(&self.faults, &request.body, kind, spoils);
            let reply = match kind {
                Kind::Chat => self.chat(&asked, &request.body, drawn, &mut counts),
                Kind::Vectors => self.embed(&asked, drawn, &mut counts),
                Kind::Order => rerank(&asked, &request.body, drawn, &mut counts),
            };
            counts.under_way += 1;
            counts.received.most_at_once = counts.received.most_at_once.max(counts.under_way);
            (reply, drawn, counts.received.requests())
        };
        sleep(self.latency);
        while self.answered.load(Ordering::Relaxed) < place {
            sleep(PATIENCE);
        }
        self.counts().under_way -= 1;
        if asked["stream"] == true && drawn.is_delivered() {
            return streamed::write(&asked, &reply, self.latency / PIECES, writer);
        }
        drawn.write(&self.faults, request, &reply, writer)
    }

    fn chat(&self, asked: &Value, body: &[u8], drawn: Drawn, counts: &mut Counts) -> Value {
        let prompt = prompt(asked);
        let OracleReply { kind, text } = (self.mind)(&prompt);
        counts.received.chats += 1;
        counts.received.streamed += u64::from(asked["stream"] == true);
        *counts.received.kinds.entry(kind.to_owned()).or_default() += 1;
        let content = drawn.content(text);
        let (read, written) = (tokens(&prompt), tokens(content.as_deref().unwrap_or_default()));
        if drawn.is_answered() {
            let times = counts.chats.entry(blake3::hash(body)).or_default();
            counts.received.repeated_chats += u64::from(0 < *times);
            *times += 1;
            counts.received.prompt_tokens += read;
            counts.received.completion_tokens += written;
        }
        let logprobs =
            (asked["logprobs"] == true).then(|| logprobs(content.as_deref().unwrap_or_default()));
        json!({
            "object": "chat.completion",
            "model": asked["model"],
            "choices": [{
                "index": 0,
                "message": {"role": "assistant", "content": content},
                "finish_reason": "stop",
                "logprobs": logprobs,
            }],
            "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
        })
    }

    fn embed(&self, asked: &Value, drawn: Drawn, counts: &mut Counts) -> Value {
        let texts: Vec<&str> = match &asked["input"] {
            Value::String(text) => vec![text],
            Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let asked_for = asked["dimensions"].as_u64().map(|dimensions| dimensions as usize);
        let dimensions = asked_for.unwrap_or(self.dimensions);
        counts.received.embeddings += 1;
        let packed = asked["encoding_format"] == "base64";
        let mut data = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let vector = drawn.vector(vector(text, dimensions));
            data.push(json!({"index": index, "embedding": embedding(&vector, packed)}));
        }
        let read = texts.iter().map(|text| tokens(text)).sum::<u64>();
        if drawn.is_answered() {
            for text in &texts {
                let times = counts.texts.entry((*text).to_owned()).or_default();
                counts.received.repeated_texts += u64::from(0 < *times);
                *times += 1;
            }
            counts.received.prompt_tokens += read;
        }
        drawn.list(&mut data);
        json!({"object": "list", "data": data, "usage": {"prompt_tokens": read, "total_tokens": read}})
    }
}

/// Scores each document: the shorter, the better. Sorted by score, as servers send them.
fn rerank(asked: &Value, body: &[u8], drawn: Drawn, counts: &mut Counts) -> Value {
    let query = tokens(asked["query"].as_str().unwrap_or_default());
    let documents = asked["documents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (mut results, mut read) = (Vec::new(), 0);
    for (index, document) in documents.iter().enumerate() {
        let text = document.as_str().unwrap_or_default();
        read += query + tokens(text);
        let score = 1.0 / (1.0 + text.chars().count() as f64);
        results.push(json!({"index": index, "relevance_score": score}));
    }
    let score = |result: &Value| result["relevance_score"].as_f64().unwrap_or_default();
    results.sort_by(|a, b| score(b).total_cmp(&score(a)));
    counts.received.rerankings += 1;
    if drawn.is_answered() {
        let times = counts.chats.entry(blake3::hash(body)).or_default();
        counts.received.repeated_rerankings += u64::from(0 < *times);
        *times += 1;
        counts.received.prompt_tokens += read;
    }
    drawn.scores(&mut results);
    json!({
        "model": asked["model"],
        "results": results,
        "usage": {"prompt_tokens": read, "total_tokens": read},
    })
}

/// The text of all messages; a message with pictures is a list of parts.
fn prompt(asked: &Value) -> String {
    let messages = asked["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut parts = Vec::new();
    for message in messages {
        match &message["content"] {
            Value::Array(list) => {
                parts.extend(list.iter().filter_map(|part| part["text"].as_str()));
            }
            content => parts.extend(content.as_str()),
        }
    }
    parts.join("\n")
}

fn embedding(vector: &[f32], packed: bool) -> Value {
    if !packed {
        return json!(vector);
    }
    let bytes: Vec<u8> = vector.iter().flat_map(|part| part.to_le_bytes()).collect();
    base64::engine::general_purpose::STANDARD.encode(bytes).into()
}

/// Log probabilities of the words, the same each time.
fn logprobs(content: &str) -> Value {
    let mut scores = Vec::new();
    for token in content.split_inclusive(' ') {
        let draw = f64::from(u32::from(blake3::hash(token.as_bytes()).as_bytes()[0])) / 255.0;
        scores.push(json!({"token": token, "logprob": -0.01 - 0.5 * draw, "top_logprobs": []}));
    }
    json!({"content": scores})
}
