//! A model server for what the world of `test-support` does not know: any document, and all that indexing asks of it.

use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pikerag_test_support::{Faults, Said, Server};
use serde_json::json;

use crate::common::Place;
use crate::repeating;

/// How long it thinks before it replies.
const LATENCY: Duration = Duration::from_millis(2);
const DIMENSIONS: usize = 16;

/// Serves as long as the test runs.
pub(crate) struct Talker {
    server: Server,
    /// What it says in every answer to a question.
    besides: Arc<Mutex<String>>,
}

impl Talker {
    pub(crate) fn start() -> Self {
        let besides: Arc<Mutex<String>> = Arc::default();
        let said = besides.clone();
        let mind = move |prompt: &str| {
            let reply = asking(prompt, &said.lock().unwrap());
            Said { kind: "any", text: reply.unwrap_or_else(|| repeating::reply(prompt)) }
        };
        let server = Server::with_dimensions(mind, Faults::default(), LATENCY, DIMENSIONS);
        Self { server, besides }
    }

    /// A folder whose settings name this server, chat and embeddings.
    pub(crate) fn place(&self) -> Place {
        Place::new()
            .set("OPENAI_BASE_URL", &self.url())
            .set("OPENAI_MODEL", "talker")
            .set("PIKERAG_EMBED_MODEL", "talker-embedding")
    }

    /// What it is to say from now on in every thought, sub-question and answer.
    pub(crate) fn say(&self, besides: &str) {
        besides.clone_into(&mut self.besides.lock().unwrap());
    }
}

impl Deref for Talker {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// The reply to a prompt of KAR³: another sub-question as long as there are fewer than three passages, the first
/// candidate, and the last passage's words.
fn asking(prompt: &str, besides: &str) -> Option<String> {
    let reply = if prompt.contains("{\"thinking\": \"one or two short sentences: what is known") {
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
