//! Reads the edges between chunks and other nodes: the chunks that a node leads to, and what a chunk leads to.

use pikerag_knowledge::{ChunkId, ChunkLinks, ChunkList, ChunksOf, EntityId, NameKey};
use rusqlite::{Connection, Row, params};

use super::graph::READING_ORDER;
use super::rows::{self, SEARCHABLE, limit_of};
use super::tags;

/// The chunks that each node leads to, by a statement that finds at most `?2` of those of `?1`.
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

/// What each chunk leads to.
pub(super) fn links_of(
    connection: &Connection,
    chunks: &[ChunkId],
) -> rusqlite::Result<Vec<ChunkLinks>> {
    let mut names = connection
        .prepare_cached("SELECT key FROM names WHERE chunk = ?1 AND how = -1 ORDER BY key")?;
    let mut entities = connection
        .prepare_cached("SELECT entity FROM entity_mentions WHERE chunk = ?1 ORDER BY entity")?;
    let name = |row: &Row<'_>| Ok(NameKey(rows::id(row, 0)?));
    let entity = |row: &Row<'_>| Ok(EntityId(rows::id(row, 0)?));
    let mut links = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let key = [chunk.0.cast_signed()];
        links.push(ChunkLinks {
            names: names.query_map(key, name)?.collect::<rusqlite::Result<_>>()?,
            entities: entities.query_map(key, entity)?.collect::<rusqlite::Result<_>>()?,
            tags: tags::of_chunk(connection, *chunk)?,
        });
    }
    Ok(links)
}
