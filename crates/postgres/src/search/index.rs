//! Implements the [`SearchIndex`] port: nearest vectors, matching chunks, and the bearers of names.

use async_trait::async_trait;
use pikerag_knowledge::{
    AtomKind, BearerList, ChunkId, NameKey, NodeId, Scored, SearchIndex, SimilarTerm, StoreError,
    Vector, VectorSet,
};

use super::near::Limits;
use super::{bm25, names, near, vectors};
use crate::base::Base;
use crate::rows;

#[async_trait]
impl SearchIndex for Base {
    async fn nearest(
        &self,
        set: VectorSet,
        queries: &[Vector],
        k: usize,
        min_score: f32,
        exclude: &[ChunkId],
    ) -> Result<Vec<Vec<Scored<NodeId>>>, StoreError> {
        let admitted = self.snapshot().and_then(|snapshot| snapshot.admitted());
        let limits = Limits {
            k,
            min_score,
            exclude: rows::signed(exclude.iter().map(|chunk| chunk.0)),
            admitted: admitted.map(|admitted| admitted.len()),
        };
        self.reading("searching vectors", |tx| async move {
            near::nearest(&tx, set, queries, &limits).await
        })
        .await
    }

    async fn vectors(
        &self,
        set: VectorSet,
        nodes: &[NodeId],
    ) -> Result<Vec<Option<Vector>>, StoreError> {
        self.reading("reading vectors", |tx| async move { vectors::stored(&tx, set, nodes).await })
            .await
    }

    async fn similarities(
        &self,
        query: &Vector,
        chunks: &[ChunkId],
    ) -> Result<Vec<f32>, StoreError> {
        self.reading("comparing chunks", |tx| async move {
            vectors::similarities(&tx, query, chunks).await
        })
        .await
    }

    async fn unrelated_similarity(
        &self,
        kind: AtomKind,
        share: f32,
    ) -> Result<Option<f32>, StoreError> {
        self.reading("comparing atoms", |tx| async move {
            vectors::unrelated_similarity(&tx, kind, share).await
        })
        .await
    }

    async fn matching_chunks(
        &self,
        words: &str,
        k: usize,
    ) -> Result<Vec<Scored<ChunkId>>, StoreError> {
        let inner = &self.inner;
        self.reading(
            "searching words",
            |tx| async move { bm25::search(inner, &tx, words, k).await },
        )
        .await
    }

    async fn term_scores(
        &self,
        terms: &[String],
        chunks: &[ChunkId],
    ) -> Result<Vec<Vec<f32>>, StoreError> {
        let inner = &self.inner;
        self.reading("searching words", |tx| async move {
            bm25::scores(inner, &tx, terms, chunks).await
        })
        .await
    }

    async fn term_counts(&self, terms: &[String]) -> Result<Vec<usize>, StoreError> {
        self.reading("counting words", |tx| async move { bm25::counts(&tx, terms).await }).await
    }

    async fn similar_terms(&self, term: &str, most: usize) -> Result<Vec<SimilarTerm>, StoreError> {
        self.reading("reading words", |tx| async move { bm25::similar(&tx, term, most).await })
            .await
    }

    async fn chunks_by_title(
        &self,
        keys: &[NameKey],
        limit: usize,
    ) -> Result<Vec<BearerList>, StoreError> {
        self.reading(
            "reading names",
            |tx| async move { names::chunks_by_title(&tx, keys, limit).await },
        )
        .await
    }
}
