//! Defines the kinds of edges, their tables, and how each edge is found from either end.

use pikerag_knowledge::{EdgeKind, Reference, SourceId, StoreError, TagClassId, TagId};
use rusqlite::{Connection, Row};
use serde_json::json;

use super::super::{references, rows};
use super::line::{Emit, ExportLine, each};
use crate::error::Context;

/// A kind of edge that one query reads, with the identifiers of both ends in a row.
struct Kind {
    edge: EdgeKind,
    /// The query, up to the conditions.
    select: &'static str,
    /// The condition that every row fulfils.
    holds: &'static str,
    order: &'static str,
    /// The conditions for the edges from, and to, the node `?1`, written so that an index finds
    /// them.
    from: &'static str,
    to: &'static str,
}

/// In the order of the export. References and tags come in between, because they are computed.
const BEFORE_REFERENCES: [Kind; 4] = [
    Kind {
        edge: EdgeKind::Contains,
        select: "SELECT s.id, x.id FROM sections x JOIN sources s ON s.id = x.source",
        holds: "x.parent IS NULL",
        order: "s.uri, x.ordinal",
        from: "x.source = ?1",
        to: "x.id = ?1",
    },
    Kind {
        edge: EdgeKind::Contains,
        select: "SELECT x.parent, x.id FROM sections x JOIN sources s ON s.id = x.source",
        // A filter may admit a section but not the section that contains it.
        holds: "x.parent IS NOT NULL AND EXISTS (SELECT 1 FROM sections p WHERE p.id = x.parent)",
        order: "s.uri, x.ordinal",
        from: "x.source = (SELECT p.source FROM sections p WHERE p.id = ?1) AND x.parent = ?1",
        to: "x.id = ?1",
    },
    Kind {
        edge: EdgeKind::Contains,
        select: "SELECT coalesce(c.section, s.id), c.id FROM chunks c JOIN sources s ON s.id = c.source",
        holds: "true",
        order: "s.uri, c.ordinal",
        from: "(c.section = ?1 OR (c.source = ?1 AND c.section IS NULL))",
        to: "c.id = ?1",
    },
    Kind {
        edge: EdgeKind::Next,
        select: "SELECT a.id, b.id FROM chunks a JOIN chunks b ON b.source = a.source AND b.ordinal = a.ordinal + 1
            JOIN sources s ON s.id = a.source",
        holds: "true",
        order: "s.uri, a.ordinal",
        from: "a.id = ?1",
        to: "b.id = ?1 AND a.ordinal = b.ordinal - 1",
    },
];

const BEFORE_TAGS: [Kind; 4] = [
    Kind {
        edge: EdgeKind::Answers,
        select: "SELECT a.id, a.chunk FROM atoms a JOIN chunks c ON c.id = a.chunk JOIN sources s ON s.id = c.source",
        holds: "true",
        order: "s.uri, c.ordinal, a.kind, a.ordinal, a.id",
        from: "a.id = ?1",
        to: "a.chunk = ?1",
    },
    Kind {
        edge: EdgeKind::Mentions,
        select: "SELECT chunk, entity FROM entity_mentions",
        holds: "true",
        order: "chunk, entity",
        from: "chunk = ?1",
        to: "entity = ?1",
    },
    Kind {
        edge: EdgeKind::Relates,
        select: "SELECT subject, object FROM relations",
        // The same holds for the entities of a relation.
        holds: "EXISTS (SELECT 1 FROM entities e WHERE e.id = subject)
            AND EXISTS (SELECT 1 FROM entities e WHERE e.id = object)",
        order: "id",
        from: "subject = ?1",
        to: "object = ?1",
    },
    Kind {
        edge: EdgeKind::MemberOf,
        select: "SELECT entity, community FROM members",
        holds: "true",
        order: "community, entity",
        from: "entity = ?1",
        to: "community = ?1",
    },
];

const AFTER_TAGS: [Kind; 4] = [
    Kind {
        edge: EdgeKind::DerivedFrom,
        select: "SELECT relation, chunk FROM relation_mentions",
        holds: "true",
        order: "relation, chunk",
        from: "relation = ?1",
        to: "chunk = ?1",
    },
    Kind {
        edge: EdgeKind::DerivedFrom,
        select: "SELECT r.id, r.chunk FROM records r JOIN chunks c ON c.id = r.chunk JOIN sources s ON s.id = c.source",
        holds: "true",
        order: "s.uri, c.ordinal, r.schema, r.ordinal, r.id",
        from: "r.id = ?1",
        to: "r.chunk = ?1",
    },
    Kind {
        edge: EdgeKind::DerivedFrom,
        select: "SELECT summary, coalesce(chunk, child) FROM summary_children",
        holds: "true",
        order: "summary, ordinal",
        from: "summary = ?1",
        to: "(chunk = ?1 OR child = ?1)",
    },
    Kind {
        edge: EdgeKind::DerivedFrom,
        select: "SELECT v.verified, v.chunk FROM verified_chunks v JOIN chunks c ON c.id = v.chunk",
        holds: "v.is_ground",
        order: "v.verified, v.chunk",
        from: "v.verified = ?1",
        to: "v.chunk = ?1",
    },
];

/// All edges.
pub(super) fn all(connection: &Connection, emit: Emit<'_>) -> Result<(), StoreError> {
    BEFORE_REFERENCES.iter().try_for_each(|kind| kind.all(connection, emit))?;
    for source in sources(connection).context("exporting references")? {
        let found = references::from(connection, source).context("exporting references")?;
        found.iter().try_for_each(|found| emit(reference(found)))?;
    }
    BEFORE_TAGS.iter().try_for_each(|kind| kind.all(connection, emit))?;
    each(connection, &format!("{TAGGED} ORDER BY chunk, class, key"), None, emit, tag_edge)?;
    AFTER_TAGS.iter().try_for_each(|kind| kind.all(connection, emit))
}

/// The edges from and to these nodes; an edge between two of them occurs twice.
pub(super) fn of(connection: &Connection, ids: &[u64]) -> Result<Vec<ExportLine>, StoreError> {
    let doing = "reading references";
    let mut found = Vec::new();
    let mut emit = |line| {
        found.push(line);
        Ok(())
    };
    for id in ids {
        for kind in BEFORE_REFERENCES.iter().chain(&BEFORE_TAGS).chain(&AFTER_TAGS) {
            kind.of(connection, *id, &mut emit)?;
        }
        for found in references::from(connection, SourceId(*id)).context(doing)? {
            emit(reference(&found))?;
        }
        for found in references::to(connection, SourceId(*id)).context(doing)? {
            emit(reference(&found))?;
        }
        each(connection, &format!("{TAGGED} WHERE chunk = ?1"), Some(*id), &mut emit, tag_edge)?;
    }
    for (class, key) in tags_among(connection, ids).context("reading tags")? {
        let sql = format!("{TAGGED} WHERE class = {} AND key = ?1", class.cast_signed());
        each(connection, &sql, Some(key), &mut emit, tag_edge)?;
    }
    Ok(found)
}

impl Kind {
    fn all(&self, connection: &Connection, emit: Emit<'_>) -> Result<(), StoreError> {
        let Self { select, holds, order, .. } = self;
        let sql = format!("{select} WHERE {holds} ORDER BY {order}");
        each(connection, &sql, None, emit, |row| self.line(row))
    }

    fn of(&self, connection: &Connection, id: u64, emit: Emit<'_>) -> Result<(), StoreError> {
        let Self { select, holds, from, to, .. } = self;
        let sql = format!("{select} WHERE {holds} AND {from}");
        each(connection, &sql, Some(id), emit, |row| self.line(row))?;
        let sql = format!("{select} WHERE {holds} AND {to}");
        each(connection, &sql, Some(id), emit, |row| self.line(row))
    }

    fn line(&self, row: &Row<'_>) -> rusqlite::Result<ExportLine> {
        Ok(json!({ "edge": self.edge, "from": hex(row, 0)?, "to": hex(row, 1)? }))
    }
}

const TAGGED: &str = "SELECT chunk, class, key FROM chunk_tags";

/// A row of [`TAGGED`].
fn tag_edge(row: &Row<'_>) -> rusqlite::Result<ExportLine> {
    let tag = TagId::of(TagClassId(rows::id(row, 1)?), rows::id(row, 2)?);
    Ok(json!({ "edge": EdgeKind::Tagged, "from": hex(row, 0)?, "to": tag }))
}

/// Class and key of each of these nodes that is a tag. No row has a tag's identifier, because it is
/// computed from the two.
fn tags_among(connection: &Connection, ids: &[u64]) -> rusqlite::Result<Vec<(u64, u64)>> {
    let mut statement = connection.prepare_cached("SELECT DISTINCT class, key FROM chunk_tags")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (class, key) = (rows::id(row, 0)?, rows::id(row, 1)?);
        if ids.contains(&TagId::of(TagClassId(class), key).0) {
            found.push((class, key));
        }
    }
    Ok(found)
}

fn sources(connection: &Connection) -> rusqlite::Result<Vec<SourceId>> {
    connection
        .prepare_cached("SELECT id FROM sources ORDER BY uri")?
        .query_map([], |row| Ok(SourceId(rows::id(row, 0)?)))?
        .collect()
}

/// An edge between documents, with the chunk that carries it.
fn reference(found: &Reference) -> ExportLine {
    json!({
        "edge": EdgeKind::RefersTo, "from": found.from, "to": found.to, "how": found.how, "chunk": found.chunk,
    })
}

pub(super) fn hex(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(format!("{:016x}", rows::id(row, column)?))
}
