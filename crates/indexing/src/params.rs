//! What is indexing asked for?

use pikerag_extract::ChunkParams;
use pikerag_knowledge::{AtomKind, RecordSchema, Structure, TagClass};
use serde::{Deserialize, Serialize};

/// How to index. What needs a model that is not there is done by rule, or left out (`plan.rs`).
#[derive(Clone, Debug)]
pub struct Params {
    /// How large chunks may be, in tokens; other sizes read every file again.
    pub chunks: ChunkParams,
    /// Who decides where they end; another choice reads every file again.
    pub chunk_by: ChunkBy,
    /// What a model says in short, besides text that it cuts.
    pub summarize: Vec<Summarized>,
    /// Whether a model that sees describes figures.
    pub describe: bool,
    /// What is known of tags beforehand.
    pub tags: TagParams,
    /// Which atoms to make, in this order. Questions and statements need a model.
    pub atoms: Vec<AtomKind>,
    /// What to build over all documents together. What was built once is kept up to date by every
    /// later run.
    pub with: Vec<Structure>,
    /// What is kept up no longer, though earlier runs or `with` ask for it; what there is stays as it is.
    pub without: Vec<Structure>,
    /// Which records to read: exactly these are in the base afterwards.
    pub records: Vec<RecordSchema>,
    /// Files on record that are gone from disk. Where this run meets the same bytes under another name, they have
    /// moved, and what the base holds under the old name goes.
    pub gone: Vec<String>,
    /// Files on record that have another name now: (old name, new name). Where this run reads the new one, what the
    /// base holds under the old one goes.
    pub renamed: Vec<(String, String)>,
    /// Files that are parsed at a time; 0 counts as 1.
    pub parsers: usize,
    /// Model calls in flight; 0 counts as 1.
    pub in_flight: usize,
    /// Texts per embedding call; 0 counts as 1.
    pub embed_batch: usize,
    /// Embedding calls in flight; 0 counts as 1.
    pub embeds_in_flight: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            chunks: ChunkParams::default(),
            chunk_by: ChunkBy::Structure,
            summarize: Vec::new(),
            describe: false,
            tags: TagParams::default(),
            atoms: vec![AtomKind::Sentence],
            with: Vec::new(),
            without: Vec::new(),
            records: Vec::new(),
            gone: Vec::new(),
            renamed: Vec::new(),
            parsers: 1,
            in_flight: 16,
            embed_batch: 64,
            embeds_in_flight: 4,
        }
    }
}

/// Who decides where chunks end?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChunkBy {
    /// The document's structure, and the size.
    #[default]
    Structure,
    /// A model, within a range of sizes (PIKE-RAG §5.2.1); the structure where there is none.
    Model {
        /// The fewest tokens of a chunk; above [`ChunkParams::max_tokens`] it counts as that.
        min_tokens: u64,
    },
}

/// What a model says in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Summarized {
    /// What each table shows.
    Tables,
    /// What each document is about.
    Sources,
}

/// What is known of tags beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct TagParams {
    /// Classes that a person declares.
    pub classes: Vec<TagClass>,
    /// Whether classes are looked for in the documents where some are declared; where there is none they
    /// are.
    pub find: bool,
    /// How many chunks are looked at for that; 0 counts as 1.
    pub sample: usize,
}

impl Default for TagParams {
    fn default() -> Self {
        Self { classes: Vec::new(), find: false, sample: 32 }
    }
}

/// The settings that decide what a file becomes: under others, it is read again.
pub fn recipe(params: &Params) -> String {
    let by_structure = format!(
        "parse {} extract {} chunk {}/{}",
        pikerag_parse::VERSION,
        pikerag_extract::VERSION,
        params.chunks.max_tokens,
        params.chunks.overlap_tokens
    );
    match params.chunk_by {
        ChunkBy::Structure => by_structure,
        ChunkBy::Model { min_tokens } => {
            format!(
                "{by_structure} enhanced {} from {min_tokens}",
                pikerag_extract::ENHANCED_VERSION
            )
        }
    }
}
