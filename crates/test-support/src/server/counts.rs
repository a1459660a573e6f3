//! Counts the requests of a server.

use std::collections::{BTreeMap, HashMap};

use super::faults::{Drawn, Fault, Faults};
use super::kind::Kind;

/// All counts, including those that only the faults need.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) received: Received,
    /// First line and headers of each request.
    pub(super) heads: Vec<String>,
    /// How often each request has arrived, to draw its faults.
    pub(super) seen: HashMap<blake3::Hash, u64>,
    /// How often each chat and each request to rerank was answered, or will be.
    pub(super) chats: HashMap<blake3::Hash, u64>,
    pub(super) texts: BTreeMap<String, u64>,
    /// Requests that wait for their reply.
    pub(super) under_way: u64,
}

/// The requests since the server was started or reset.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// Chat requests.
    pub chats: u64,
    /// Chat requests whose replies were wanted piece by piece.
    pub streamed: u64,
    /// Requests for vectors.
    pub embeddings: u64,
    /// Requests to rerank.
    pub rerankings: u64,
    /// Chat requests that repeat an answered request word for word.
    pub repeated_chats: u64,
    /// Texts that had been embedded before.
    pub repeated_texts: u64,
    /// Requests to rerank that repeat an answered request word for word.
    pub repeated_rerankings: u64,
    /// Tokens of answered chat requests, of embedded texts, and of ranked documents.
    pub prompt_tokens: u64,
    /// Tokens of the replies.
    pub completion_tokens: u64,
    /// Chat requests by kind of prompt.
    pub kinds: BTreeMap<String, u64>,
    /// The largest number of requests that waited at one time.
    pub most_at_once: u64,
    /// Injected faults, by name.
    pub faults: BTreeMap<String, u64>,
}

impl Received {
    /// The number of all requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.chats + self.embeddings + self.rerankings
    }

    /// The number of chat requests of a kind.
    #[must_use]
    pub fn kind(&self, kind: &str) -> u64 {
        self.kinds.get(kind).copied().unwrap_or_default()
    }

    /// The number of faults of a name.
    #[must_use]
    pub fn fault(&self, name: &str) -> u64 {
        self.faults.get(name).copied().unwrap_or_default()
    }
}

impl Counts {
    /// Draws the fault of a request: the one that its words select, or else one by the rules.
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
            *self.received.faults.entry(name).or_default() += 1;
        }
        drawn
    }
}
