//! The port to what documents consist of: sources, their chunks, atoms and records.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{StoreError, Usage};
use crate::document::Image;
use crate::graph::{Atom, AtomKind, Chunk, Source};
use crate::id::{ChunkId, SectionId, SourceId};
use crate::records::Record;

/// What stands in the documents. What is asked for by identifier comes in the order asked for.
///
/// # Errors
/// The base cannot be read. Never a partial result: no method may reason over half of it.
///
/// # Cancel safety
/// Reads only; dropping a future leaves nothing behind.
#[async_trait]
pub trait CorpusReader: Send + Sync {
    /// Every source, by URI.
    async fn sources(&self) -> Result<Vec<Source>, StoreError>;

    /// These sources, in the order asked for; unknown ones are left out.
    async fn sources_by_id(&self, ids: &[SourceId]) -> Result<Vec<Source>, StoreError>;

    /// The text of a source that all spans count in.
    async fn source_text(&self, source: SourceId) -> Result<String, StoreError>;

    /// These chunks, in the order asked for; those that are gone are left out.
    async fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Chunk>, StoreError>;

    /// The first chunks of a source in reading order, at most `limit`; those that nobody sees are left out.
    async fn first_chunks(&self, source: SourceId, limit: usize) -> Result<Vec<Chunk>, StoreError>;

    /// The chunks that stand right before and right after each chunk in its source, by chunk in order;
    /// those that cannot be searched are passed over.
    async fn neighbours(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<ChunkId>>, StoreError>;

    /// All chunks of each source in reading order, by source in order; none of a source that has more
    /// than `limit`. Those that cannot be searched are left out.
    async fn chunks_in_sources(
        &self,
        sources: &[SourceId],
        limit: usize,
    ) -> Result<Vec<Vec<ChunkId>>, StoreError>;

    /// All chunks that stand in each section itself, by section in order; none of a section that has
    /// more than `limit`. Those that cannot be searched are left out.
    async fn chunks_in_sections(
        &self,
        sections: &[SectionId],
        limit: usize,
    ) -> Result<Vec<Vec<ChunkId>>, StoreError>;

    /// The titles of a sample of at most `n` chunks, each with its chunk's weight: a title that many chunks share is
    /// there many times. The chunks with the least identifiers, taken as signed numbers, that somebody sees:
    /// identifiers are hashes, so that the sample is spread over all and is the same each time.
    async fn sample_titles(&self, n: usize) -> Result<Vec<String>, StoreError>;

    /// How many documents there are in each language, by ISO 639-3 code; `None` where it could not be told. The most
    /// first, then by code.
    async fn languages(&self) -> Result<Vec<(Option<String>, usize)>, StoreError>;

    /// How many chunks there are.
    async fn chunk_count(&self) -> Result<usize, StoreError>;

    /// The pictures of these chunks, in order; `None` where a chunk has none.
    async fn figures(&self, chunks: &[ChunkId]) -> Result<Vec<Option<Image>>, StoreError>;

    /// All atoms of these chunks of one kind, by chunk in the order asked for.
    async fn atoms_of(&self, kind: AtomKind, chunks: &[ChunkId]) -> Result<Vec<Atom>, StoreError>;

    /// All records, or those under one schema: by document, place in it, and schema.
    async fn records(&self, schema: Option<&str>) -> Result<Vec<Record>, StoreError>;

    /// The embedder of all vectors; where several had a hand in them, their names. Told at once, however much there is.
    async fn embedder(&self) -> Result<Option<String>, StoreError>;

    /// How much there is: counted, which takes longer the more there is.
    async fn summary(&self) -> Result<BaseSummary, StoreError>;
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
