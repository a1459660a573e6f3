//! What has reached a server, and how often?

use std::collections::{BTreeMap, HashMap};

use super::faults::{Drawn, Fault, Faults};
use super::kind::Kind;

/// What has reached it, as it was counted.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) heard: Heard,
    /// First line and headers of each request.
    pub(super) heads: Vec<String>,
    /// How often each request was seen, for the draws of faults.
    pub(super) seen: HashMap<blake3::Hash, u64>,
    /// How often each was answered, or is going to be: chats, and requests for an order.
    pub(super) chats: HashMap<blake3::Hash, u64>,
    pub(super) texts: BTreeMap<String, u64>,
    /// Requests that wait for their reply now.
    pub(super) under_way: u64,
}

/// What has reached the server since it was started or reset.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// Chat requests.
    pub chats: u64,
    /// Requests for vectors.
    pub embeddings: u64,
    /// Requests for an order.
    pub rerankings: u64,
    /// Chat requests that had been made before, word for word, and answered then.
    pub repeated_chats: u64,
    /// Texts that had been embedded before.
    pub repeated_texts: u64,
    /// Requests for an order that had been made before, word for word, and answered then.
    pub repeated_rerankings: u64,
    /// Tokens of the chat requests that were answered, of the texts embedded, and of the documents ranked.
    pub prompt_tokens: u64,
    /// Tokens of the replies.
    pub completion_tokens: u64,
    /// Chat requests by kind of prompt.
    pub kinds: BTreeMap<String, u64>,
    /// Requests that waited for their reply at one time, at most.
    pub most_at_once: u64,
    /// What went wrong on purpose, by name.
    pub faults: BTreeMap<String, u64>,
}

impl Heard {
    /// All requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.chats + self.embeddings + self.rerankings
    }

    /// Chat requests of a kind.
    #[must_use]
    pub fn kind(&self, kind: &str) -> u64 {
        self.kinds.get(kind).copied().unwrap_or_default()
    }

    /// Faults of a name.
    #[must_use]
    pub fn fault(&self, name: &str) -> u64 {
        self.faults.get(name).copied().unwrap_or_default()
    }
}

impl Counts {
    /// What goes wrong: what the words of the request say, or else the rules.
    pub(super) fn draw(
        &mut self,
        faults: &Faults,
        body: &[u8],
        kind: Kind,
        spoils: Option<Fault>,
    ) -> Drawn {
        let key = blake3::hash(body);
        let nth = self.seen.entry(key).or_default();
        let drawn = match spoils {
            Some(fault) => Drawn(Some(fault)),
            None => faults.draw(&key, *nth, kind),
        };
        *nth += 1;
        if let Some(name) = drawn.name() {
            *self.heard.faults.entry(name).or_default() += 1;
        }
        drawn
    }
}
