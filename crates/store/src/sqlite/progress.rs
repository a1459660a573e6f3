//! Implements the [`Progress`] port: finished and pending work.

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, ChunkSet, NodeId, Progress, Stage, StoreError, Structure, StructureChange,
    TextToEmbed, VectorSet, Wanted,
};
use rusqlite::params;

use super::base::Base;
use super::{counts, distil, rows, texts, which};

#[async_trait]
impl Progress for Base {
    async fn pending(
        &self,
        stage: &Stage,
        of: ChunkSet,
        after: Option<ChunkId>,
        limit: usize,
    ) -> Result<Vec<ChunkId>, StoreError> {
        let stage = stage.0.clone();
        let condition = match of {
            ChunkSet::Searchable => rows::SEARCHABLE.to_owned(),
            ChunkSet::OfKind(kind) => format!("c.kind = '{}' AND NOT c.hidden", kind.as_str()),
        };
        let only = which::only(self.only())?;
        self.querying("reading progress", move |connection| {
            let sql = format!(
                "SELECT id FROM chunks c WHERE id > ?2 AND {condition} AND NOT EXISTS
                 (SELECT 1 FROM progress p WHERE p.stage = ?1 AND p.chunk = c.id)
                 AND (?4 IS NULL OR c.source IN {of_files}) ORDER BY id LIMIT ?3",
                of_files = which::of_files(4)
            );
            let after = after.map_or(-1, |chunk| chunk.0.cast_signed());
            connection
                .prepare_cached(&sql)?
                .query_map(params![stage, after, rows::limit_of(limit), only], |row| {
                    Ok(ChunkId(rows::id(row, 0)?))
                })?
                .collect()
        })
        .await
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
        let only = which::only(self.only())?;
        self.querying("searching for texts without vectors", move |connection| {
            let texts_of = which::Which { embedder: &embedder, after, only: only.as_deref() };
            texts::without_vector(connection, set, &texts_of, rows::limit_of(limit))
        })
        .await
    }

    fn pending_files(&self) -> Option<&[String]> {
        self.only()
    }

    async fn count_without_vector(&self, embedder: &str) -> Result<usize, StoreError> {
        let embedder = embedder.to_owned();
        self.querying("counting vectors", move |connection| {
            counts::without_vector(connection, &embedder)
        })
        .await
    }

    async fn structures(&self) -> Result<Vec<Wanted>, StoreError> {
        self.querying("reading the wanted structures", distil::structures).await
    }

    async fn change_structure(
        &self,
        structure: Structure,
        change: StructureChange<'_>,
    ) -> Result<(), StoreError> {
        let (sql, stamp) = match change {
            StructureChange::Wanted => {
                ("INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING", "")
            }
            StructureChange::Unwanted => ("DELETE FROM meta WHERE key = ?1 AND ?2 = ''", ""),
            StructureChange::Built(stamp) => ("UPDATE meta SET value = ?2 WHERE key = ?1", stamp),
        };
        let stamp = stamp.to_owned();
        self.writing("changing the wanted structures", move |tx| {
            tx.prepare_cached(sql)?.execute([distil::wanted(structure), stamp]).map(drop)
        })
        .await
    }
}
