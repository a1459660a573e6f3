//! What is near, what matches, who bears a name? The [`SearchIndex`] port.

use std::collections::HashSet;

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, AtomKind, Bearer, ChunkId, Mentions, NameKey, NodeId, Scored, SearchIndex, StoreError,
    Vector, VectorSet,
};

use crate::error::Context;
use crate::scan::Near;
use crate::sqlite::{Base, names, rows, vectors};

#[async_trait]
impl SearchIndex for Base {
    async fn nearest_chunks(
        &self,
        queries: &[Vector],
        k: usize,
        min_score: f32,
    ) -> Result<Vec<Vec<Scored<ChunkId>>>, StoreError> {
        let queries = queries.to_vec();
        self.reading("searching chunks", move |inner, connection| {
            let none = HashSet::new();
            let found =
                inner.nearest(connection, VectorSet::Chunks, &queries, k, min_score, &none)?;
            let chunks = |list: Vec<Near>| {
                list.into_iter()
                    .map(|near| Scored { item: ChunkId(near.id), score: near.score })
                    .collect()
            };
            Ok(found.into_iter().map(chunks).collect())
        })
        .await
    }

    async fn nearest_atoms(
        &self,
        kind: AtomKind,
        queries: &[Vector],
        k: usize,
        min_score: f32,
        exclude: &[ChunkId],
    ) -> Result<Vec<Vec<Scored<Atom>>>, StoreError> {
        let (queries, exclude) = (queries.to_vec(), exclude.iter().map(|chunk| chunk.0).collect());
        self.reading("searching atoms", move |inner, connection| {
            let found = inner.nearest(
                connection,
                VectorSet::Atoms(kind),
                &queries,
                k,
                min_score,
                &exclude,
            )?;
            let mut statement = connection
                .prepare_cached("SELECT id, chunk, kind, text FROM atoms WHERE id = ?1")
                .context("reading atoms")?;
            let mut lists = Vec::with_capacity(found.len());
            for near in found {
                let mut list = Vec::with_capacity(near.len());
                for near in near {
                    let item = statement
                        .query_row([near.id.cast_signed()], rows::atom)
                        .context("reading atoms")?;
                    list.push(Scored { item, score: near.score });
                }
                lists.push(list);
            }
            Ok(lists)
        })
        .await
    }

    async fn nearest(
        &self,
        set: VectorSet,
        queries: &[Vector],
        k: usize,
        min_score: f32,
    ) -> Result<Vec<Vec<Scored<NodeId>>>, StoreError> {
        let queries = queries.to_vec();
        self.reading("searching vectors", move |inner, connection| {
            let none = HashSet::new();
            let found = inner.nearest(connection, set, &queries, k, min_score, &none)?;
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
        self.looking("reading vectors", move |connection| vectors::stored(connection, set, &nodes))
            .await
    }

    async fn similarities(
        &self,
        query: &Vector,
        chunks: &[ChunkId],
    ) -> Result<Vec<f32>, StoreError> {
        let (query, chunks) = (query.clone(), chunks.to_vec());
        self.reading("comparing chunks", move |inner, connection| {
            let codes = inner.codes(connection, VectorSet::Chunks)?;
            let chunks: Vec<u64> = chunks.iter().map(|chunk| chunk.0).collect();
            Ok(codes.similarities(&query, &chunks))
        })
        .await
    }

    async fn unrelated_similarity(
        &self,
        kind: AtomKind,
        share: f32,
    ) -> Result<Option<f32>, StoreError> {
        self.reading("comparing atoms", move |inner, connection| {
            Ok(inner.codes(connection, VectorSet::Atoms(kind))?.unrelated_similarity(share))
        })
        .await
    }

    async fn matching_chunks(
        &self,
        words: &str,
        k: usize,
    ) -> Result<Vec<Scored<ChunkId>>, StoreError> {
        let words = words.to_owned();
        self.reading("searching words", move |inner, connection| {
            inner.follow_text(connection)?;
            let mut statement = connection
                .prepare_cached("SELECT 1 FROM chunks WHERE id = ?1")
                .context("reading chunks")?;
            let mut hits = Vec::new();
            for (id, score) in inner.fulltext()?.search(&words, k)? {
                // Another process may be ahead of the index that this one sees.
                if statement.exists([id.cast_signed()]).context("reading chunks")? {
                    hits.push(Scored { item: ChunkId(id), score });
                }
            }
            Ok(hits)
        })
        .await
    }

    async fn term_scores(&self, terms: &[String]) -> Result<Vec<Vec<Scored<ChunkId>>>, StoreError> {
        let terms = terms.to_vec();
        self.reading("searching words", move |inner, connection| {
            inner.follow_text(connection)?;
            let index = inner.fulltext()?;
            let mut lists = Vec::with_capacity(terms.len());
            for term in terms {
                let scored = |(id, score)| Scored { item: ChunkId(id), score };
                lists.push(index.scores(&term)?.into_iter().map(scored).collect());
            }
            Ok(lists)
        })
        .await
    }

    async fn term_counts(&self, terms: &[String]) -> Result<Vec<usize>, StoreError> {
        let terms = terms.to_vec();
        self.reading("counting words", move |inner, connection| {
            inner.follow_text(connection)?;
            let index = inner.fulltext()?;
            terms.iter().map(|term| index.count(term)).collect()
        })
        .await
    }

    async fn links_of(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<NameKey>>, StoreError> {
        let chunks = chunks.to_vec();
        self.reading("reading links", move |_, connection| {
            names::links_of(connection, &chunks).context("reading links")
        })
        .await
    }

    async fn chunks_by_title(&self, keys: &[NameKey]) -> Result<Vec<Vec<Bearer>>, StoreError> {
        let keys = keys.to_vec();
        self.reading("reading names", move |inner, connection| {
            inner.names.chunks_by_title(connection, &keys).context("reading names")
        })
        .await
    }

    async fn mentions(&self, keys: &[NameKey], limit: usize) -> Result<Vec<Mentions>, StoreError> {
        let keys = keys.to_vec();
        self.reading("reading names", move |_, connection| {
            keys.into_iter()
                .map(|key| names::mentions(connection, key, limit).context("reading names"))
                .collect()
        })
        .await
    }
}
