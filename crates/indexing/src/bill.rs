//! What will indexing take? Calls and tokens by role, added up stage by stage.

use std::collections::{BTreeMap, HashSet};

use pikerag_knowledge::{Chunk, ChunkId, Role, Usage};
use pikerag_language::estimate_tokens;
use serde::Serialize;
use utoipa::ToSchema;

use super::error::FileError;
use super::plan::Available;

/// What indexing would take. Tokens are estimates; calls are exact but for chunks that a model ends, reports
/// and the tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct Estimate {
    /// Files that would be read, new or changed.
    pub files: usize,
    /// Files that are in the base already, unchanged.
    pub unchanged: usize,
    /// Files that cannot be read, with the reason.
    #[schema(value_type = Vec<(String, String)>)]
    pub unreadable: Vec<(String, FileError)>,
    /// Chunks in the files that would be read, and those left to do from before.
    pub chunks: usize,
    /// Calls to chat models, each counted once: what is asked again is not foreseen.
    pub calls: usize,
    /// Tokens of their prompts and replies.
    pub usage: Usage,
    /// The same by role: each may have a model, and a price, of its own.
    pub by_role: BTreeMap<Role, Usage>,
    /// Tokens to embed; 0 without an embedder.
    pub embedded_tokens: u64,
}

/// An estimate as it grows.
#[derive(Default)]
pub(crate) struct Bill {
    pub(crate) estimate: Estimate,
    /// Chunks that entities are found in: community reports hang on how many there are.
    pub(crate) graph_chunks: usize,
    /// Tokens that the tree of summaries will stand on.
    pub(crate) tree_tokens: u64,
    /// The first chunks, up to `sampled` of them: tag classes are found there.
    pub(crate) sample: Vec<Chunk>,
    pub(crate) sampled: usize,
    embeds: bool,
    met: HashSet<ChunkId>,
    embedded: HashSet<ChunkId>,
}

impl Bill {
    pub(crate) fn begin(available: &Available) -> Self {
        Self { embeds: available.embedder, ..Self::default() }
    }

    /// Counts a chunk that waits in the base, once.
    pub(crate) fn meet(&mut self, chunk: Option<ChunkId>) {
        if let Some(chunk) = chunk {
            self.estimate.chunks += usize::from(self.met.insert(chunk));
        }
    }

    /// Whether a chunk of a file was not met before; its document counts it.
    pub(crate) fn is_new(&mut self, chunk: ChunkId) -> bool {
        self.met.insert(chunk)
    }

    pub(crate) fn call(&mut self, role: Role, prompt_tokens: u64, completion_tokens: u64) {
        self.calls(role, 1, Usage { prompt_tokens, completion_tokens });
    }

    /// Adds calls of a role and their tokens in all.
    pub(crate) fn calls(&mut self, role: Role, calls: usize, usage: Usage) {
        self.estimate.calls += calls;
        self.estimate.usage += usage;
        *self.estimate.by_role.entry(role).or_default() += usage;
    }

    /// Adds tokens to embed; nothing without an embedder.
    pub(crate) fn embed(&mut self, tokens: u64) {
        if self.embeds {
            self.estimate.embedded_tokens += tokens;
        }
    }

    /// Adds a chunk's own text to what is embedded, once.
    pub(crate) fn embed_chunk(&mut self, chunk: &Chunk) {
        if self.embedded.insert(chunk.id) {
            self.embed(estimate_tokens(&chunk.reading_text()));
        }
    }
}
