//! The port to the knowledge base: what methods read.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::{TagReader, Vector};
use crate::distilled::{Community, Entity, Relation, Summary};
use crate::document::Image;
use crate::graph::{Atom, AtomKind, Chunk, Source};
use crate::id::{ChunkId, EntityId, SectionId, SourceId, SummaryId};
use crate::names::NameKey;
use crate::records::Record;
use crate::references::Reference;

/// Something found, and how well it fits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored<T> {
    /// The node itself.
    pub item: T,
    /// Higher is better; the scale is the search's own.
    pub score: f32,
}

/// Which vectors to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VectorSet {
    /// One vector per chunk.
    Chunks,
    /// One vector per atom of a kind.
    Atoms(AtomKind),
    /// One vector per entity: its name and what is said of it.
    Entities,
    /// One vector per summary of the tree.
    Summaries,
    /// One vector per source: its title, and what a model says of it as a whole.
    Sources,
    /// One vector per section: the headings that lead to it, below the title of its source.
    Sections,
}

/// What reasoning reads. All results are ordered best first, ties by identifier.
///
/// # Errors
/// Every method fails only when the base cannot be read. Never a partial result: no method may
/// reason over half of it.
///
/// # Cancel safety
/// Reads only; dropping a future leaves nothing behind.
#[async_trait]
pub trait KnowledgeBase: TagReader + Send + Sync {
    /// The atoms of a kind closest to each query vector: `R_atom` in KAR³ eq. 5. One list per
    /// query, in order; one pass over the vectors serves them all.
    ///
    /// At most `k` atoms each, none below `min_score` (δ, a cosine in `[-1, 1]`), none whose chunk is
    /// in `exclude`. The paper: k = 4, δ = 0.5 (§4.1).
    async fn nearest_atoms(
        &self,
        kind: AtomKind,
        queries: &[Vector],
        k: usize,
        min_score: f32,
        exclude: &[ChunkId],
    ) -> Result<Vec<Vec<Scored<Atom>>>, StoreError>;

    /// The cosine that a `share` (from 0 to 1) of all pairs of unrelated atoms stays below, told from
    /// a sample: atoms of a kind, each pair from two chunks. What an embedder gives to texts that have
    /// nothing in common differs widely; this is where its scale begins. `None` where the base has
    /// too few vectors to tell.
    async fn unrelated_similarity(
        &self,
        kind: AtomKind,
        share: f32,
    ) -> Result<Option<f32>, StoreError>;

    /// The chunks closest to each query vector: `R` in KAR³ eq. 1. One list per query.
    async fn nearest_chunks(
        &self,
        queries: &[Vector],
        k: usize,
        min_score: f32,
    ) -> Result<Vec<Vec<Scored<ChunkId>>>, StoreError>;

    /// Cosine of each of these chunks with a query, to within 0.01, in order; 0 where a chunk has no
    /// vector.
    async fn similarities(
        &self,
        query: &Vector,
        chunks: &[ChunkId],
    ) -> Result<Vec<f32>, StoreError>;

    /// The chunks whose words fit best (BM25 over titles, headings and text).
    async fn matching_chunks(
        &self,
        words: &str,
        k: usize,
    ) -> Result<Vec<Scored<ChunkId>>, StoreError>;

    /// These chunks, in the order asked for.
    async fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<Chunk>, StoreError>;

    /// The pictures of these chunks, in order; `None` where a chunk has none.
    async fn figures(&self, chunks: &[ChunkId]) -> Result<Vec<Option<Image>>, StoreError>;

    /// All atoms of these chunks of one kind, by chunk in the order asked for.
    async fn atoms_of(&self, kind: AtomKind, chunks: &[ChunkId]) -> Result<Vec<Atom>, StoreError>;

    /// What each query term contributes to the BM25 score of every chunk that has it, by term in
    /// order; within a term in any order. Terms as `pikerag_language::query_terms` gives them.
    async fn term_scores(&self, terms: &[String]) -> Result<Vec<Vec<Scored<ChunkId>>>, StoreError>;

    /// In how many chunks each term occurs, in order.
    async fn term_counts(&self, terms: &[String]) -> Result<Vec<usize>, StoreError>;

    /// The names that each of these chunks links to outright, in the order asked for.
    async fn links_of(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<NameKey>>, StoreError>;

    /// The chunks that bear each name, with the weight in hundredths; by name in order. Most names
    /// asked for are borne by none, and that must be cheap to tell.
    async fn chunks_by_title(
        &self,
        names: &[NameKey],
    ) -> Result<Vec<Vec<(ChunkId, u8)>>, StoreError>;

    /// The chunks that mention each name, by name in order; none where more than `limit` do. The
    /// count tells these cases apart.
    async fn mentions(&self, names: &[NameKey], limit: usize) -> Result<Vec<Mentions>, StoreError>;

    /// The nodes of a set closest to each query vector, by identifier; one list per query.
    async fn nearest(
        &self,
        set: VectorSet,
        queries: &[Vector],
        k: usize,
        min_score: f32,
    ) -> Result<Vec<Vec<Scored<u64>>>, StoreError>;

    /// The stored vectors of these nodes, in order; `None` where a node has none.
    async fn vectors(
        &self,
        set: VectorSet,
        nodes: &[u64],
    ) -> Result<Vec<Option<Vector>>, StoreError>;

    /// These entities, in the order asked for; unknown ones are left out.
    async fn entities(&self, ids: &[EntityId]) -> Result<Vec<Entity>, StoreError>;

    /// The relations that start or end at one of these entities, each once: heaviest first, ties by
    /// identifier.
    async fn relations_of(&self, entities: &[EntityId]) -> Result<Vec<Relation>, StoreError>;

    /// The other ends of the `limit` heaviest relations of these entities, each once, in the order of
    /// [`relations_of`](Self::relations_of); none of the entities themselves. Reads no descriptions.
    async fn related_to(
        &self,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<EntityId>, StoreError>;

    /// The chunks that each entity was found in, by entity in order; within one in reading order.
    async fn chunks_mentioning(
        &self,
        entities: &[EntityId],
    ) -> Result<Vec<Vec<ChunkId>>, StoreError>;

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

    /// The chunks that each entity was found in, by entity in order; none where more than `limit` do.
    async fn entity_mentions(
        &self,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<Mentions>, StoreError>;

    /// The entities found in each chunk, by chunk in order; within one by identifier.
    async fn entities_in(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<EntityId>>, StoreError>;

    /// All communities with their reports, by level and identifier.
    async fn communities(&self) -> Result<Vec<Community>, StoreError>;

    /// The communities that hold one of these entities, by level and identifier.
    async fn communities_of(&self, entities: &[EntityId]) -> Result<Vec<Community>, StoreError>;

    /// These summaries, in the order asked for; unknown ones are left out.
    async fn summaries(&self, ids: &[SummaryId]) -> Result<Vec<Summary>, StoreError>;

    /// The first chunks of a source in reading order, at most `limit`; those that nobody sees are left out.
    async fn first_chunks(&self, source: SourceId, limit: usize) -> Result<Vec<Chunk>, StoreError>;

    /// How many chunks there are.
    async fn chunk_count(&self) -> Result<usize, StoreError>;

    /// The text of a source that all spans count in.
    async fn source_text(&self, source: SourceId) -> Result<String, StoreError>;

    /// Every source, by URI.
    async fn sources(&self) -> Result<Vec<Source>, StoreError>;

    /// These sources, in the order asked for; unknown ones are left out.
    async fn sources_by_id(&self, ids: &[SourceId]) -> Result<Vec<Source>, StoreError>;

    /// Where each of these documents refers to, by document in order; within one by target. One edge for
    /// each target: the surest way, and the first chunk that does so. A name that several documents go
    /// by means none of them.
    async fn references(&self, sources: &[SourceId]) -> Result<Vec<Vec<Reference>>, StoreError>;

    /// Which documents refer to each of these; otherwise as [`KnowledgeBase::references`], within one by
    /// origin.
    async fn referred_by(&self, sources: &[SourceId]) -> Result<Vec<Vec<Reference>>, StoreError>;

    /// All records, or those under one schema: by document, place in it, and schema.
    async fn records(&self, schema: Option<&str>) -> Result<Vec<Record>, StoreError>;

    /// The records of each chunk, in the order asked for; within one by schema and place.
    async fn records_of(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<Record>>, StoreError>;

    /// How much there is.
    async fn summary(&self) -> Result<BaseSummary, StoreError>;
}

/// Who mentions a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// How many chunks mention it; exact up to one more than was asked for.
    pub count: usize,
    /// These chunks, by identifier.
    pub chunks: Vec<ChunkId>,
}

/// How much a base holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    pub statements: usize,
    /// Rows read by declared schemas.
    #[serde(default)]
    pub records: usize,
    /// Entities, each once, however many chunks mention it.
    #[serde(default)]
    pub entities: usize,
    /// Relations between entities, each once.
    #[serde(default)]
    pub relations: usize,
    /// Communities of entities, of all levels.
    #[serde(default)]
    pub communities: usize,
    /// Reports that are written; at most one for each community.
    #[serde(default)]
    pub reports: usize,
    /// Summaries in the tree.
    #[serde(default)]
    pub summaries: usize,
    /// Tags that chunks bear.
    #[serde(default)]
    pub tags: usize,
    /// Vectors of all sets together.
    pub vectors: usize,
    /// The embedder that made them, if any.
    pub embedder: Option<String>,
    /// Recorded calls of chat models; embeddings are not counted.
    pub calls: usize,
    /// Tokens of all recorded calls.
    pub usage: super::Usage,
    /// Chunks that wait for a stage: (stage, chunks).
    pub pending: Vec<(String, usize)>,
    /// What models refused, and rules stand in for: by stage and cause.
    #[serde(default)]
    pub refused: Vec<super::RefusalCount>,
}
