//! How are vectors found fast? By codes in memory, which follow the database step by step; the best are
//! scored again from the stored vectors.

use std::collections::HashSet;

use pikerag_knowledge::{NodeId, StoreError, VectorSet};
use rusqlite::{Connection, OptionalExtension};

use super::{View, rows};
use crate::error::Context;
use crate::scan::{Near, cosine};

/// Found by codes before the exact scores decide.
const RESCORED: usize = 50;

impl View<'_> {
    /// The `k` nearest of a set with exact scores, per query.
    pub(super) fn nearest(
        &self,
        set: VectorSet,
        queries: &[Vec<f32>],
        k: usize,
        min_score: f32,
        exclude: &HashSet<u64>,
    ) -> Result<Vec<Vec<Near>>, StoreError> {
        let (codes, rows) = self.codes(set)?;
        let wanted = if k == 0 { 0 } else { RESCORED.max(4 * k) };
        let mut lists =
            codes.nearest(queries, wanted, min_score, exclude, rows.as_deref().map(Vec::as_slice));
        let sql = format!("SELECT vector FROM {} WHERE node = ?1", table(set));
        let mut statement = self.connection.prepare_cached(&sql).context("reading vectors")?;
        for (list, query) in lists.iter_mut().zip(queries) {
            for near in &mut *list {
                let vector = statement
                    .query_row([near.id.cast_signed()], |row| {
                        Ok(rows::floats(row.get_ref(0)?.as_blob()?))
                    })
                    .optional()
                    .context("reading vectors")?;
                // Deleted by another process since the codes were read: below any floor.
                near.score = vector.map_or(f32::NEG_INFINITY, |vector| cosine(query, &vector));
            }
            list.retain(|near| min_score <= near.score && near.score.is_finite());
            list.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
            list.truncate(k);
        }
        Ok(lists)
    }
}

pub(super) fn table(set: VectorSet) -> &'static str {
    match set {
        VectorSet::Chunks => "chunk_vectors",
        VectorSet::Atoms(_) => "atom_vectors",
        VectorSet::Entities => "entity_vectors",
        VectorSet::Summaries => "summary_vectors",
        VectorSet::Sources => "source_vectors",
        VectorSet::Sections => "section_vectors",
    }
}

/// The table of what the vectors of a set stand for.
pub(super) fn nodes(set: VectorSet) -> &'static str {
    match set {
        VectorSet::Chunks => "chunks",
        VectorSet::Atoms(_) => "atoms",
        VectorSet::Entities => "entities",
        VectorSet::Summaries => "summaries",
        VectorSet::Sources => "sources",
        VectorSet::Sections => "sections",
    }
}

/// The stored vectors of these nodes.
pub(super) fn stored(
    connection: &Connection,
    set: VectorSet,
    nodes: &[NodeId],
) -> rusqlite::Result<Vec<Option<Vec<f32>>>> {
    let sql = format!("SELECT vector FROM {} WHERE node = ?1", table(set));
    let mut statement = connection.prepare_cached(&sql)?;
    let vector = |row: &rusqlite::Row<'_>| Ok(rows::floats(row.get_ref(0)?.as_blob()?));
    let of = |node: &NodeId| statement.query_row([node.0.cast_signed()], vector).optional();
    nodes.iter().map(of).collect()
}

/// The nodes of a set that are seen.
pub(super) fn seen(connection: &Connection, set: VectorSet) -> rusqlite::Result<HashSet<u64>> {
    connection
        .prepare_cached(&format!("SELECT node FROM {}", table(set)))?
        .query_map([], |row| rows::id(row, 0))?
        .collect()
}
