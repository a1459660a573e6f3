//! Reads data for searches over several layers: texts of sources and sections to embed, and related
//! entities.

use std::collections::{BTreeMap, HashSet};

use pikerag_knowledge::{EntityId, NodeId, TextToEmbed, VectorSet};
use rusqlite::{Connection, OptionalExtension, params};

use super::rows;
use super::which::Which;

/// A section deeper than this is named by its innermost headings.
const DEEPEST: usize = 16;
/// The most characters of a source or section that embedders see.
const LONGEST: usize = 2000;

/// Sources or sections without a vector of this embedder, with the text to embed. A source has its
/// title and summary; a section has its headings, below the title of its source.
pub(super) fn without_vector(
    connection: &Connection,
    set: VectorSet,
    which: &Which<'_>,
    limit: i64,
) -> rusqlite::Result<Vec<TextToEmbed>> {
    let Which { embedder, after, only } = *which;
    let is_sections = set == VectorSet::Sections;
    let sql = if is_sections {
        "SELECT x.id, s.title, x.heading, x.parent FROM sections x JOIN sources s ON s.id = x.source
         LEFT JOIN section_vectors v ON v.node = x.id AND v.embedder = ?1
         WHERE v.node IS NULL AND x.id > ?2
         AND (?4 IS NULL OR s.file IN (SELECT value FROM json_each(?4))) ORDER BY x.id LIMIT ?3"
    } else {
        "SELECT s.id, s.title, coalesce(s.summary, ''), NULL FROM sources s
         LEFT JOIN source_vectors v ON v.node = s.id AND v.embedder = ?1
         WHERE v.node IS NULL AND s.id > ?2
         AND (?4 IS NULL OR s.file IN (SELECT value FROM json_each(?4))) ORDER BY s.id LIMIT ?3"
    };
    let found: Vec<(u64, String, String, Option<i64>)> = connection
        .prepare_cached(sql)?
        .query_map(params![embedder, after, limit, only], |row| {
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
    // A relation between two of the entities is read from both ends, but counts once.
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
