//! What does a search over several layers read? Texts of sources and sections to embed, and which
//! chunks stand in them and beside each other.

use std::collections::{BTreeMap, HashSet};

use pikerag_knowledge::{ChunkId, EntityId, Mentions, NodeId, TextToEmbed, VectorSet};
use rusqlite::{Connection, OptionalExtension, params};

use super::rows;

/// A section deeper than this is named by its innermost headings.
const DEEPEST: usize = 16;
/// What embedders see of a source or section, in characters.
const LONGEST: usize = 2000;

/// Sources or sections without a vector of this embedder, with the text to embed: title and summary
/// of a source; the headings that lead to a section, below the title of its source.
pub(super) fn without_vector(
    connection: &Connection,
    set: VectorSet,
    embedder: &str,
    after: i64,
    limit: i64,
) -> rusqlite::Result<Vec<TextToEmbed>> {
    let is_sections = set == VectorSet::Sections;
    let sql = if is_sections {
        "SELECT x.id, s.title, x.heading, x.parent FROM sections x JOIN sources s ON s.id = x.source
         LEFT JOIN section_vectors v ON v.node = x.id AND v.embedder = ?1
         WHERE v.node IS NULL AND x.id > ?2 ORDER BY x.id LIMIT ?3"
    } else {
        "SELECT s.id, s.title, coalesce(s.summary, ''), NULL FROM sources s
         LEFT JOIN source_vectors v ON v.node = s.id AND v.embedder = ?1
         WHERE v.node IS NULL AND s.id > ?2 ORDER BY s.id LIMIT ?3"
    };
    let found: Vec<(u64, String, String, Option<i64>)> = connection
        .prepare_cached(sql)?
        .query_map(params![embedder, after, limit], |row| {
            Ok((rows::id(row, 0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let mut texts = Vec::with_capacity(found.len());
    for (id, title, own, parent) in found {
        let text = match is_sections {
            false if own.is_empty() => title,
            false => format!("{title}\n{own}"),
            true => {
                let path = path(connection, own, parent)?;
                match path.first() {
                    Some(outermost) if *outermost == title => path.join(" › "),
                    _ => format!("{title} › {}", path.join(" › ")),
                }
            }
        };
        texts.push(TextToEmbed { node: NodeId(id), text: text.chars().take(LONGEST).collect() });
    }
    Ok(texts)
}

/// The headings that lead to a section, outermost first, its own last.
fn path(
    connection: &Connection,
    own: String,
    mut parent: Option<i64>,
) -> rusqlite::Result<Vec<String>> {
    let mut path = vec![own];
    let mut above =
        connection.prepare_cached("SELECT heading, parent FROM sections WHERE id = ?1")?;
    while let Some(id) = parent
        && path.len() < DEEPEST
    {
        let found = above.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let Some((heading, next)) = found else { break };
        path.push(heading);
        parent = next;
    }
    path.reverse();
    Ok(path)
}

/// The chunks before and after each chunk in its source.
pub(super) fn neighbours(
    connection: &Connection,
    chunks: &[ChunkId],
) -> rusqlite::Result<Vec<Vec<ChunkId>>> {
    let side = |comparison: &str, order: &str| {
        connection.prepare_cached(&format!(
            "SELECT c.id FROM chunks at JOIN chunks c
               ON c.source = at.source AND c.ordinal {comparison} at.ordinal AND {}
             WHERE at.id = ?1 ORDER BY c.ordinal {order} LIMIT 1",
            rows::SEARCHABLE
        ))
    };
    let mut sides = [side("<", "DESC")?, side(">", "ASC")?];
    let mut lists = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let mut list = Vec::new();
        for side in &mut sides {
            let found =
                side.query_row([chunk.0.cast_signed()], |row| Ok(ChunkId(rows::id(row, 0)?)));
            list.extend(found.optional()?);
        }
        lists.push(list);
    }
    Ok(lists)
}

/// The chunks that mention an entity, none where there are more than `limit`.
pub(super) fn entity_mentions(
    connection: &Connection,
    entity: EntityId,
    limit: usize,
) -> rusqlite::Result<Mentions> {
    let one_more = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let mut chunks: Vec<ChunkId> = connection
        .prepare_cached(
            "SELECT chunk FROM entity_mentions WHERE entity = ?1 ORDER BY chunk LIMIT ?2",
        )?
        .query_map(params![entity.0.cast_signed(), one_more], |row| Ok(ChunkId(rows::id(row, 0)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let count = chunks.len();
    if limit < count {
        chunks.clear();
    }
    Ok(Mentions { count, chunks })
}

/// The other ends of the heaviest relations of these entities.
pub(super) fn related_to(
    connection: &Connection,
    entities: &[EntityId],
    limit: usize,
) -> rusqlite::Result<Vec<EntityId>> {
    let ends = |end: &str, other: &str| {
        connection.prepare_cached(&format!(
            "SELECT r.id, r.{other}, (SELECT sum(m.weight) FROM relation_mentions m WHERE m.relation = r.id)
             FROM relations r WHERE r.{end} = ?1"
        ))
    };
    let mut statements = [ends("subject", "object")?, ends("object", "subject")?];
    // A relation between two of the entities is read from both ends, and counts as one.
    let mut relations: BTreeMap<u64, (f64, Vec<EntityId>)> = BTreeMap::new();
    for entity in entities {
        for statement in &mut statements {
            let mut found = statement.query([entity.0.cast_signed()])?;
            while let Some(row) = found.next()? {
                let weight = row.get::<_, Option<f64>>(2)?.unwrap_or_default();
                let (_, others) = relations.entry(rows::id(row, 0)?).or_insert((weight, vec![]));
                others.push(EntityId(rows::id(row, 1)?));
            }
        }
    }
    let mut relations: Vec<(f64, Vec<EntityId>)> = relations.into_values().collect();
    relations.sort_by(|a, b| b.0.total_cmp(&a.0));
    let known: HashSet<EntityId> = entities.iter().copied().collect();
    let mut seen = HashSet::new();
    let others = relations.into_iter().take(limit).flat_map(|(_, others)| others);
    Ok(others.filter(|other| !known.contains(other) && seen.insert(*other)).collect())
}

/// What chunks stand in.
#[derive(Clone, Copy)]
pub(super) enum Around {
    Sources,
    Sections,
}

/// The chunks of each source or section, none where there are more than `limit`.
pub(super) fn chunks_in(
    connection: &Connection,
    around: Around,
    ids: &[u64],
    limit: usize,
) -> rusqlite::Result<Vec<Vec<ChunkId>>> {
    let column = match around {
        Around::Sources => "source",
        Around::Sections => "section",
    };
    let sql = format!(
        "SELECT c.id FROM chunks c WHERE c.{column} = ?1 AND {} ORDER BY c.ordinal LIMIT ?2",
        rows::SEARCHABLE
    );
    let one_more = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let mut statement = connection.prepare_cached(&sql)?;
    let mut lists = Vec::with_capacity(ids.len());
    for id in ids {
        let mut list: Vec<ChunkId> = statement
            .query_map(params![id.cast_signed(), one_more], |row| Ok(ChunkId(rows::id(row, 0)?)))?
            .collect::<rusqlite::Result<_>>()?;
        if limit < list.len() {
            list.clear();
        }
        lists.push(list);
    }
    Ok(lists)
}
