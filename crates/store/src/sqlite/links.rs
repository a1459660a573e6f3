//! Reads the edges between chunks and other nodes: the chunks that a node leads to, and the nodes
//! that a chunk leads to.

use pikerag_knowledge::{ChunkId, ChunkLinks, ChunkList, ChunksOf, EntityId, LinkKind, NameKey};
use rusqlite::{Connection, params};

use super::graph::READING_ORDER;
use super::rows::{self, SEARCHABLE, limit_of};
use super::tags;

/// A statement that finds the chunks of each node: at most `?2` chunks of node `?1`.
pub(super) struct Lookup {
    sql: String,
    nodes: Vec<u64>,
}

impl Lookup {
    pub(super) fn of(of: ChunksOf<'_>) -> Self {
        let within = |column: &str| {
            format!(
                "SELECT c.id FROM chunks c WHERE c.{column} = ?1 AND {SEARCHABLE} ORDER BY c.ordinal LIMIT ?2"
            )
        };
        match of {
            ChunksOf::Neighbours(ids) => Self {
                sql: neighbours(),
                nodes: ids.iter().map(|id| id.0).collect(),
            },
            ChunksOf::Sources(ids) => {
                Self { sql: within("source"), nodes: ids.iter().map(|id| id.0).collect() }
            }
            ChunksOf::Sections(ids) => {
                Self { sql: within("section"), nodes: ids.iter().map(|id| id.0).collect() }
            }
            ChunksOf::Entities(ids) => Self {
                sql: "SELECT chunk FROM entity_mentions WHERE entity = ?1 ORDER BY chunk LIMIT ?2"
                    .to_owned(),
                nodes: ids.iter().map(|id| id.0).collect(),
            },
            ChunksOf::EntitiesInOrder(ids) => Self {
                sql: format!(
                    "SELECT m.chunk FROM entity_mentions m JOIN chunks c ON c.id = m.chunk
                     JOIN sources s ON s.id = c.source WHERE m.entity = ?1 ORDER BY {READING_ORDER} LIMIT ?2"
                ),
                nodes: ids.iter().map(|id| id.0).collect(),
            },
            ChunksOf::Names(keys) => Self {
                sql: "SELECT chunk FROM names WHERE key = ?1 AND how = 0 ORDER BY chunk LIMIT ?2"
                    .to_owned(),
                nodes: keys.iter().map(|key| key.0).collect(),
            },
            ChunksOf::Tags(keys) => Self {
                sql: "SELECT DISTINCT chunk FROM chunk_tags WHERE key = ?1 ORDER BY chunk LIMIT ?2"
                    .to_owned(),
                nodes: keys.iter().map(|key| key.0).collect(),
            },
        }
    }

    pub(super) fn read(
        &self,
        connection: &Connection,
        limit: usize,
    ) -> rusqlite::Result<Vec<ChunkList>> {
        let mut statement = connection.prepare_cached(&self.sql)?;
        let one_more = limit_of(limit.saturating_add(1));
        let mut lists = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let mut chunks: Vec<ChunkId> = statement
                .query_map(params![node.cast_signed(), one_more], |row| {
                    Ok(ChunkId(rows::id(row, 0)?))
                })?
                .collect::<rusqlite::Result<_>>()?;
            let count = chunks.len();
            if limit < count {
                chunks.clear();
            }
            lists.push(ChunkList { count, chunks });
        }
        Ok(lists)
    }
}

fn neighbours() -> String {
    let side = |comparison: &str, order: &str| {
        format!(
            "SELECT id, ordinal FROM (SELECT c.id, c.ordinal FROM chunks at JOIN chunks c
               ON c.source = at.source AND c.ordinal {comparison} at.ordinal AND {SEARCHABLE}
             WHERE at.id = ?1 ORDER BY c.ordinal {order} LIMIT 1)"
        )
    };
    let (before, after) = (side("<", "DESC"), side(">", "ASC"));
    format!("SELECT id FROM ({before} UNION ALL {after}) ORDER BY ordinal LIMIT ?2")
}

/// The nodes of one kind that each chunk leads to.
pub(super) fn links_of(
    connection: &Connection,
    chunks: &[ChunkId],
    kind: LinkKind,
) -> rusqlite::Result<Vec<ChunkLinks>> {
    let of_chunk = |chunk: &ChunkId| {
        let mut links = ChunkLinks::default();
        match kind {
            LinkKind::Names => links.names = ids(connection, NAMES, *chunk, NameKey)?,
            LinkKind::Entities => links.entities = ids(connection, ENTITIES, *chunk, EntityId)?,
            LinkKind::Tags => links.tags = tags::of_chunk(connection, *chunk)?,
        }
        Ok(links)
    };
    chunks.iter().map(of_chunk).collect()
}

const NAMES: &str = "SELECT key FROM names WHERE chunk = ?1 AND how = -1 ORDER BY key";
const ENTITIES: &str = "SELECT entity FROM entity_mentions WHERE chunk = ?1 ORDER BY entity";

fn ids<T>(
    connection: &Connection,
    sql: &str,
    chunk: ChunkId,
    id: fn(u64) -> T,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([chunk.0.cast_signed()], |row| Ok(id(rows::id(row, 0)?)))?;
    rows.collect()
}
