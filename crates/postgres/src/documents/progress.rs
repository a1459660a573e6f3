//! Implements the [`Progress`] port: finished and pending work.

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, ChunkSet, NodeId, Progress, Stage, StoreError, Structure, StructureChange,
    TextToEmbed, VectorSet, Wanted,
};

use super::texts;
use crate::base::Base;
use crate::fault::Sql;
use crate::rows::{self, Text, number};
use crate::tx::{Access, Tx};

#[async_trait]
impl Progress for Base {
    async fn pending(
        &self,
        stage: &Stage,
        of: ChunkSet,
        after: Option<ChunkId>,
        limit: usize,
    ) -> Result<Vec<ChunkId>, StoreError> {
        let condition = match of {
            ChunkSet::Searchable => "c.searchable".to_owned(),
            ChunkSet::OfKind(kind) => format!("c.kind = '{}' AND NOT c.hidden", kind.as_str()),
        };
        let sql = format!(
            "SELECT c.id FROM chunks c WHERE c.id > $2 AND {condition} AND NOT EXISTS
             (SELECT 1 FROM progress p WHERE p.stage = $1 AND p.chunk = c.id)
             AND ($4::text[] IS NULL OR c.source IN {of_files}) ORDER BY c.id LIMIT $3",
            of_files = texts::of_files(4)
        );
        let after = after.map_or(-1, |chunk| chunk.0.cast_signed());
        let only = self.only().map(Text::all);
        self.reading("reading progress", |tx| async move {
            let found = tx.all(&sql, &[&stage.0, &after, &number(limit), &only]).await?;
            found.iter().map(|row| Ok(ChunkId(rows::id(row, 0)?))).collect()
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
        let after = after.map_or(-1, |node| node.0.cast_signed());
        let which = texts::Which { embedder, after, only: self.only() };
        self.reading("searching for texts without vectors", |tx| async move {
            texts::without_vector(&tx, set, &which, number(limit)).await
        })
        .await
    }

    fn pending_files(&self) -> Option<&[String]> {
        self.only()
    }

    async fn count_without_vector(&self, embedder: &str) -> Result<usize, StoreError> {
        self.reading("counting vectors", |tx| async move {
            texts::count_without_vector(&tx, embedder).await
        })
        .await
    }

    async fn structures(&self) -> Result<Vec<Wanted>, StoreError> {
        self.reading("reading the wanted structures", |tx| async move { structures(&tx).await })
            .await
    }

    async fn change_structure(
        &self,
        structure: Structure,
        change: StructureChange<'_>,
    ) -> Result<(), StoreError> {
        let (sql, stamp) = match change {
            StructureChange::Wanted => {
                ("INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", "")
            }
            StructureChange::Unwanted => ("DELETE FROM meta WHERE key = $1 AND $2::text = ''", ""),
            StructureChange::Built(stamp) => ("UPDATE meta SET value = $2 WHERE key = $1", stamp),
        };
        let stamp = stamp.to_owned();
        let doing = "changing the wanted structures";
        self.writing(doing, Access::Documents, move |tx| async move {
            tx.run(sql, &[&wanted(structure), &Text(&stamp)]).await.map(drop)
        })
        .await
    }
}

/// Marks a stage as finished for those of the chunks that exist.
pub(crate) async fn mark(tx: &Tx, stage: &str, chunks: &[i64]) -> Sql<()> {
    let sql = "INSERT INTO progress (stage, chunk)
         SELECT $1::text, id FROM chunks WHERE id = ANY($2::bigint[]) ON CONFLICT DO NOTHING";
    tx.run(sql, &[&stage, &chunks]).await.map(drop)
}

/// The prefix of the keys in `meta` of wanted structures; the value is the stamp.
const WANTED: &str = "with:";

/// The key of a structure in `meta`.
pub(crate) fn wanted(structure: Structure) -> String {
    format!("{WANTED}{structure}")
}

/// Lets every wanted structure be built again.
pub(crate) async fn unmark_built(tx: &Tx) -> Sql<()> {
    let sql = "UPDATE meta SET value = '' WHERE starts_with(key, $1)";
    tx.run(sql, &[&WANTED]).await.map(drop)
}

/// The wanted structures with their stamps.
pub(crate) async fn structures(tx: &Tx) -> Sql<Vec<Wanted>> {
    let mut structures = Vec::new();
    for structure in [Structure::Graph, Structure::Tree, Structure::Tags] {
        let sql = "SELECT value FROM meta WHERE key = $1";
        if let Some(row) = tx.optional(sql, &[&wanted(structure)]).await? {
            structures.push(Wanted { structure, stamp: rows::text(&row, 0)? });
        }
    }
    Ok(structures)
}
