//! The port to the content of documents: sources, their chunks, atoms and records.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{StoreError, Usage};
use crate::distilled::Generation;
use crate::document::Image;
use crate::graph::{Atom, AtomKind, Chunk, Source};
use crate::id::{AtomId, ChunkId, SourceId};
use crate::records::Record;

/// The nodes or records to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a, T> {
    /// All of them.
    All,
    /// Those with these identifiers.
    Of(&'a [T]),
}

/// The atoms to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomQuery<'a> {
    /// These, in the given order; missing ones are left out.
    These(&'a [AtomId]),
    /// All of one kind, by chunk in the given order.
    InChunks(AtomKind, &'a [ChunkId]),
}

/// The records to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordsOf<'a> {
    /// All of them.
    All,
    /// Those of one schema.
    Schema(&'a str),
    /// Those of these chunks.
    Chunks(&'a [ChunkId]),
}

/// Content that indexing may derive from documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derived {
    /// Atoms of one kind.
    Atoms(AtomKind),
    /// Entities of the graph.
    Entities,
    /// Summaries of the tree.
    Summaries,
    /// Tags of chunks.
    Tags,
}

/// The content of the documents. Items that are read by identifier come in the given order.
///
/// # Errors
/// The base cannot be read. Never a partial result: no method may reason over half of it.
///
/// # Cancel safety
/// Reads only; dropping a future leaves nothing behind.
#[async_trait]
pub trait CorpusReader: Send + Sync {
    /// All sources by URI, or these in the given order; unknown ones are left out.
    async fn sources(&self, which: Which<'_, SourceId>) -> Result<Vec<Source>, StoreError>;

    /// The text of a source, which all spans refer to.
    async fn source_text(&self, source: SourceId) -> Result<String, StoreError>;

    /// These chunks, in the given order; missing ones are left out.
    async fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Chunk>, StoreError>;

    /// The first chunks of a source in reading order, at most `limit`; hidden ones are left out.
    async fn first_chunks(&self, source: SourceId, limit: usize) -> Result<Vec<Chunk>, StoreError>;

    /// The titles of a sample of at most `n` chunks; a title that many chunks share occurs many
    /// times. The sample consists of the visible chunks with the least identifiers as signed
    /// numbers. Identifiers are hashes, so the sample is spread over all and is the same each time.
    async fn sample_titles(&self, n: usize) -> Result<Vec<String>, StoreError>;

    /// The number of documents in each language, by ISO 639-3 code; `None` if the language is
    /// unknown. Largest first, then by code.
    async fn languages(&self) -> Result<Vec<(Option<String>, usize)>, StoreError>;

    /// The pictures of these chunks, in order; `None` for a chunk without one.
    async fn figures(&self, chunks: &[ChunkId]) -> Result<Vec<Option<Image>>, StoreError>;

    /// The atoms of a query.
    async fn atoms(&self, query: AtomQuery<'_>) -> Result<Vec<Atom>, StoreError>;

    /// All records, or those under one schema: by document, place in it, and schema.
    async fn records(&self, of: RecordsOf<'_>) -> Result<Vec<Record>, StoreError>;

    /// The state of the base: cheap enough to read with every question.
    async fn state(&self) -> Result<BaseState, StoreError>;

    /// Whether the base has any such content, without counting it.
    async fn has(&self, content: Derived) -> Result<bool, StoreError>;

    /// The size of the base: counting takes longer for a larger base and a longer ledger.
    async fn summary(&self) -> Result<BaseSummary, StoreError>;
}

/// The state of a base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseState {
    /// Increases with every change of documents, visible or not.
    pub generation: Generation,
    /// The number of chunks.
    pub chunks: usize,
    /// The embedder of all vectors, visible or not; all names if there are several.
    pub embedder: Option<String>,
    /// With a filter: what it admits. States of one process with the same number admit the same of
    /// equal documents.
    pub scope: Option<u64>,
}

/// The size of a base.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BaseSummary {
    /// The number of files that were read.
    pub files: usize,
    /// The number of documents: a file holds one or many.
    pub sources: usize,
    /// Sections of all levels.
    pub sections: usize,
    /// Chunks, including those that no search finds.
    pub chunks: usize,
    /// Questions that a model derived from chunks (KAR³ §3.3).
    pub questions: usize,
    /// Sentences of chunks, which need no model (KAR³ Table 13).
    pub sentences: usize,
    /// Statements by a model.
    #[serde(default)]
    #[schema(required)]
    pub statements: usize,
    /// Rows read by declared schemas.
    #[serde(default)]
    #[schema(required)]
    pub records: usize,
    /// Entities, each once.
    #[serde(default)]
    #[schema(required)]
    pub entities: usize,
    /// Relations between entities, each once.
    #[serde(default)]
    #[schema(required)]
    pub relations: usize,
    /// Communities of entities, of all levels.
    #[serde(default)]
    #[schema(required)]
    pub communities: usize,
    /// Written reports; at most one for each community.
    #[serde(default)]
    #[schema(required)]
    pub reports: usize,
    /// Summaries in the tree.
    #[serde(default)]
    #[schema(required)]
    pub summaries: usize,
    /// Tags of chunks.
    #[serde(default)]
    #[schema(required)]
    pub tags: usize,
    /// Vectors of all sets together.
    pub vectors: usize,
    /// The embedder that made them, if any.
    #[schema(required)]
    pub embedder: Option<String>,
    /// Recorded calls of chat models; embeddings are not counted.
    pub calls: usize,
    /// Tokens of all recorded calls.
    pub usage: Usage,
    /// Unfinished stages, with the number of pending chunks.
    pub pending: Vec<Backlog>,
    /// Model refusals with a rule-made replacement, by stage and cause.
    #[serde(default)]
    #[schema(required)]
    pub refused: Vec<super::RefusalCount>,
}

/// The pending work of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Backlog {
    /// The stage: its mark, or its description for people.
    pub stage: String,
    /// The number of pending items: mostly chunks.
    pub count: usize,
}
