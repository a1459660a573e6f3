//! The port to what documents consist of: sources, their chunks, atoms and records.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{StoreError, Usage};
use crate::distilled::Generation;
use crate::document::Image;
use crate::graph::{Atom, AtomKind, Chunk, Source};
use crate::id::{AtomId, ChunkId, SourceId};
use crate::records::Record;

/// Which nodes or records a read is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which<'a, T> {
    /// All that there are.
    All,
    /// Those of these identifiers.
    Of(&'a [T]),
}

/// Which atoms are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomQuery<'a> {
    /// These, in the order asked for; those that are gone are left out.
    These(&'a [AtomId]),
    /// All of one kind, by chunk in the order asked for.
    InChunks(AtomKind, &'a [ChunkId]),
}

/// What stands in the documents. What is asked for by identifier comes in the order asked for.
///
/// # Errors
/// The base cannot be read. Never a partial result: no method may reason over half of it.
///
/// # Cancel safety
/// Reads only; dropping a future leaves nothing behind.
#[async_trait]
pub trait CorpusReader: Send + Sync {
    /// All sources by URI, or these in the order asked for; unknown ones are left out.
    async fn sources(&self, which: Which<'_, SourceId>) -> Result<Vec<Source>, StoreError>;

    /// The text of a source that all spans count in.
    async fn source_text(&self, source: SourceId) -> Result<String, StoreError>;

    /// These chunks, in the order asked for; those that are gone are left out.
    async fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Chunk>, StoreError>;

    /// The first chunks of a source in reading order, at most `limit`; those that nobody sees are left out.
    async fn first_chunks(&self, source: SourceId, limit: usize) -> Result<Vec<Chunk>, StoreError>;

    /// The titles of a sample of at most `n` chunks, each with its chunk's weight: a title that many chunks share is
    /// there many times. The chunks with the least identifiers, taken as signed numbers, that somebody sees:
    /// identifiers are hashes, so that the sample is spread over all and is the same each time.
    async fn sample_titles(&self, n: usize) -> Result<Vec<String>, StoreError>;

    /// How many documents there are in each language, by ISO 639-3 code; `None` where it could not be told. The most
    /// first, then by code.
    async fn languages(&self) -> Result<Vec<(Option<String>, usize)>, StoreError>;

    /// The pictures of these chunks, in order; `None` where a chunk has none.
    async fn figures(&self, chunks: &[ChunkId]) -> Result<Vec<Option<Image>>, StoreError>;

    /// The atoms that are asked for.
    async fn atoms(&self, query: AtomQuery<'_>) -> Result<Vec<Atom>, StoreError>;

    /// All records, or those under one schema: by document, place in it, and schema.
    async fn records(&self, schema: Option<&str>) -> Result<Vec<Record>, StoreError>;

    /// Where the base stands: cheap enough to ask for with every question.
    async fn state(&self) -> Result<BaseState, StoreError>;

    /// How much there is: counted, which takes longer the more there is.
    async fn summary(&self) -> Result<BaseSummary, StoreError>;
}

/// Where a base stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseState {
    /// Advances with every change of documents, whatever part of them is seen.
    pub generation: Generation,
    /// How many chunks there are.
    pub chunks: usize,
    /// The embedder of all vectors, whatever part of them is seen; where several had a hand in them, their names.
    pub embedder: Option<String>,
}

/// How much a base holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BaseSummary {
    /// Files that were read, by their names.
    pub files: usize,
    /// Documents: a file holds one, or many.
    pub sources: usize,
    /// Sections of all levels.
    pub sections: usize,
    /// Chunks, also those that no search finds.
    pub chunks: usize,
    /// Questions that a model made of chunks (KAR³ §3.3).
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
    /// Entities, each once, however many chunks mention it.
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
    /// Reports that are written; at most one for each community.
    #[serde(default)]
    #[schema(required)]
    pub reports: usize,
    /// Summaries in the tree.
    #[serde(default)]
    #[schema(required)]
    pub summaries: usize,
    /// Tags that chunks bear.
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
    /// Stages that were begun, and the chunks that wait for each.
    pub pending: Vec<Backlog>,
    /// What models refused, and rules stand in for: by stage and cause.
    #[serde(default)]
    #[schema(required)]
    pub refused: Vec<super::RefusalCount>,
}

/// What waits for a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Backlog {
    /// The stage: by its mark, or in words where people read it.
    pub stage: String,
    /// How many wait: mostly chunks.
    pub count: usize,
}
