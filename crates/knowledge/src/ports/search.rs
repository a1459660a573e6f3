//! The port to search: what is near in meaning, which chunks hold words, who bears and mentions names.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{StoreError, Vector};
use crate::graph::{Atom, AtomKind};
use crate::id::{ChunkId, NodeId};
use crate::names::NameKey;

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

/// A node with its vector.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeVector {
    /// The node; its set says of which kind.
    pub node: NodeId,
    /// A unit vector.
    pub vector: Vector,
}

/// A chunk that bears a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bearer {
    /// The chunk that is about what is named.
    pub chunk: ChunkId,
    /// How surely the name means this chunk, in hundredths: 100 for a full title.
    pub weight: u8,
}

impl Bearer {
    /// How surely the name means the chunk, up to 1.
    pub fn sureness(self) -> f32 {
        f32::from(self.weight) / 100.0
    }
}

/// Who mentions a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// How many chunks mention it; exact up to one more than was asked for.
    pub count: usize,
    /// These chunks, by identifier.
    pub chunks: Vec<ChunkId>,
}

/// What can be searched. Results are ordered best first, ties by identifier.
///
/// # Errors
/// The base cannot be read. Never a partial result: no method may reason over half of it.
///
/// # Cancel safety
/// Reads only; dropping a future leaves nothing behind.
#[async_trait]
pub trait SearchIndex: Send + Sync {
    /// The chunks closest to each query vector: `R` in KAR³ eq. 1. One list per query.
    async fn nearest_chunks(
        &self,
        queries: &[Vector],
        k: usize,
        min_score: f32,
    ) -> Result<Vec<Vec<Scored<ChunkId>>>, StoreError>;

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

    /// The nodes of a set closest to each query vector, by identifier; one list per query.
    async fn nearest(
        &self,
        set: VectorSet,
        queries: &[Vector],
        k: usize,
        min_score: f32,
    ) -> Result<Vec<Vec<Scored<NodeId>>>, StoreError>;

    /// The stored vectors of these nodes, in order; `None` where a node has none.
    async fn vectors(
        &self,
        set: VectorSet,
        nodes: &[NodeId],
    ) -> Result<Vec<Option<Vector>>, StoreError>;

    /// Cosine of each of these chunks with a query, to within 0.01, in order; 0 where a chunk has no
    /// vector.
    async fn similarities(
        &self,
        query: &Vector,
        chunks: &[ChunkId],
    ) -> Result<Vec<f32>, StoreError>;

    /// The cosine that a `share` (from 0 to 1) of all pairs of unrelated atoms stays below, told from
    /// a sample: atoms of a kind, each pair from two chunks. What an embedder gives to texts that have
    /// nothing in common differs widely; this is where its scale begins. `None` where the base has
    /// too few vectors to tell.
    async fn unrelated_similarity(
        &self,
        kind: AtomKind,
        share: f32,
    ) -> Result<Option<f32>, StoreError>;

    /// The chunks whose words fit best (BM25 over titles, headings and text).
    async fn matching_chunks(
        &self,
        words: &str,
        k: usize,
    ) -> Result<Vec<Scored<ChunkId>>, StoreError>;

    /// What each term contributes to the BM25 score of each of these chunks: by chunk in order, within one by term in
    /// order; 0 where a chunk has no such term, or is not there. Terms as `pikerag_language::query_terms` gives them.
    async fn term_scores(
        &self,
        terms: &[String],
        chunks: &[ChunkId],
    ) -> Result<Vec<Vec<f32>>, StoreError>;

    /// In how many chunks each term occurs, in order.
    async fn term_counts(&self, terms: &[String]) -> Result<Vec<usize>, StoreError>;

    /// The names that each of these chunks links to outright, in the order asked for.
    async fn links_of(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<NameKey>>, StoreError>;

    /// The chunks that bear each name, by name in order; within one by identifier. Most names
    /// asked for are borne by none, and that must be cheap to tell.
    async fn chunks_by_title(&self, names: &[NameKey]) -> Result<Vec<Vec<Bearer>>, StoreError>;

    /// The chunks that mention each name, by name in order; none where more than `limit` do. The
    /// count tells these cases apart.
    async fn mentions(&self, names: &[NameKey], limit: usize) -> Result<Vec<Mentions>, StoreError>;
}

/// What searches are made of. Each call is one transaction.
#[async_trait]
pub trait SearchWriter: Send + Sync {
    /// Stores vectors, with the model that made them.
    async fn put_vectors(
        &self,
        set: VectorSet,
        embedder: &str,
        vectors: Vec<NodeVector>,
    ) -> Result<(), StoreError>;

    /// Brings the derived indexes up to the database. Costs no model call.
    async fn refresh(&self) -> Result<(), StoreError>;
}
