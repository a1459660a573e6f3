//! Reads stored vectors.

use std::collections::HashSet;

use pikerag_knowledge::{NodeId, VectorSet};
use rusqlite::{Connection, OptionalExtension};

use super::rows;

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

/// The table of the nodes that the vectors of a set belong to.
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

/// The visible nodes of a set.
pub(super) fn admitted(connection: &Connection, set: VectorSet) -> rusqlite::Result<HashSet<u64>> {
    connection
        .prepare_cached(&format!("SELECT node FROM {}", table(set)))?
        .query_map([], |row| rows::id(row, 0))?
        .collect()
}
