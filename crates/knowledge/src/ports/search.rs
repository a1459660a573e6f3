//! The port to search: what is near in meaning, which chunks hold words, who bears names.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::corpus::{AtomQuery, CorpusReader};
use super::{StoreError, Vector};
use crate::graph::{Atom, AtomKind};
use crate::id::{AtomId, ChunkId, NodeId};
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

/// What can be searched. Results are ordered best first, ties by identifier.
///
/// # Errors
/// The base cannot be read. Never a partial result: no method may reason over half of it.
///
/// # Cancel safety
/// Reads only; dropping a future leaves nothing behind.
#[async_trait]
pub trait SearchIndex: Send + Sync {
    /// The nodes of a set closest to each query vector, by identifier: `R` in KAR³ eq. 1, `R_atom` in eq. 5. One list per
    /// query, in order; one pass over the vectors serves them all.
    ///
    /// At most `k` nodes each, none below `min_score` (δ, a cosine in `[-1, 1]`), no chunk that is in `exclude` and no
    /// atom of one. The paper: k = 4, δ = 0.5 (§4.1).
    async fn nearest(
        &self,
        set: VectorSet,
        queries: &[Vector],
        k: usize,
        min_score: f32,
        exclude: &[ChunkId],
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

    /// The chunks that bear each name, by name in order; within one by identifier. Most names
    /// asked for are borne by none, and that must be cheap to tell.
    async fn chunks_by_title(&self, names: &[NameKey]) -> Result<Vec<Vec<Bearer>>, StoreError>;
}

/// [`SearchIndex::nearest`] among chunks.
///
/// # Errors
/// The base cannot be read.
pub async fn nearest_chunks(
    base: &(impl SearchIndex + ?Sized),
    queries: &[Vector],
    k: usize,
    min_score: f32,
) -> Result<Vec<Vec<Scored<ChunkId>>>, StoreError> {
    let found = base.nearest(VectorSet::Chunks, queries, k, min_score, &[]).await?;
    let chunk = |hit: Scored<NodeId>| Scored { item: ChunkId(hit.item.0), score: hit.score };
    Ok(found.into_iter().map(|list| list.into_iter().map(chunk).collect()).collect())
}

/// [`SearchIndex::nearest`] among atoms of a kind; those that went meanwhile are left out.
///
/// # Errors
/// The base cannot be read.
pub async fn nearest_atoms(
    base: &(impl SearchIndex + CorpusReader + ?Sized),
    kind: AtomKind,
    queries: &[Vector],
    k: usize,
    min_score: f32,
    exclude: &[ChunkId],
) -> Result<Vec<Vec<Scored<Atom>>>, StoreError> {
    let found = base.nearest(VectorSet::Atoms(kind), queries, k, min_score, exclude).await?;
    let ids: BTreeSet<AtomId> = found.iter().flatten().map(|hit| AtomId(hit.item.0)).collect();
    let ids: Vec<AtomId> = ids.into_iter().collect();
    let atoms = base.atoms(AtomQuery::These(&ids)).await?;
    let atoms: HashMap<AtomId, Atom> = atoms.into_iter().map(|atom| (atom.id, atom)).collect();
    let atom = |hit: Scored<NodeId>| {
        let item = atoms.get(&AtomId(hit.item.0)).cloned()?;
        Some(Scored { item, score: hit.score })
    };
    Ok(found.into_iter().map(|list| list.into_iter().filter_map(atom).collect()).collect())
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
