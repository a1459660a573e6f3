//! Finds the texts that need a vector, as embedders see them.

use pikerag_knowledge::{Entity, EntityId, NodeId, TextToEmbed, VectorSet};
use rusqlite::{Connection, params};

use super::follow::searchable;
use super::which::{Which, of_files};
use super::{graph, layers, rows};

/// Texts of a set without a vector of this embedder, by identifier. Entities and summaries belong to no file.
pub(super) fn without_vector(
    connection: &Connection,
    set: VectorSet,
    which: &Which<'_>,
    limit: i64,
) -> rusqlite::Result<Vec<TextToEmbed>> {
    let Which { embedder, after, only } = *which;
    match set {
        VectorSet::Chunks => {
            let sql = format!(
                "SELECT {} FROM chunks c JOIN sources s ON s.id = c.source
                 LEFT JOIN chunk_vectors v ON v.node = c.id AND v.embedder = ?1
                 WHERE v.node IS NULL AND c.id > ?3 AND {}
                 AND (?4 IS NULL OR c.source IN {}) ORDER BY c.id LIMIT ?2",
                rows::CHUNK_COLUMNS,
                rows::SEARCHABLE,
                of_files(4)
            );
            connection
                .prepare_cached(&sql)?
                .query_map(params![embedder, limit, after, only], |row| {
                    let chunk = rows::chunk(row)?;
                    Ok(TextToEmbed { node: chunk.id.into(), text: searchable(&chunk) })
                })
                .and_then(Iterator::collect)
        }
        VectorSet::Entities | VectorSet::Summaries if only.is_some() => Ok(Vec::new()),
        VectorSet::Entities => {
            let ids: Vec<EntityId> = connection
                .prepare_cached(
                    "SELECT e.id FROM entities e
                     LEFT JOIN entity_vectors v ON v.node = e.id AND v.embedder = ?1
                     WHERE v.node IS NULL AND e.id > ?3 ORDER BY e.id LIMIT ?2",
                )?
                .query_map(params![embedder, limit, after], |row| Ok(EntityId(rows::id(row, 0)?)))
                .and_then(Iterator::collect)?;
            let entities = graph::entities(connection, &ids)?;
            let text =
                |entity: &Entity| TextToEmbed { node: entity.id.into(), text: embedded(entity) };
            Ok(entities.iter().map(text).collect())
        }
        VectorSet::Summaries => connection
            .prepare_cached(
                "SELECT x.id, x.text FROM summaries x
                 LEFT JOIN summary_vectors v ON v.node = x.id AND v.embedder = ?1
                 WHERE v.node IS NULL AND x.id > ?3 ORDER BY x.id LIMIT ?2",
            )?
            .query_map(params![embedder, limit, after], text)
            .and_then(Iterator::collect),
        VectorSet::Sources | VectorSet::Sections => {
            layers::without_vector(connection, set, which, limit)
        }
        // There may be a million atoms. Equal counts prove that none is pending, because a vector
        // goes with its atom. The index shows whether an atom has a vector, without the pages that
        // hold the numbers.
        VectorSet::Atoms(_) if have_all(connection, embedder)? => Ok(Vec::new()),
        VectorSet::Atoms(kind) => connection
            .prepare_cached(&format!(
                "SELECT a.id, a.text FROM main.atoms a
                 WHERE a.kind = ?2 AND a.id > ?4 AND NOT EXISTS
                     (SELECT 1 FROM main.atom_vectors v INDEXED BY atom_vectors_by_embedder
                      WHERE v.embedder = ?1 AND v.node = a.id)
                 AND (?5 IS NULL OR a.chunk IN
                      (SELECT c.id FROM main.chunks c WHERE c.source IN {}))
                 ORDER BY a.id LIMIT ?3",
                of_files(5)
            ))?
            .query_map(params![embedder, kind.as_str(), limit, after, only], text)
            .and_then(Iterator::collect),
    }
}

fn have_all(connection: &Connection, embedder: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM main.atoms)
                 = (SELECT count(*) FROM main.atom_vectors WHERE embedder = ?1)",
        )?
        .query_row([embedder], |row| row.get(0))
}

fn text(row: &rusqlite::Row<'_>) -> rusqlite::Result<TextToEmbed> {
    Ok(TextToEmbed { node: NodeId(rows::id(row, 0)?), text: row.get(1)? })
}

/// The text of an entity for embedders: its name and the beginning of its description.
pub fn embedded(entity: &Entity) -> String {
    const CHARACTERS: usize = 2000;
    format!("{}: {}", entity.name, entity.description).chars().take(CHARACTERS).collect()
}
