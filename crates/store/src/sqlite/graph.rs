//! Combines what chunks say about entities and relations. Names, kinds and descriptions come from
//! mentions in reading order; communities come with their reports.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use pikerag_knowledge::distilled::descriptions_key;
use pikerag_knowledge::{
    Community, CommunityId, DescriptionsKey, Entity, EntityId, LongDescription, NodeId, Outline,
    OutlineEntity, OutlineRelation, Relation, RelationId, Report,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::counters::generation;
use super::rows;
use super::rows::limit_of;

/// Mentions in reading order, so that two bases with the same documents combine them equally.
pub(super) const READING_ORDER: &str = "s.uri, c.ordinal, c.id";

pub(super) fn entities(connection: &Connection, ids: &[EntityId]) -> rusqlite::Result<Vec<Entity>> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(entity(connection, *id)?);
    }
    Ok(found)
}

pub(super) fn entity(connection: &Connection, id: EntityId) -> rusqlite::Result<Option<Entity>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT m.name, m.kind, m.description FROM entity_mentions m JOIN chunks c ON c.id = m.chunk
         JOIN sources s ON s.id = c.source WHERE m.entity = ?1 ORDER BY {READING_ORDER}"
    ))?;
    let mut mentions = statement.query([id.0.cast_signed()])?;
    let (mut names, mut kinds, mut descriptions) = (Votes::default(), Votes::default(), Vec::new());
    while let Some(mention) = mentions.next()? {
        names.add(mention.get(0)?);
        kinds.add(mention.get(1)?);
        descriptions.push(mention.get(2)?);
    }
    let Some(name) = names.winner() else { return Ok(None) };
    let description = description(connection, id.0, descriptions)?;
    Ok(Some(Entity { id, name, kind: kinds.winner().unwrap_or_default(), description }))
}

/// Spellings with the number of chunks that use them; empty ones do not count.
#[derive(Default)]
pub struct Votes(BTreeMap<String, usize>);

impl Votes {
    /// Counts a spelling.
    pub fn add(&mut self, vote: String) {
        if !vote.is_empty() {
            *self.0.entry(vote).or_default() += 1;
        }
    }

    /// The most frequent spelling; among equals, the first in the alphabet.
    pub fn winner(self) -> Option<String> {
        let mut best: Option<(String, usize)> = None;
        for (vote, count) in self.0 {
            if best.as_ref().is_none_or(|(_, most)| *most < count) {
                best = Some((vote, count));
            }
        }
        best.map(|(vote, _)| vote)
    }
}

/// Each description once, in order, without empty ones.
pub fn each_once(descriptions: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut once = descriptions;
    once.retain(|text| !text.is_empty() && seen.insert(text.clone()));
    once
}

/// The summary of a long description if there is one, else all descriptions joined.
fn description(
    connection: &Connection,
    node: u64,
    descriptions: Vec<String>,
) -> rusqlite::Result<String> {
    let summary = connection
        .prepare_cached("SELECT text FROM descriptions WHERE node = ?1")?
        .query_row([node.cast_signed()], |row| row.get(0))
        .optional()?;
    Ok(summary.unwrap_or_else(|| each_once(descriptions).join(" ")))
}

/// The relations with an end among these, heaviest first.
pub(super) fn relations_of(
    connection: &Connection,
    entities: &[EntityId],
) -> rusqlite::Result<Vec<Relation>> {
    let mut ids = BTreeSet::new();
    let mut statement = connection.prepare_cached(
        "SELECT id FROM relations WHERE subject = ?1 UNION SELECT id FROM relations WHERE object = ?1",
    )?;
    for entity in entities {
        for id in statement.query_map([entity.0.cast_signed()], |row| rows::id(row, 0))? {
            ids.insert(id?);
        }
    }
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(relation(connection, RelationId(id))?);
    }
    found.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.id.cmp(&b.id)));
    Ok(found)
}

pub(super) fn relation(
    connection: &Connection,
    id: RelationId,
) -> rusqlite::Result<Option<Relation>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT r.subject, r.object, m.description, m.weight FROM relations r
         JOIN relation_mentions m ON m.relation = r.id JOIN chunks c ON c.id = m.chunk
         JOIN sources s ON s.id = c.source WHERE r.id = ?1 ORDER BY {READING_ORDER}"
    ))?;
    let mut mentions = statement.query([id.0.cast_signed()])?;
    let (mut ends, mut descriptions, mut weight) = (None, Vec::new(), 0.0);
    while let Some(mention) = mentions.next()? {
        ends = Some((EntityId(rows::id(mention, 0)?), EntityId(rows::id(mention, 1)?)));
        descriptions.push(mention.get(2)?);
        weight += mention.get::<_, f64>(3)?;
    }
    let Some((subject, object)) = ends else { return Ok(None) };
    let description = description(connection, id.0, descriptions)?;
    Ok(Some(Relation { id, subject, object, description, weight }))
}

/// The graph without its texts, read in one pass over the mentions.
pub(super) fn outline(connection: &Connection) -> rusqlite::Result<Outline> {
    let mut outline = Outline { generation: generation(connection)?, ..Outline::default() };
    let mut statement = connection.prepare(&format!(
        "SELECT m.entity, m.name, m.kind, m.description FROM entity_mentions m JOIN chunks c ON c.id = m.chunk
         JOIN sources s ON s.id = c.source ORDER BY m.entity, {READING_ORDER}"
    ))?;
    let mut mentions = statement.query([])?;
    let mut descriptions = Vec::new();
    let mut current: Option<EntityId> = None;
    while let Some(mention) = mentions.next()? {
        let id = EntityId(rows::id(mention, 0)?);
        if let Some(before) = current
            && before != id
        {
            outline.entities.push(OutlineEntity { id: before, key: key_of(&mut descriptions) });
        }
        current = Some(id);
        for column in 1..=3 {
            descriptions.push(mention.get(column)?);
        }
    }
    if let Some(last) = current {
        outline.entities.push(OutlineEntity { id: last, key: key_of(&mut descriptions) });
    }
    let mut statement = connection.prepare(&format!(
        "SELECT r.id, r.subject, r.object, m.description, m.weight FROM relations r
         JOIN relation_mentions m ON m.relation = r.id JOIN chunks c ON c.id = m.chunk
         JOIN sources s ON s.id = c.source ORDER BY r.id, {READING_ORDER}"
    ))?;
    let mut mentions = statement.query([])?;
    let mut current: Option<OutlineRelation> = None;
    while let Some(mention) = mentions.next()? {
        let id = RelationId(rows::id(mention, 0)?);
        match &mut current {
            Some(relation) if relation.id == id => relation.weight += mention.get::<_, f64>(4)?,
            _ => {
                let next = OutlineRelation {
                    id,
                    subject: EntityId(rows::id(mention, 1)?),
                    object: EntityId(rows::id(mention, 2)?),
                    weight: mention.get(4)?,
                    key: DescriptionsKey::default(),
                };
                if let Some(done) = current.replace(next) {
                    let key = key_of(&mut descriptions);
                    outline.relations.push(OutlineRelation { key, ..done });
                }
            }
        }
        descriptions.push(mention.get(3)?);
    }
    if let Some(done) = current {
        outline.relations.push(OutlineRelation { key: key_of(&mut descriptions), ..done });
    }
    Ok(outline)
}

fn key_of(descriptions: &mut Vec<String>) -> DescriptionsKey {
    descriptions_key(std::mem::take(descriptions).iter().map(String::as_str))
}

/// Entities and relations with more than `bytes` of descriptions and no summary yet.
pub(super) fn long_descriptions(
    connection: &Connection,
    bytes: usize,
) -> rusqlite::Result<Vec<LongDescription>> {
    let mut long = Vec::new();
    for (node, table) in [("entity", "entity_mentions"), ("relation", "relation_mentions")] {
        let ids: Vec<NodeId> = connection
            .prepare(&format!(
                "SELECT {node} FROM {table} GROUP BY {node} HAVING ?1 < sum(length(CAST(description AS BLOB)))
                 AND {node} NOT IN (SELECT node FROM descriptions) ORDER BY {node}"
            ))?
            .query_map([limit_of(bytes)], |row| Ok(NodeId(rows::id(row, 0)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for id in ids {
            let descriptions = descriptions_of(connection, id)?;
            if bytes < descriptions.iter().map(String::len).sum() {
                let name = name_of(connection, id)?;
                long.push(LongDescription { node: id, name, descriptions });
            }
        }
    }
    Ok(long)
}

/// All descriptions of an entity or relation, each once.
pub(super) fn descriptions_of(
    connection: &Connection,
    node: NodeId,
) -> rusqlite::Result<Vec<String>> {
    let mut descriptions: Vec<String> = Vec::new();
    for (column, table) in [("entity", "entity_mentions"), ("relation", "relation_mentions")] {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT m.description FROM {table} m JOIN chunks c ON c.id = m.chunk
             JOIN sources s ON s.id = c.source WHERE m.{column} = ?1 ORDER BY {READING_ORDER}"
        ))?;
        for text in statement.query_map([node.0.cast_signed()], |row| row.get(0))? {
            descriptions.push(text?);
        }
    }
    Ok(each_once(descriptions))
}

fn name_of(connection: &Connection, node: NodeId) -> rusqlite::Result<String> {
    let name = |id| Ok(entity(connection, id)?.map(|entity| entity.name).unwrap_or_default());
    match relation(connection, RelationId(node.0))? {
        Some(relation) => Ok(format!("{} → {}", name(relation.subject)?, name(relation.object)?)),
        None => name(EntityId(node.0)),
    }
}

/// All communities, or those that hold one of these entities.
pub(super) fn communities(
    connection: &Connection,
    of: Option<&[EntityId]>,
) -> rusqlite::Result<Vec<Community>> {
    let ids: BTreeSet<u64> = match of {
        None => connection
            .prepare("SELECT id FROM communities")?
            .query_map([], |row| rows::id(row, 0))?
            .collect::<rusqlite::Result<_>>()?,
        Some(entities) => {
            let mut statement =
                connection.prepare_cached("SELECT community FROM members WHERE entity = ?1")?;
            let mut ids = BTreeSet::new();
            for entity in entities {
                for id in statement.query_map([entity.0.cast_signed()], |row| rows::id(row, 0))? {
                    ids.insert(id?);
                }
            }
            ids
        }
    };
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.push(community(connection, CommunityId(id))?);
    }
    found.sort_by_key(|community| (community.level, community.id));
    Ok(found)
}

fn community(connection: &Connection, id: CommunityId) -> rusqlite::Result<Community> {
    let key = params![id.0.cast_signed()];
    let (level, parent) = connection
        .prepare_cached("SELECT level, parent FROM communities WHERE id = ?1")?
        .query_row(key, |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?)))?;
    let members = connection
        .prepare_cached("SELECT entity FROM members WHERE community = ?1 ORDER BY entity")?
        .query_map(key, |row| Ok(EntityId(rows::id(row, 0)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let report = connection
        .prepare_cached(
            "SELECT title, summary, rating, findings, model FROM reports WHERE community = ?1",
        )?
        .query_row(key, report)
        .optional()?;
    let parent = parent.map(|parent| CommunityId(parent.cast_unsigned()));
    Ok(Community { id, level, parent, members, report })
}

fn report(row: &Row<'_>) -> rusqlite::Result<Report> {
    Ok(Report {
        title: row.get(0)?,
        summary: row.get(1)?,
        rating: row.get(2)?,
        findings: rows::json(row, 3)?,
        model: row.get(4)?,
    })
}
