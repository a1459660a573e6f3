//! Adds up the calls and tokens of indexing by role, stage by stage.

use std::collections::{BTreeMap, HashSet};

use pikerag_knowledge::{Chunk, ChunkId, Role, Usage};
use pikerag_language::estimate_tokens;
use serde::Serialize;
use utoipa::ToSchema;

use super::error::FileError;
use super::plan::Available;

/// The calls and tokens that indexing needs. Tokens are estimates. Calls are exact, except for chunks
/// that a model ends, community reports and the tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct Estimate {
    /// New or changed files, which indexing would read.
    pub files: usize,
    /// Unchanged files, which are already in the base.
    pub unchanged: usize,
    /// Files that cannot be read, with the reason.
    #[schema(value_type = Vec<(String, String)>)]
    pub unreadable: Vec<(String, FileError)>,
    /// Chunks in the files to read, and chunks pending from earlier runs.
    pub chunks: usize,
    /// Calls to chat models; repeated calls are not included.
    pub calls: usize,
    /// Tokens of the prompts and replies of these calls.
    pub usage: Usage,
    /// The tokens by role; each role may have its own model and price.
    pub by_role: BTreeMap<Role, Usage>,
    /// Tokens to embed; 0 without an embedder.
    pub embedded_tokens: u64,
    /// The files that cost most, the most expensive one first.
    #[serde(skip)]
    pub costliest: Vec<FileCost>,
}

/// The cost of a file to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCost {
    /// Its name.
    pub file: String,
    /// Its chunks.
    pub chunks: usize,
    /// Calls to chat models.
    pub calls: usize,
    /// Tokens of these calls, and tokens to embed.
    pub tokens: u64,
}

/// The most files whose cost is listed.
const COSTLIEST: usize = 5;

/// An estimate while stages add to it.
#[derive(Default)]
pub(crate) struct Bill {
    pub(crate) estimate: Estimate,
    /// Chunks from which entities are extracted; they decide the number of community reports.
    pub(crate) graph_chunks: usize,
    /// Tokens of the chunks under the tree of summaries.
    pub(crate) tree_tokens: u64,
    /// The first chunks, up to `sampled` of them, in which tag classes are found.
    pub(crate) sample: Vec<Chunk>,
    pub(crate) sampled: usize,
    embeds: bool,
    counted: HashSet<ChunkId>,
    embedded: HashSet<ChunkId>,
}

impl Bill {
    pub(crate) fn begin(available: &Available) -> Self {
        Self { embeds: available.embedder, ..Self::default() }
    }

    /// Counts a pending chunk of the base, once.
    pub(crate) fn add_pending(&mut self, chunk: Option<ChunkId>) {
        if let Some(chunk) = chunk {
            self.estimate.chunks += usize::from(self.counted.insert(chunk));
        }
    }

    /// Whether a chunk of a file is counted for the first time. Its document adds it to the estimate.
    pub(crate) fn is_new(&mut self, chunk: ChunkId) -> bool {
        self.counted.insert(chunk)
    }

    /// The cost of all that was counted, under the name of a file.
    pub(crate) fn cost_before(&self, file: &str) -> FileCost {
        let Estimate { chunks, calls, usage, embedded_tokens, .. } = &self.estimate;
        let tokens = usage.prompt_tokens + usage.completion_tokens + embedded_tokens;
        FileCost { file: file.to_owned(), chunks: *chunks, calls: *calls, tokens }
    }

    /// Lists the cost of a file that was counted after `before`, if few files cost more.
    pub(crate) fn add_file(&mut self, before: FileCost) {
        let after = self.cost_before("");
        let cost = FileCost {
            chunks: after.chunks.saturating_sub(before.chunks),
            calls: after.calls.saturating_sub(before.calls),
            tokens: after.tokens.saturating_sub(before.tokens),
            file: before.file,
        };
        if cost.chunks == 0 {
            return;
        }
        let costliest = &mut self.estimate.costliest;
        costliest.push(cost);
        costliest.sort_by(|a, b| (b.tokens, b.chunks, &a.file).cmp(&(a.tokens, a.chunks, &b.file)));
        costliest.truncate(COSTLIEST);
    }

    pub(crate) fn call(&mut self, role: Role, prompt_tokens: u64, completion_tokens: u64) {
        self.calls(role, 1, Usage { prompt_tokens, completion_tokens });
    }

    /// Adds calls of a role and the sum of their tokens.
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

    /// Adds a chunk's text to the tokens to embed, once.
    pub(crate) fn embed_chunk(&mut self, chunk: &Chunk) {
        if self.embedded.insert(chunk.id) {
            self.embed(estimate_tokens(&chunk.reading_text()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_expensive_files_are_listed_first() {
        let mut bill = Bill::default();
        for (file, chunks, tokens) in [
            ("a", 1, 5),
            ("b", 3, 5),
            ("c", 1, 90),
            ("d", 0, 0),
            ("e", 2, 1),
            ("f", 1, 1),
            ("g", 1, 1),
        ] {
            let before = bill.cost_before(file);
            bill.estimate.chunks += chunks;
            bill.estimate.usage.prompt_tokens += tokens;
            bill.add_file(before);
        }
        let listed: Vec<(&str, usize, u64)> = bill
            .estimate
            .costliest
            .iter()
            .map(|cost| (cost.file.as_str(), cost.chunks, cost.tokens))
            .collect();
        assert_eq!(listed, [("c", 1, 90), ("b", 3, 5), ("a", 1, 5), ("e", 2, 1), ("f", 1, 1)]);
    }
}
