//! A model server within the test, for what the stub of `../shared` does not know: chat by
//! [`repeating`](crate::repeating), embeddings of hashed words. It counts what reaches it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::Place;
use crate::repeating;

/// How long it thinks before it replies.
const LATENCY: Duration = Duration::from_millis(2);
const DIMENSIONS: usize = 16;

/// Serves as long as the test runs.
pub(crate) struct Talker {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    heard: Mutex<Heard>,
    /// Requests that are answered; later ones wait until there are more.
    answered: AtomicU64,
    /// Prompts with this word in them are refused.
    refused: Mutex<Option<String>>,
    /// Prompts with this word in them get a reply that nobody can read.
    garbled: Mutex<Option<String>>,
    /// What it says in every answer to a question.
    besides: Mutex<String>,
}

/// How often each request was made, by its bytes.
#[derive(Default)]
struct Heard {
    chats: HashMap<Vec<u8>, u64>,
    embedded: HashMap<String, u64>,
    embeddings: u64,
}

impl Heard {
    fn requests(&self) -> u64 {
        self.chats.values().sum::<u64>() + self.embeddings
    }
}

fn repeated<K>(counts: &HashMap<K, u64>) -> u64 {
    counts.values().map(|times| times - 1).sum()
}

impl Talker {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            heard: Mutex::default(),
            answered: AtomicU64::new(u64::MAX),
            refused: Mutex::default(),
            garbled: Mutex::default(),
            besides: Mutex::default(),
        });
        let serving = shared.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let shared = serving.clone();
                // A client that was killed leaves its connection broken.
                std::thread::spawn(move || connection.and_then(|it| serve(it, &shared)));
            }
        });
        Self { port, shared }
    }

    /// A folder whose settings name this server, chat and embeddings.
    pub(crate) fn place(&self) -> Place {
        Place::new()
            .set("OPENAI_BASE_URL", &self.address())
            .set("OPENAI_MODEL", "talker")
            .set("PIKERAG_EMBED_MODEL", "talker-embedding")
    }

    /// What stands before `/chat/completions`.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// What it is to say from now on in every thought, sub-question and answer.
    pub(crate) fn say(&self, besides: &str) {
        besides.clone_into(&mut self.shared.besides.lock().unwrap());
    }

    pub(crate) fn chats(&self) -> u64 {
        self.shared.heard.lock().unwrap().chats.values().sum()
    }

    /// Chat requests that had been made before, word for word.
    pub(crate) fn repeated_chats(&self) -> u64 {
        repeated(&self.shared.heard.lock().unwrap().chats)
    }

    /// Texts that had been embedded before.
    pub(crate) fn repeated_texts(&self) -> u64 {
        repeated(&self.shared.heard.lock().unwrap().embedded)
    }

    /// All texts that were embedded.
    pub(crate) fn embedded(&self) -> Vec<String> {
        self.shared.heard.lock().unwrap().embedded.keys().cloned().collect()
    }

    /// All requests that have reached it.
    pub(crate) fn requests(&self) -> u64 {
        self.shared.heard.lock().unwrap().requests()
    }

    /// Answers the first `n` requests and lets later ones wait, so that a run cannot end behind them.
    pub(crate) fn answer_only(&self, n: u64) {
        self.shared.answered.store(n, Ordering::Relaxed);
    }

    /// Refuses prompts that hold a word, or none.
    pub(crate) fn refuse(&self, word: Option<&str>) {
        *self.shared.refused.lock().unwrap() = word.map(str::to_owned);
    }

    /// Replies to prompts that hold a word with what nobody can read, or to none.
    pub(crate) fn garble(&self, word: Option<&str>) {
        *self.shared.garbled.lock().unwrap() = word.map(str::to_owned);
    }

    /// Answers all requests.
    pub(crate) fn answer_all(&self) {
        self.answer_only(u64::MAX);
    }

    /// Forgets what it has heard.
    pub(crate) fn reset(&self) {
        *self.shared.heard.lock().unwrap() = Heard::default();
    }
}

/// Answers the one request of a connection.
fn serve(mut connection: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    let (mut path, mut length) = (String::new(), 0);
    reader.read_line(&mut path)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.to_ascii_lowercase().split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    if body.is_empty() {
        return Ok(()); // killed before it had asked
    }
    let asked: Value = serde_json::from_slice(&body).unwrap();
    let refused = shared.refused.lock().unwrap().clone();
    let garbled = shared.garbled.lock().unwrap().clone();
    let is_garbled = garbled.is_some_and(|word| asked["messages"].to_string().contains(&word));
    let is_refused = refused.is_some_and(|word| asked["messages"].to_string().contains(&word));
    let (reply, place) = {
        let mut heard = shared.heard.lock().unwrap();
        let reply = if path.contains("/embeddings") {
            embed(&asked, &mut heard)
        } else {
            *heard.chats.entry(body).or_default() += 1;
            chat(&asked, &shared.besides.lock().unwrap(), is_garbled)
        };
        (reply, heard.requests())
    };
    std::thread::sleep(LATENCY);
    while shared.answered.load(Ordering::Relaxed) < place {
        std::thread::sleep(LATENCY);
    }
    let reply = reply.to_string();
    let (status, reply) = match is_refused {
        true => (
            "400 Bad Request",
            json!({"error": {"message": "the content filter said no"}}).to_string(),
        ),
        false => ("200 OK", reply),
    };
    write!(
        connection,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{reply}",
        reply.len()
    )
}

fn chat(asked: &Value, besides: &str, is_garbled: bool) -> Value {
    let content = &asked["messages"][0]["content"];
    // With pictures it is a list of parts, the words first.
    let prompt = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap();
    let reply = match is_garbled {
        true => "As I was saying".to_owned(),
        false => asking(prompt, besides).unwrap_or_else(|| repeating::reply(prompt)),
    };
    let (read, written) = (prompt.split(' ').count(), reply.split(' ').count());
    json!({
        "choices": [{"message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": read, "completion_tokens": written}
    })
}

/// The reply to a prompt of KAR³: another sub-question as long as there are fewer than three passages, the first
/// candidate, and the last passage's words.
fn asking(prompt: &str, besides: &str) -> Option<String> {
    let reply = if prompt.contains("{\"thinking\": \"what is known, what is missing\"") {
        let passages = repeating::below(prompt, "Context").matches("\n\n").count();
        let asked = repeating::below(prompt, "Question");
        let more = [format!("{asked} ({passages})"), format!("What else{besides}, {passages}?")];
        json!({"thinking": besides, "sub_questions": if passages < 2 { more.as_slice() } else { &[] }})
    } else if prompt.contains("\"question_idx\"") {
        json!({"thinking": "", "question_idx": 1})
    } else if prompt.contains("\"citations\"") {
        let words = repeating::below(prompt, "Context").split_whitespace().rev().take(3);
        let words: Vec<&str> = words.collect();
        let answer = format!("{}{besides}", words.join(" "));
        json!({"answer": answer, "rationale": besides, "citations": []})
    } else {
        return None;
    };
    Some(reply.to_string())
}

fn embed(asked: &Value, heard: &mut Heard) -> Value {
    heard.embeddings += 1;
    let mut data = Vec::new();
    for (index, text) in asked["input"].as_array().unwrap().iter().enumerate() {
        let text = text.as_str().unwrap();
        *heard.embedded.entry(text.to_owned()).or_default() += 1;
        data.push(json!({"index": index, "embedding": vector(text)}));
    }
    json!({"data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}})
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = [0.01_f32; DIMENSIONS];
    for word in text.split_whitespace() {
        let hash =
            word.bytes().fold(7_usize, |hash, byte| hash.wrapping_mul(31) ^ usize::from(byte));
        vector[hash % DIMENSIONS] += 1.0;
    }
    let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    vector.iter().map(|part| part / length).collect()
}
