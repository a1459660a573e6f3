//! What is done, and what waits? The [`Progress`] port.

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, ChunkKind, Generation, NodeId, Progress, Stage, StoreError, Structure, TextToEmbed,
    VectorSet, Wanted,
};
use rusqlite::params;

use super::{Base, counts, distil, generation, rows, texts};
use crate::error::Context;

#[async_trait]
impl Progress for Base {
    async fn pending(
        &self,
        stage: &Stage,
        after: Option<ChunkId>,
        limit: usize,
    ) -> Result<Vec<ChunkId>, StoreError> {
        self.waiting(stage, rows::SEARCHABLE.to_owned(), after, limit).await
    }

    async fn pending_of(
        &self,
        stage: &Stage,
        kind: ChunkKind,
        after: Option<ChunkId>,
        limit: usize,
    ) -> Result<Vec<ChunkId>, StoreError> {
        let of_kind = format!("c.kind = '{}' AND NOT c.hidden", kind.as_str());
        self.waiting(stage, of_kind, after, limit).await
    }

    async fn without_vector(
        &self,
        set: VectorSet,
        embedder: &str,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Vec<TextToEmbed>, StoreError> {
        let embedder = embedder.to_owned();
        let after = after.map_or(-1, |node| node.0.cast_signed());
        self.reading("looking for texts without vectors", move |_, connection| {
            texts::without_vector(connection, set, &embedder, after, rows::limit_of(limit))
                .context("looking for texts without vectors")
        })
        .await
    }

    async fn count_without_vector(&self, embedder: &str) -> Result<usize, StoreError> {
        let embedder = embedder.to_owned();
        self.looking("counting vectors", move |connection| {
            counts::without_vector(connection, &embedder)
        })
        .await
    }

    async fn generation(&self) -> Result<Generation, StoreError> {
        self.looking("reading the generation", generation).await
    }

    async fn structures(&self) -> Result<Vec<Wanted>, StoreError> {
        self.looking("reading what is wanted", distil::structures).await
    }

    async fn request(&self, structure: Structure) -> Result<(), StoreError> {
        self.writing("noting what is wanted", move |tx| distil::request(tx, structure)).await
    }

    async fn withdraw(&self, structure: Structure) -> Result<(), StoreError> {
        self.writing("noting what is wanted", move |tx| distil::withdraw(tx, structure)).await
    }

    async fn mark_built(&self, structure: Structure, stamp: &str) -> Result<(), StoreError> {
        let stamp = stamp.to_owned();
        self.writing("noting what is built", move |tx| distil::mark_built(tx, structure, &stamp))
            .await
    }
}

impl Base {
    /// The chunks that a condition holds for, and that a stage has not done.
    async fn waiting(
        &self,
        stage: &Stage,
        condition: String,
        after: Option<ChunkId>,
        limit: usize,
    ) -> Result<Vec<ChunkId>, StoreError> {
        let stage = stage.0.clone();
        self.looking("reading progress", move |connection| {
            let sql = format!(
                "SELECT id FROM chunks c WHERE id > ?2 AND {condition} AND NOT EXISTS
                 (SELECT 1 FROM progress p WHERE p.stage = ?1 AND p.chunk = c.id) ORDER BY id LIMIT ?3"
            );
            let after = after.map_or(-1, |chunk| chunk.0.cast_signed());
            connection
                .prepare_cached(&sql)?
                .query_map(params![stage, after, rows::limit_of(limit)], |row| {
                    Ok(ChunkId(rows::id(row, 0)?))
                })?
                .collect()
        })
        .await
    }
}
