//! Reads the edges between chunks and other nodes: the chunks that a node leads to, and the nodes
//! that a chunk leads to. One statement serves all nodes.

use pikerag_knowledge::{ChunkId, ChunkLinks, ChunkList, ChunksOf, EntityId, LinkKind, NameKey};

use super::{READING_ORDER, tags};
use crate::fault::Sql;
use crate::rows;
use crate::tx::Tx;

/// The chunks that each of these leads to; none if there are more than `limit`.
pub(super) async fn chunks_of(tx: &Tx, of: ChunksOf<'_>, limit: usize) -> Sql<Vec<ChunkList>> {
    let (of_node, nodes) = statement(of);
    let sql = format!("SELECT ARRAY({of_node} LIMIT $2) {NODES}");
    let one_more = rows::number(limit.saturating_add(1));
    let mut lists = Vec::with_capacity(nodes.len());
    for row in tx.all(&sql, &[&nodes, &one_more]).await? {
        let found: Vec<i64> = row.try_get(0)?;
        let count = found.len();
        let chunks = match count <= limit {
            true => found.into_iter().map(|id| ChunkId(id.cast_unsigned())).collect(),
            false => Vec::new(),
        };
        lists.push(ChunkList { count, chunks });
    }
    Ok(lists)
}

/// The given nodes, in their order.
const NODES: &str = "FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, nth) ORDER BY w.nth";

/// The statement, up to the limit, that finds the chunks of the node `w.id`; and the nodes.
fn statement(of: ChunksOf<'_>) -> (String, Vec<i64>) {
    let within = |column: &str| {
        format!(
            "SELECT c.id FROM chunks c WHERE c.{column} = w.id AND c.searchable ORDER BY c.ordinal"
        )
    };
    match of {
        ChunksOf::Neighbours(ids) => (neighbours(), rows::signed(ids.iter().map(|id| id.0))),
        ChunksOf::Sources(ids) => (within("source"), rows::signed(ids.iter().map(|id| id.0))),
        ChunksOf::Sections(ids) => (within("section"), rows::signed(ids.iter().map(|id| id.0))),
        ChunksOf::Entities(ids) => {
            let sql =
                "SELECT m.chunk FROM entity_mentions m WHERE m.entity = w.id ORDER BY m.chunk";
            (sql.to_owned(), rows::signed(ids.iter().map(|id| id.0)))
        }
        ChunksOf::EntitiesInOrder(ids) => {
            let sql = format!(
                "SELECT m.chunk FROM entity_mentions m JOIN chunks c ON c.id = m.chunk
                 JOIN sources s ON s.id = c.source WHERE m.entity = w.id ORDER BY {READING_ORDER}"
            );
            (sql, rows::signed(ids.iter().map(|id| id.0)))
        }
        ChunksOf::Names(keys) => {
            let sql =
                "SELECT n.chunk FROM names n WHERE n.key = w.id AND n.how = 0 ORDER BY n.chunk";
            (sql.to_owned(), rows::signed(keys.iter().map(|key| key.0)))
        }
        ChunksOf::Tags(keys) => {
            // Without `OFFSET 0`, the limit makes the planner walk through all tags in order of chunks.
            let sql = "SELECT DISTINCT t.chunk FROM (SELECT x.chunk FROM chunk_tags x WHERE x.key = w.id OFFSET 0) AS t
                 ORDER BY t.chunk";
            (sql.to_owned(), rows::signed(keys.iter().map(|key| key.0)))
        }
    }
}

fn neighbours() -> String {
    // Subqueries give single values, so that each side reads one row of the index.
    let side = |comparison: &str, order: &str| {
        format!(
            "(SELECT c.id, c.ordinal FROM chunks c
             WHERE c.source = (SELECT h.source FROM chunks h WHERE h.id = w.id)
               AND c.ordinal {comparison} (SELECT h.ordinal FROM chunks h WHERE h.id = w.id) AND c.searchable
             ORDER BY c.ordinal {order} LIMIT 1)"
        )
    };
    let (before, after) = (side("<", "DESC"), side(">", "ASC"));
    format!("SELECT x.id FROM ({before} UNION ALL {after}) AS x ORDER BY x.ordinal")
}

/// The nodes of one kind that each chunk leads to.
pub(super) async fn links_of(tx: &Tx, chunks: &[ChunkId], kind: LinkKind) -> Sql<Vec<ChunkLinks>> {
    let ids = rows::signed(chunks.iter().map(|id| id.0));
    let mut links: Vec<ChunkLinks> = Vec::with_capacity(ids.len());
    match kind {
        LinkKind::Names => {
            for keys in lists(tx, NAMES, &ids).await? {
                let names = keys.into_iter().map(NameKey).collect();
                links.push(ChunkLinks { names, ..ChunkLinks::default() });
            }
        }
        LinkKind::Entities => {
            for entities in lists(tx, ENTITIES, &ids).await? {
                let entities = entities.into_iter().map(EntityId).collect();
                links.push(ChunkLinks { entities, ..ChunkLinks::default() });
            }
        }
        LinkKind::Tags => {
            for tags in tags::of_chunks(tx, &ids).await? {
                links.push(ChunkLinks { tags, ..ChunkLinks::default() });
            }
        }
    }
    Ok(links)
}

const NAMES: &str = "SELECT n.key FROM names n WHERE n.chunk = w.id AND n.how = -1 ORDER BY n.key";
const ENTITIES: &str =
    "SELECT m.entity FROM entity_mentions m WHERE m.chunk = w.id ORDER BY m.entity";

/// The nodes that a statement finds for each chunk `w.id`.
async fn lists(tx: &Tx, of_chunk: &str, chunks: &[i64]) -> Sql<Vec<Vec<u64>>> {
    let found = tx.all(&format!("SELECT ARRAY({of_chunk}) {NODES}"), &[&chunks]).await?;
    let mut lists = Vec::with_capacity(found.len());
    for row in &found {
        let ids: Vec<i64> = row.try_get(0)?;
        lists.push(ids.into_iter().map(i64::cast_unsigned).collect());
    }
    Ok(lists)
}
