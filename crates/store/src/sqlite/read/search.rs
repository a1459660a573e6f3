//! Implements the [`SearchIndex`] port: nearest vectors, matching chunks, and the bearers of names.

use async_trait::async_trait;
use pikerag_knowledge::{
    AtomKind, BearerList, ChunkId, NameKey, NodeId, Scored, SearchIndex, SimilarTerm, StoreError,
    Vector, VectorSet,
};
use pikerag_scan::Near;

use crate::error::Context;
use crate::sqlite::base::Base;
use crate::sqlite::vectors;

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
        let (queries, exclude) = (queries.to_vec(), exclude.iter().map(|chunk| chunk.0).collect());
        self.viewing("searching vectors", move |view| {
            let found = view.nearest(set, &queries, k, min_score, &exclude)?;
            let scored = |near: Near| Scored { item: NodeId(near.id), score: near.score };
            Ok(found.into_iter().map(|list| list.into_iter().map(scored).collect()).collect())
        })
        .await
    }

    async fn vectors(
        &self,
        set: VectorSet,
        nodes: &[NodeId],
    ) -> Result<Vec<Option<Vector>>, StoreError> {
        let nodes = nodes.to_vec();
        self.querying("reading vectors", move |connection| vectors::stored(connection, set, &nodes))
            .await
    }

    async fn similarities(
        &self,
        query: &Vector,
        chunks: &[ChunkId],
    ) -> Result<Vec<f32>, StoreError> {
        let (query, chunks) = (query.clone(), chunks.to_vec());
        self.viewing("comparing chunks", move |view| {
            let (codes, _) = view.codes(VectorSet::Chunks)?;
            let admitted = view.admitted();
            let chunks: Vec<u64> = chunks.iter().map(|chunk| chunk.0).collect();
            let mut similarities = codes.similarities(&query, &chunks);
            for (similarity, chunk) in similarities.iter_mut().zip(&chunks) {
                if admitted.as_ref().is_some_and(|admitted| !admitted.contains(chunk)) {
                    *similarity = 0.0;
                }
            }
            Ok(similarities)
        })
        .await
    }

    async fn unrelated_similarity(
        &self,
        kind: AtomKind,
        share: f32,
    ) -> Result<Option<f32>, StoreError> {
        self.viewing("comparing atoms", move |view| {
            Ok(view.codes(VectorSet::Atoms(kind))?.0.unrelated_similarity(share))
        })
        .await
    }

    async fn matching_chunks(
        &self,
        words: &str,
        k: usize,
    ) -> Result<Vec<Scored<ChunkId>>, StoreError> {
        let words = words.to_owned();
        self.viewing("searching words", move |view| {
            let mut statement = view
                .connection
                .prepare_cached("SELECT 1 FROM chunks WHERE id = ?1")
                .context("reading chunks")?;
            let mut hits = Vec::new();
            for (id, score) in view.in_text(|text, admitted| text.search(&words, k, admitted))? {
                // Another process may have changed the database since the index was committed.
                if statement.exists([id.cast_signed()]).context("reading chunks")? {
                    hits.push(Scored { item: ChunkId(id), score });
                }
            }
            Ok(hits)
        })
        .await
    }

    async fn term_scores(
        &self,
        terms: &[String],
        chunks: &[ChunkId],
    ) -> Result<Vec<Vec<f32>>, StoreError> {
        let (terms, chunks) =
            (terms.to_vec(), chunks.iter().map(|chunk| chunk.0).collect::<Vec<_>>());
        self.viewing("searching words", move |view| {
            view.in_text(|text, admitted| text.scores(&terms, &chunks, &admitted))
        })
        .await
    }

    async fn term_counts(&self, terms: &[String]) -> Result<Vec<usize>, StoreError> {
        let terms = terms.to_vec();
        self.viewing("counting words", move |view| {
            view.in_text(|text, admitted| {
                terms.iter().map(|term| text.count(term, admitted.clone())).collect()
            })
        })
        .await
    }

    async fn similar_terms(&self, term: &str, most: usize) -> Result<Vec<SimilarTerm>, StoreError> {
        let term = term.to_owned();
        self.viewing("reading words", move |view| {
            view.in_text(|text, admitted| text.similar(&term, most, &admitted))
        })
        .await
    }

    async fn chunks_by_title(
        &self,
        keys: &[NameKey],
        limit: usize,
    ) -> Result<Vec<BearerList>, StoreError> {
        let keys = keys.to_vec();
        self.reading("reading names", move |inner, connection| {
            inner.names.chunks_by_title(connection, &keys, limit).context("reading names")
        })
        .await
    }
}
