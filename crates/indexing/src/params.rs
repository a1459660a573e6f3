//! Defines the parameters of indexing.

use pikerag_extract::ChunkParams;
use pikerag_knowledge::{AtomKind, RecordSchema, Structure, TagClass};
use serde::{Deserialize, Serialize};

/// The parameters of indexing. Without the model it needs, a stage runs by rules or is left out
/// (`plan.rs`).
#[derive(Clone, Debug)]
pub struct Params {
    /// The sizes of chunks, in tokens. With other sizes, every file is read again.
    pub chunks: ChunkParams,
    /// The way chunks are cut. With another one, every file is read again.
    pub chunk_by: ChunkBy,
    /// The tables and documents that a model summarizes, besides the chunks that it cuts.
    pub summarize: Vec<Summarized>,
    /// Whether a vision model describes figures.
    pub describe: bool,
    /// The parameters of tags.
    pub tags: TagParams,
    /// The kinds of atoms to make, in this order. Questions and statements need a model.
    pub atoms: Vec<AtomKind>,
    /// Questions such as readers ask, which the model that writes atomic questions is shown (KAR³ §5). Other ones
    /// apply to the chunks that are read from then on.
    pub sample_questions: Vec<String>,
    /// The files to index of those that repeat the same text.
    pub repeats: Repeats,
    /// The structures to build over all documents. Every later run keeps them up to date.
    pub with: Vec<Structure>,
    /// The structures to stop maintaining, even if `with` or earlier runs request them. Existing data is
    /// kept.
    pub without: Vec<Structure>,
    /// The records to read. Afterwards the base contains no records of other schemas.
    pub records: Vec<RecordSchema>,
    /// Recorded files that are missing on disk. If this run finds the same bytes under another name, the
    /// file has moved, and the base deletes its data under the old name.
    pub gone: Vec<String>,
    /// Recorded files that have been renamed: (old name, new name). If this run reads the new one, the base
    /// deletes the data under the old name.
    pub renamed: Vec<(String, String)>,
    /// Files parsed at a time; 0 counts as 1.
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
            sample_questions: Vec::new(),
            repeats: Repeats::All,
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

/// The files to index of those that repeat the same text. Either way, the report names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Repeats {
    /// All of them: a filter or a key may admit one and not the other, and people may ask for a file by its name.
    #[default]
    All,
    /// One. Files that only resemble each other are all indexed.
    Once,
}

/// The way chunks are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChunkBy {
    /// By the document's structure and the size.
    #[default]
    Structure,
    /// By a model, within a range of sizes (PIKE-RAG §5.2.1); by structure if there is no model.
    Model {
        /// The fewest tokens of a chunk; above [`ChunkParams::max_tokens`] it counts as that.
        min_tokens: u64,
    },
}

/// The things that a model may summarize.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Summarized {
    /// Each table.
    Tables,
    /// Each document.
    Sources,
    /// Each section or chapter of a document with several chunks, or the whole of a short one: not as a text, but as
    /// questions that its chunks answer together.
    Sections,
}

/// The parameters of tags.
#[derive(Clone, Debug, PartialEq)]
pub struct TagParams {
    /// Classes that a person declares.
    pub classes: Vec<TagClass>,
    /// Whether a model also finds classes in the documents if some are declared. If none are, it always
    /// does.
    pub find: bool,
    /// The number of chunks in which classes are sought; 0 counts as 1.
    pub sample: usize,
}

impl Default for TagParams {
    fn default() -> Self {
        Self { classes: Vec::new(), find: false, sample: 32 }
    }
}

/// The settings and versions that decide how a file is read. If they change, it is read again.
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
