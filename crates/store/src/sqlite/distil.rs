//! Stores the results of extraction chunk by chunk, each in place of the earlier results. Triggers
//! (`layouts/3.sql`) delete what was derived from the changed mentions.

use std::collections::HashSet;

use pikerag_knowledge::distilled::descriptions_key;
use pikerag_knowledge::{
    Community, CommunityReport, ExtractBy, Extraction, InChunk, ShortDescription, Stage, Structure,
    Wanted,
};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{graph, rows};

pub(super) fn put_extraction(
    tx: &Transaction<'_>,
    by: ExtractBy,
    found: &InChunk<Extraction>,
) -> rusqlite::Result<()> {
    let InChunk { chunk, found } = found;
    let id = chunk.0.cast_signed();
    // Its document may have been deleted while the model ran.
    if !tx.prepare_cached("SELECT 1 FROM chunks WHERE id = ?1")?.exists([id])? {
        return Ok(());
    }
    tx.prepare_cached("DELETE FROM relation_mentions WHERE chunk = ?1")?.execute([id])?;
    tx.prepare_cached("DELETE FROM entity_mentions WHERE chunk = ?1")?.execute([id])?;
    let mut entity =
        tx.prepare_cached("INSERT INTO entities(id) VALUES (?1) ON CONFLICT DO NOTHING")?;
    let mut mention = tx.prepare_cached(
        "INSERT INTO entity_mentions(entity, chunk, name, kind, description) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO NOTHING",
    )?;
    for found in &found.entities {
        let key = found.id.0.cast_signed();
        entity.execute([key])?;
        mention.execute(params![key, id, found.name, found.kind, found.description])?;
    }
    let mut relation = tx.prepare_cached(
        "INSERT INTO relations(id, subject, object) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    let mut mention = tx.prepare_cached(
        "INSERT INTO relation_mentions(relation, chunk, description, weight) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO NOTHING",
    )?;
    for stated in &found.relations {
        // Deleting a chunk finds its relations through the entities that the chunk mentions.
        let ends = [stated.subject, stated.object];
        if !ends.iter().all(|end| found.entities.iter().any(|entity| entity.id == *end)) {
            continue;
        }
        let key = stated.id.0.cast_signed();
        let (subject, object) = (stated.subject.0.cast_signed(), stated.object.0.cast_signed());
        relation.execute([key, subject, object])?;
        mention.execute(params![key, id, stated.description, stated.weight])?;
    }
    let done: &[ExtractBy] = match by {
        ExtractBy::Model => &[ExtractBy::Model, ExtractBy::Names],
        ExtractBy::Names => &[ExtractBy::Names],
    };
    let mut mark = tx.prepare_cached(
        "INSERT INTO progress(stage, chunk) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?;
    for by in done {
        mark.execute(params![Stage::extract(*by).0, id])?;
    }
    Ok(())
}

pub(super) fn put_descriptions(
    tx: &Transaction<'_>,
    made: &[ShortDescription],
) -> rusqlite::Result<()> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO descriptions(node, text) VALUES (?1, ?2) ON CONFLICT(node) DO NOTHING",
    )?;
    for ShortDescription { node, made_from, text } in made {
        // The descriptions may have changed while the model ran.
        if descriptions_key(graph::descriptions_of(tx, *node)?.iter().map(String::as_str))
            == *made_from
        {
            insert.execute(params![node.0.cast_signed(), text])?;
        }
    }
    Ok(())
}

pub(super) fn put_communities(
    tx: &Transaction<'_>,
    communities: &[Community],
) -> rusqlite::Result<()> {
    let held: Vec<u64> = tx
        .prepare_cached("SELECT id FROM communities")?
        .query_map([], |row| rows::id(row, 0))?
        .collect::<rusqlite::Result<_>>()?;
    let kept: HashSet<u64> = communities.iter().map(|community| community.id.0).collect();
    let mut delete = tx.prepare_cached("DELETE FROM communities WHERE id = ?1")?;
    for id in held.iter().filter(|id| !kept.contains(*id)) {
        delete.execute([id.cast_signed()])?;
    }
    let mut insert = tx.prepare_cached(
        "INSERT INTO communities(id, level, parent) VALUES (?1, ?2, ?3)
         ON CONFLICT(id) DO UPDATE SET level = excluded.level, parent = excluded.parent",
    )?;
    let mut member = tx.prepare_cached(
        "INSERT INTO members(community, entity) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?;
    for community in communities {
        let id = community.id.0.cast_signed();
        let parent = community.parent.map(|parent| parent.0.cast_signed());
        insert.execute(params![id, community.level, parent])?;
        for entity in &community.members {
            member.execute([id, entity.0.cast_signed()])?;
        }
    }
    Ok(())
}

pub(super) fn put_reports(
    tx: &Transaction<'_>,
    reports: &[CommunityReport],
) -> rusqlite::Result<()> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO reports(community, title, summary, rating, findings, model) SELECT ?1, ?2, ?3, ?4, ?5, ?6
         WHERE EXISTS (SELECT 1 FROM communities WHERE id = ?1)
         ON CONFLICT(community) DO UPDATE SET title = excluded.title, summary = excluded.summary,
           rating = excluded.rating, findings = excluded.findings, model = excluded.model",
    )?;
    for CommunityReport { community, report } in reports {
        let findings = serde_json::to_string(&report.findings)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        let id = community.0.cast_signed();
        insert.execute(params![
            id,
            report.title,
            report.summary,
            report.rating,
            findings,
            report.model
        ])?;
    }
    Ok(())
}

/// The prefix of the keys in `meta` of wanted structures; the value is the stamp.
const WANTED: &str = "with:";

/// The key of a structure in `meta`.
pub(super) fn wanted(structure: Structure) -> String {
    format!("{WANTED}{structure}")
}

/// Lets every wanted structure be built again.
pub(super) fn unmark_built(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE meta SET value = '' WHERE substr(key, 1, length(?1)) = ?1")?
        .execute([WANTED])
        .map(drop)
}

pub(super) fn structures(connection: &Connection) -> rusqlite::Result<Vec<Wanted>> {
    let mut wanted = Vec::new();
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
    for structure in [Structure::Graph, Structure::Tree, Structure::Tags] {
        let stamp = statement.query_row([self::wanted(structure)], |row| row.get(0)).optional()?;
        wanted.extend(stamp.map(|stamp| Wanted { structure, stamp }));
    }
    Ok(wanted)
}
