//! A model server that understands nothing: chat by [`repeating`](crate::repeating), embeddings of hashed words.

use std::time::Duration;

use pikerag_test_support::{Faults, Said, Server};
use serde_json::json;

use crate::common::Place;
use crate::repeating;

/// How long it thinks before it replies.
const LATENCY: Duration = Duration::from_millis(2);
const DIMENSIONS: usize = 16;

/// Serves as long as the test runs.
pub(crate) struct Talker(Server);

impl Talker {
    pub(crate) fn start() -> Self {
        let mind = |prompt: &str| {
            let text = asking(prompt).unwrap_or_else(|| repeating::reply(prompt));
            Said { kind: "any", text }
        };
        Self(Server::with_dimensions(mind, Faults::default(), LATENCY, DIMENSIONS))
    }

    /// A folder whose settings name this server, chat and embeddings.
    pub(crate) fn place(&self) -> Place {
        Place::new()
            .set("OPENAI_BASE_URL", &self.0.url())
            .set("OPENAI_MODEL", "talker")
            .set("PIKERAG_EMBED_MODEL", "talker-embedding")
    }

    pub(crate) fn chats(&self) -> u64 {
        self.0.heard().chats
    }

    /// Chat requests that had been made before, word for word.
    pub(crate) fn repeated_chats(&self) -> u64 {
        self.0.heard().repeated_chats
    }

    /// Texts that had been embedded before.
    pub(crate) fn repeated_texts(&self) -> u64 {
        self.0.heard().repeated_texts
    }

    /// All requests that have reached it.
    pub(crate) fn requests(&self) -> u64 {
        self.0.heard().requests()
    }

    /// Answers the first `n` requests and lets later ones wait, so that a run cannot end behind them.
    pub(crate) fn answer_only(&self, n: u64) {
        self.0.answer_only(n);
    }

    /// Answers all requests.
    pub(crate) fn answer_all(&self) {
        self.0.answer_all();
    }

    /// Forgets what it has heard.
    pub(crate) fn reset(&self) {
        self.0.reset();
    }
}

/// The reply to a prompt of KAR³: another sub-question as long as there are fewer than three passages, the first
/// candidate, and the last passage's words.
fn asking(prompt: &str) -> Option<String> {
    let reply = if prompt.contains("{\"thinking\": \"what is known, what is missing\"") {
        let passages = repeating::below(prompt, "Context").matches("\n\n").count();
        let asked = repeating::below(prompt, "Question");
        let more = [format!("{asked} ({passages})"), format!("What else, {passages}?")];
        json!({"thinking": "", "sub_questions": if passages < 2 { more.as_slice() } else { &[] }})
    } else if prompt.contains("\"question_idx\"") {
        json!({"thinking": "", "question_idx": 1})
    } else if prompt.contains("\"citations\"") {
        let words = repeating::below(prompt, "Context").split_whitespace().rev().take(3);
        let words: Vec<&str> = words.collect();
        json!({"answer": words.join(" "), "rationale": "", "citations": []})
    } else {
        return None;
    };
    Some(reply.to_string())
}
