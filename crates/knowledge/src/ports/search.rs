//! The port to search: nearest vectors, matching words, names.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::corpus::{AtomQuery, CorpusReader};
use super::{StoreError, Vector};
use crate::graph::{Atom, AtomKind};
use crate::id::{AtomId, ChunkId, NodeId};
use crate::names::NameKey;

/// A found item with its score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored<T> {
    /// The node itself.
    pub item: T,
    /// Higher is better; the scale is the search's own: a cosine from −1 to 1 for vectors, a sum
    /// above 0 without an upper limit for words (BM25).
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
    /// One vector per entity: its name and its description.
    Entities,
    /// One vector per summary of the tree.
    Summaries,
    /// One vector per source: its title, and a model's summary of it.
    Sources,
    /// One vector per section: the headings that lead to it, below the title of its source.
    Sections,
}

/// A node with its vector.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeVector {
    /// The node; its set determines the kind.
    pub node: NodeId,
    /// Of length 1, with as many components as all other vectors of the base's embedder: a search
    /// with another dimension does not find it.
    pub vector: Vector,
}

/// A chunk with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bearer {
    /// The chunk that the name refers to.
    pub chunk: ChunkId,
    /// How certainly the name means this chunk, in hundredths: 100 for a full title.
    pub weight: u8,
}

impl Bearer {
    /// How certainly the name means the chunk: [`weight`](Self::weight) as a share, up to 1.
    pub fn sureness(self) -> f32 {
        f32::from(self.weight) / 100.0
    }
}

/// The chunks that bear a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BearerList {
    /// Their number; exact up to one more than the limit.
    pub count: usize,
    /// The chunks themselves, by identifier; empty if there are more than the limit.
    pub bearers: Vec<Bearer>,
}

/// A term of the full-text index that resembles another term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimilarTerm {
    /// The term, as the index has it: a stem.
    pub term: String,
    /// Typing errors that turn it into the other term.
    pub errors: usize,
    /// The number of chunks that contain it; at least 1.
    pub chunks: usize,
    /// The first of these chunks, by identifier.
    pub first: ChunkId,
}

impl SimilarTerm {
    /// The order of [`SearchIndex::similar_terms`].
    pub fn order(&self, other: &Self) -> std::cmp::Ordering {
        let own = (self.errors, Reverse(self.chunks), &self.term);
        own.cmp(&(other.errors, Reverse(other.chunks), &other.term))
    }
}

/// Search over the base. Results are ordered best first, ties by identifier.
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
    /// At most `k` nodes each, none below `min_score` (δ, a cosine in `[-1, 1]`), no chunk in
    /// `exclude` and no atom of one. The paper: k = 4, δ = 0.5 (§4.1); −1 admits all. A list is
    /// empty if none is that close, or if the query has another dimension than the vectors of the
    /// set.
    async fn nearest(
        &self,
        set: VectorSet,
        queries: &[Vector],
        k: usize,
        min_score: f32,
        exclude: &[ChunkId],
    ) -> Result<Vec<Vec<Scored<NodeId>>>, StoreError>;

    /// The stored vectors of these nodes, in order; `None` for a node without one.
    async fn vectors(
        &self,
        set: VectorSet,
        nodes: &[NodeId],
    ) -> Result<Vec<Option<Vector>>, StoreError>;

    /// The cosine of each of these chunks with a query, to within 0.01, in order; 0 for a chunk
    /// without a vector, or with one of another dimension than the query.
    async fn similarities(
        &self,
        query: &Vector,
        chunks: &[ChunkId],
    ) -> Result<Vec<f32>, StoreError>;

    /// The cosine that a `share` (from 0 to 1) of all pairs of unrelated atoms stays below,
    /// estimated from a sample: atoms of a kind, each pair from two chunks. The similarity of
    /// unrelated texts differs widely between embedders; it is where the embedder's scale begins.
    /// `None` if the base has too few vectors: fewer than 100 pairs.
    async fn unrelated_similarity(
        &self,
        kind: AtomKind,
        share: f32,
    ) -> Result<Option<f32>, StoreError>;

    /// The chunks with the best matching words (BM25 over titles, headings and text): at most `k`,
    /// each with at least one of the words. Scores are above 0, without an upper limit, and compare
    /// only within one list. Empty if no chunk has any of the words.
    async fn matching_chunks(
        &self,
        words: &str,
        k: usize,
    ) -> Result<Vec<Scored<ChunkId>>, StoreError>;

    /// The contribution of each term to the BM25 score of each of these chunks: by chunk in order,
    /// within one by term in order; 0 if a chunk lacks the term, or does not exist. Terms as
    /// `pikerag_language::query_terms` gives them.
    async fn term_scores(
        &self,
        terms: &[String],
        chunks: &[ChunkId],
    ) -> Result<Vec<Vec<f32>>, StoreError>;

    /// The number of chunks that contain each term, in order.
    async fn term_counts(&self, terms: &[String]) -> Result<Vec<usize>, StoreError>;

    /// The terms that at most `most` typing errors turn into `term`
    /// (`pikerag_language::typing_errors`): the fewest errors first, then the terms of most chunks,
    /// then by term. At most 32, chosen by errors and term. Reads the list of all terms, so it is
    /// for words that no chunk has.
    async fn similar_terms(&self, term: &str, most: usize) -> Result<Vec<SimilarTerm>, StoreError>;

    /// The chunks with each name, by name in order; an empty list if more than `limit` chunks bear
    /// it. Most requested names belong to no chunk, and all rows of a table share one title, so both
    /// cases must be cheap.
    async fn chunks_by_title(
        &self,
        names: &[NameKey],
        limit: usize,
    ) -> Result<Vec<BearerList>, StoreError>;
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

/// [`SearchIndex::nearest`] among atoms of a kind; atoms that were deleted meanwhile are left out.
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

/// Writes the data of searches. Each call is one transaction.
///
/// # Errors
/// The base cannot be written.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
pub trait SearchWriter: Send + Sync {
    /// Stores vectors, with the model that made them. Each replaces the earlier vector of its node,
    /// of any model; vectors of nodes that were deleted meanwhile are left out.
    async fn put_vectors(
        &self,
        set: VectorSet,
        embedder: &str,
        vectors: Vec<NodeVector>,
    ) -> Result<(), StoreError>;

    /// Updates the derived indexes from the database. Costs no model call.
    async fn refresh(&self) -> Result<(), StoreError>;
}
