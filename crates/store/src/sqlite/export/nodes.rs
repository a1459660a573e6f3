//! Defines the kinds of nodes, and turns each node into a line.

use std::collections::HashSet;

use pikerag_knowledge::{EntityId, RelationId, StoreError, SummaryId};
use rusqlite::{Connection, Row};
use serde::Serialize;
use serde_json::json;

use super::super::{graph, records, rows, tags, tree, verified};
use super::line::{Emit, ExportLine, each};
use crate::error::Context;

/// A kind of node that a query reads row by row.
struct Kind {
    /// The query, up to `WHERE`.
    select: &'static str,
    /// The column of the identifier.
    id: &'static str,
    order: &'static str,
    make: fn(&Connection, &Row<'_>) -> rusqlite::Result<ExportLine>,
}

const SOURCES: Kind = Kind {
    // With a filter, a document's text is shown only if all of its chunks are visible.
    select: "SELECT id, uri, title, media_type, hash, language, metadata, summary,
            CASE WHEN EXISTS (SELECT 1 FROM main.chunks c WHERE c.source = sources.id
                AND NOT EXISTS (SELECT 1 FROM chunks seen WHERE seen.id = c.id)) THEN '' ELSE text END
        FROM sources",
    id: "id",
    order: "uri",
    make: |_, row| {
        let text: String = row.get(8)?;
        Ok(tagged("source", &rows::source(row)?, &[("text", json!(text))]))
    },
};

/// The same without the text, which may be long.
const DOCUMENTS: Kind = Kind {
    select: "SELECT id, uri, title, media_type, hash, language, metadata, summary FROM sources",
    make: |_, row| Ok(tagged("source", &rows::source(row)?, &[])),
    ..SOURCES
};

const SECTIONS: Kind = Kind {
    select: "SELECT x.id, x.source, x.parent, x.ordinal, x.level, x.heading
        FROM sections x JOIN sources s ON s.id = x.source",
    id: "x.id",
    order: "s.uri, x.ordinal",
    make: |_, row| {
        let parent: Option<i64> = row.get(2)?;
        Ok(json!({
            "node": "section", "id": super::edges::hex(row, 0)?, "source": super::edges::hex(row, 1)?,
            "parent": parent.map(|id| format!("{:016x}", id.cast_unsigned())),
            "ordinal": row.get::<_, u32>(3)?, "level": row.get::<_, u8>(4)?, "heading": row.get::<_, String>(5)?,
        }))
    },
};

const CHUNKS: Kind = Kind {
    // The columns of `rows::CHUNK_COLUMNS`.
    select: "SELECT c.id, c.source, s.uri, s.title, c.section, c.headings, c.ordinal, c.kind, c.text, c.span_start,
            c.span_end, c.page, c.cells, c.area, c.summary, c.hidden, c.boxes, v.embedder
        FROM chunks c JOIN sources s ON s.id = c.source LEFT JOIN chunk_vectors v ON v.node = c.id",
    id: "c.id",
    order: "s.uri, c.ordinal",
    make: |_, row| {
        let embedder: Option<String> = row.get("embedder")?;
        Ok(tagged("chunk", &rows::chunk(row)?, &[("embedder", json!(embedder))]))
    },
};

const ATOMS: Kind = Kind {
    select: "SELECT a.id, a.chunk, a.kind, a.text, v.embedder FROM atoms a
        JOIN chunks c ON c.id = a.chunk JOIN sources s ON s.id = c.source LEFT JOIN atom_vectors v ON v.node = a.id",
    id: "a.id",
    order: "s.uri, c.ordinal, a.kind, a.ordinal, a.id",
    make: |_, row| {
        let embedder: Option<String> = row.get(4)?;
        Ok(tagged("atom", &rows::atom(row)?, &[("embedder", json!(embedder))]))
    },
};

const RECORDS: Kind = Kind {
    select: records::RECORDS,
    id: "r.id",
    order: "s.uri, c.ordinal, r.schema, r.ordinal, r.id",
    make: |_, row| Ok(tagged("record", &records::record(row)?, &[])),
};

const ENTITIES: Kind = Kind {
    select: "SELECT e.id, v.embedder FROM entities e LEFT JOIN entity_vectors v ON v.node = e.id",
    id: "e.id",
    order: "e.id",
    make: |connection, row| {
        let entity = graph::entity(connection, EntityId(rows::id(row, 0)?))?;
        let embedder: Option<String> = row.get(1)?;
        Ok(tagged("entity", &entity, &[("embedder", json!(embedder))]))
    },
};

const RELATIONS: Kind = Kind {
    select: "SELECT id FROM relations",
    id: "id",
    order: "id",
    make: |connection, row| {
        let relation = graph::relation(connection, RelationId(rows::id(row, 0)?))?;
        Ok(tagged("relation", &relation, &[]))
    },
};

const SUMMARIES: Kind = Kind {
    select: "SELECT x.id, v.embedder FROM summaries x LEFT JOIN summary_vectors v ON v.node = x.id",
    id: "x.id",
    order: "x.level, x.id",
    make: |connection, row| {
        let summary = tree::summaries(connection, &[SummaryId(rows::id(row, 0)?)])?;
        let embedder: Option<String> = row.get(1)?;
        Ok(tagged("summary", &summary.first(), &[("embedder", json!(embedder))]))
    },
};

/// All nodes: documents, sections, chunks, atoms, records; then entities, relations, communities with their reports,
/// summaries, tags, verified answers.
pub(super) fn all(connection: &Connection, emit: Emit<'_>) -> Result<(), StoreError> {
    for kind in [&SOURCES, &SECTIONS, &CHUNKS, &ATOMS, &RECORDS, &ENTITIES, &RELATIONS] {
        kind.all(connection, emit)?;
    }
    communities(connection, emit)?;
    SUMMARIES.all(connection, emit)?;
    tags(connection, emit)?;
    verified_answers(connection, emit)
}

/// The nodes that have names.
pub(super) fn named(connection: &Connection, emit: Emit<'_>) -> Result<(), StoreError> {
    for kind in [&DOCUMENTS, &SECTIONS, &ENTITIES] {
        kind.all(connection, emit)?;
    }
    communities(connection, emit)?;
    tags(connection, emit)
}

/// The nodes with these identifiers.
pub(super) fn by_id(connection: &Connection, ids: &[u64]) -> Result<Vec<ExportLine>, StoreError> {
    let kinds =
        [&CHUNKS, &ATOMS, &DOCUMENTS, &SECTIONS, &RECORDS, &ENTITIES, &RELATIONS, &SUMMARIES];
    let mut found = Vec::with_capacity(ids.len());
    let mut others = HashSet::new();
    for id in ids {
        let before = found.len();
        for kind in kinds {
            kind.one(connection, *id, &mut found)?;
            if before < found.len() {
                break;
            }
        }
        if before == found.len() {
            others.insert(format!("{id:016x}"));
        }
    }
    if others.is_empty() {
        return Ok(found);
    }
    // There are few of these, and none of them is a row of its own.
    let mut among = |line: ExportLine| {
        if line.get("id").and_then(ExportLine::as_str).is_some_and(|id| others.contains(id)) {
            found.push(line);
        }
        Ok(())
    };
    communities(connection, &mut among)?;
    tags(connection, &mut among)?;
    verified_answers(connection, &mut among)?;
    Ok(found)
}

impl Kind {
    fn all(&self, connection: &Connection, emit: Emit<'_>) -> Result<(), StoreError> {
        let sql = format!("{} ORDER BY {}", self.select, self.order);
        each(connection, &sql, None, emit, |row| (self.make)(connection, row))
    }

    fn one(
        &self,
        connection: &Connection,
        id: u64,
        found: &mut Vec<ExportLine>,
    ) -> Result<(), StoreError> {
        let sql = format!("{} WHERE {} = ?1", self.select, self.id);
        let mut emit = |line| {
            found.push(line);
            Ok(())
        };
        each(connection, &sql, Some(id), &mut emit, |row| (self.make)(connection, row))
    }
}

fn communities(connection: &Connection, emit: Emit<'_>) -> Result<(), StoreError> {
    let found = graph::communities(connection, None).context("exporting")?;
    found.iter().try_for_each(|community| emit(tagged("community", community, &[])))
}

fn tags(connection: &Connection, emit: Emit<'_>) -> Result<(), StoreError> {
    let sql = "SELECT t.class, t.key, count(*), k.name FROM chunk_tags t JOIN tag_classes k ON k.id = t.class
               GROUP BY t.class, t.key ORDER BY k.name, t.class, t.key";
    each(connection, sql, None, emit, |row| {
        let class: String = row.get(3)?;
        Ok(tagged("tag", &tags::count(connection, row)?, &[("class_name", json!(class))]))
    })
}

fn verified_answers(connection: &Connection, emit: Emit<'_>) -> Result<(), StoreError> {
    let all = verified::all(connection, verified::BY_IDENTIFIER).context("exporting")?;
    all.iter().try_for_each(|kept| emit(tagged("verified_answer", kept, &[])))
}

/// A node as a JSON object that begins with its kind.
pub fn tagged(kind: &str, node: &impl Serialize, more: &[(&str, serde_json::Value)]) -> ExportLine {
    let mut line = serde_json::Map::from_iter([("node".to_owned(), json!(kind))]);
    if let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(node) {
        line.extend(fields);
    }
    line.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    ExportLine::Object(line)
}
