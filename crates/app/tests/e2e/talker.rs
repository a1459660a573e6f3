//! Provides a model server for documents outside the world of `test-support`, with a reply to every
//! prompt of indexing.

use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pikerag_test_support::{Faults, OracleReply, Server};
use serde_json::json;

use crate::common::Place;
use crate::repeating;

/// The delay before a reply.
const LATENCY: Duration = Duration::from_millis(2);
const DIMENSIONS: usize = 16;

/// A model server that runs until it is dropped.
pub(crate) struct Talker {
    server: Server,
    /// The text that it adds to every answer.
    addition: Arc<Mutex<String>>,
}

impl Talker {
    pub(crate) fn start() -> Self {
        let addition: Arc<Mutex<String>> = Arc::default();
        let shared = addition.clone();
        let model = move |prompt: &str| {
            let reply = kar3_reply(prompt, &shared.lock().unwrap());
            OracleReply { kind: "any", text: reply.unwrap_or_else(|| repeating::reply(prompt)) }
        };
        let server = Server::with_dimensions(model, Faults::default(), LATENCY, DIMENSIONS);
        Self { server, addition }
    }

    /// A folder whose settings name this server for chat and embeddings.
    pub(crate) fn place(&self) -> Place {
        Place::new()
            .set("OPENAI_BASE_URL", &self.url())
            .set("OPENAI_MODEL", "talker")
            .set("PIKERAG_EMBED_MODEL", "talker-embedding")
    }

    /// Sets the text that it adds from now on to every thought, sub-question and answer.
    pub(crate) fn set_addition(&self, addition: &str) {
        addition.clone_into(&mut self.addition.lock().unwrap());
    }
}

impl Deref for Talker {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// The reply to a prompt of KAR³: a further sub-question while there are fewer than three passages,
/// the first candidate, or the last three words of the passages.
fn kar3_reply(prompt: &str, addition: &str) -> Option<String> {
    let reply = if prompt.contains("{\"thinking\": \"one or two short sentences: what is known") {
        let passages = repeating::below(prompt, "Context").matches("\n\n").count();
        let asked = repeating::below(prompt, "Question");
        let more = [format!("{asked} ({passages})"), format!("What else{addition}, {passages}?")];
        json!({"thinking": addition, "sub_questions": if passages < 2 { more.as_slice() } else { &[] }})
    } else if prompt.contains("\"question_idx\"") {
        json!({"thinking": "", "question_idx": 1})
    } else if prompt.contains("\"citations\"") {
        let words = repeating::below(prompt, "Context").split_whitespace().rev().take(3);
        let words: Vec<&str> = words.collect();
        let answer = format!("{}{addition}", words.join(" "));
        json!({"answer": answer, "rationale": addition, "citations": []})
    } else {
        return None;
    };
    Some(reply.to_string())
}
