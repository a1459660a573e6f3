//! What does the whole graph look like as lines? Nodes, then edges, each in a fixed order, so that
//! two bases with the same content export the same bytes.

use pikerag_knowledge::{
    EdgeKind, EntityId, RelationId, SourceId, StoreError, SummaryId, TagClassId, TagId,
};
use rusqlite::Connection;
use serde::Serialize;
use serde_json::json;

use super::{Base, graph, records, references, rows, tags, tree, verified};
use crate::error::Context;

/// One line of an export: a JSON object with `node` or `edge` saying what it is.
pub type ExportLine = serde_json::Value;

impl Base {
    /// Hands the whole graph to `line`, node by node and edge by edge. The ledger is not part of it.
    ///
    /// # Errors
    /// The base cannot be read, or `line` fails (a full disk, a closed pipe).
    pub fn export(
        &self,
        mut line: impl FnMut(ExportLine) -> std::io::Result<()>,
    ) -> Result<(), StoreError> {
        self.inner.with_reader(|connection| {
            let snapshot = connection.unchecked_transaction().context("exporting")?;
            let mut emit = |value: ExportLine| line(value).context("writing the export");
            nodes(&snapshot, &mut emit)?;
            edges(&snapshot, &mut emit)
        })
    }

    /// As [`Base::export`], for the edges alone: told without reading any text.
    ///
    /// # Errors
    /// As [`Base::export`].
    pub fn export_edges(
        &self,
        mut line: impl FnMut(ExportLine) -> std::io::Result<()>,
    ) -> Result<(), StoreError> {
        self.inner.with_reader(|connection| {
            let snapshot = connection.unchecked_transaction().context("exporting")?;
            edges(&snapshot, &mut |value| line(value).context("writing the export"))
        })
    }
}

type Emit<'a> = &'a mut dyn FnMut(ExportLine) -> Result<(), StoreError>;

/// Runs a query and hands each row, made into a line, on.
fn each(
    connection: &Connection,
    sql: &str,
    emit: Emit<'_>,
    make: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<ExportLine>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare(sql).context("exporting")?;
    let mut rows = statement.query([]).context("exporting")?;
    while let Some(row) = rows.next().context("exporting")? {
        emit(make(row).context("exporting")?)?;
    }
    Ok(())
}

fn nodes(connection: &Connection, emit: Emit<'_>) -> Result<(), StoreError> {
    let sources = "SELECT id, uri, title, media_type, hash, language, metadata, summary, text FROM sources ORDER BY uri";
    each(connection, sources, emit, |row| {
        let text: String = row.get(8)?;
        Ok(tagged("source", &rows::source(row)?, &[("text", json!(text))]))
    })?;
    let sections = "SELECT x.id, x.source, x.parent, x.ordinal, x.level, x.heading
                    FROM sections x JOIN sources s ON s.id = x.source ORDER BY s.uri, x.ordinal";
    each(connection, sections, emit, |row| {
        let parent: Option<i64> = row.get(2)?;
        Ok(json!({
            "node": "section", "id": hex(row, 0)?, "source": hex(row, 1)?,
            "parent": parent.map(|id| format!("{:016x}", id.cast_unsigned())),
            "ordinal": row.get::<_, u32>(3)?, "level": row.get::<_, u8>(4)?, "heading": row.get::<_, String>(5)?,
        }))
    })?;
    let chunks = format!(
        "SELECT {}, v.embedder FROM chunks c JOIN sources s ON s.id = c.source
         LEFT JOIN chunk_vectors v ON v.node = c.id ORDER BY s.uri, c.ordinal",
        rows::CHUNK_COLUMNS
    );
    each(connection, &chunks, emit, |row| {
        let embedder: Option<String> = row.get("embedder")?;
        Ok(tagged("chunk", &rows::chunk(row)?, &[("embedder", json!(embedder))]))
    })?;
    let atoms = "SELECT a.id, a.chunk, a.kind, a.text, v.embedder FROM atoms a
                 JOIN chunks c ON c.id = a.chunk JOIN sources s ON s.id = c.source
                 LEFT JOIN atom_vectors v ON v.node = a.id ORDER BY s.uri, c.ordinal, a.kind, a.ordinal, a.id";
    each(connection, atoms, emit, |row| {
        let embedder: Option<String> = row.get(4)?;
        Ok(tagged("atom", &rows::atom(row)?, &[("embedder", json!(embedder))]))
    })?;
    let records = format!("{} {}", records::RECORDS, records::IN_ORDER);
    each(connection, &records, emit, |row| Ok(tagged("record", &records::record(row)?, &[])))?;
    distilled(connection, emit)
}

/// Entities, relations, communities with their reports, summaries, tags, verified answers: each kind by identifier.
fn distilled(connection: &Connection, emit: Emit<'_>) -> Result<(), StoreError> {
    let entities = "SELECT e.id, v.embedder FROM entities e LEFT JOIN entity_vectors v ON v.node = e.id ORDER BY e.id";
    each(connection, entities, emit, |row| {
        let entity = graph::entity(connection, EntityId(rows::id(row, 0)?))?;
        let embedder: Option<String> = row.get(1)?;
        Ok(tagged("entity", &entity, &[("embedder", json!(embedder))]))
    })?;
    each(connection, "SELECT id FROM relations ORDER BY id", emit, |row| {
        let relation = graph::relation(connection, RelationId(rows::id(row, 0)?))?;
        Ok(tagged("relation", &relation, &[]))
    })?;
    for community in graph::communities(connection, None).context("exporting")? {
        emit(tagged("community", &community, &[]))?;
    }
    let summaries = "SELECT x.id, v.embedder FROM summaries x
                     LEFT JOIN summary_vectors v ON v.node = x.id ORDER BY x.level, x.id";
    each(connection, summaries, emit, |row| {
        let summary = tree::summaries(connection, &[SummaryId(rows::id(row, 0)?)])?;
        let embedder: Option<String> = row.get(1)?;
        Ok(tagged("summary", &summary.first(), &[("embedder", json!(embedder))]))
    })?;
    let tags = "SELECT t.class, t.key, count(*), k.name FROM chunk_tags t JOIN tag_classes k ON k.id = t.class
                GROUP BY t.class, t.key ORDER BY k.name, t.class, t.key";
    each(connection, tags, emit, |row| {
        let class: String = row.get(3)?;
        Ok(tagged("tag", &tags::count(connection, row)?, &[("class_name", json!(class))]))
    })?;
    let said = verified::all(connection, verified::BY_IDENTIFIER).context("exporting")?;
    said.iter().try_for_each(|kept| emit(tagged("verified_answer", kept, &[])))
}

fn edges(connection: &Connection, emit: Emit<'_>) -> Result<(), StoreError> {
    let contains =
        "SELECT s.id, x.id FROM sections x JOIN sources s ON s.id = x.source WHERE x.parent IS NULL
                    ORDER BY s.uri, x.ordinal";
    each(connection, contains, emit, |row| edge(row, EdgeKind::Contains))?;
    let contains = "SELECT x.parent, x.id FROM sections x JOIN sources s ON s.id = x.source
                    WHERE x.parent IS NOT NULL ORDER BY s.uri, x.ordinal";
    each(connection, contains, emit, |row| edge(row, EdgeKind::Contains))?;
    let contains =
        "SELECT coalesce(c.section, s.id), c.id FROM chunks c JOIN sources s ON s.id = c.source
                    ORDER BY s.uri, c.ordinal";
    each(connection, contains, emit, |row| edge(row, EdgeKind::Contains))?;
    let next = "SELECT a.id, b.id FROM chunks a JOIN chunks b ON b.source = a.source AND b.ordinal = a.ordinal + 1
                JOIN sources s ON s.id = a.source ORDER BY s.uri, a.ordinal";
    each(connection, next, emit, |row| edge(row, EdgeKind::Next))?;
    references(connection, emit)?;
    let answers = "SELECT a.id, a.chunk FROM atoms a JOIN chunks c ON c.id = a.chunk
                   JOIN sources s ON s.id = c.source ORDER BY s.uri, c.ordinal, a.kind, a.ordinal, a.id";
    each(connection, answers, emit, |row| edge(row, EdgeKind::Answers))?;
    let mentions = "SELECT chunk, entity FROM entity_mentions ORDER BY chunk, entity";
    each(connection, mentions, emit, |row| edge(row, EdgeKind::Mentions))?;
    let relates = "SELECT subject, object FROM relations ORDER BY id";
    each(connection, relates, emit, |row| edge(row, EdgeKind::Relates))?;
    let member_of = "SELECT entity, community FROM members ORDER BY community, entity";
    each(connection, member_of, emit, |row| edge(row, EdgeKind::MemberOf))?;
    let bears = "SELECT chunk, class, key FROM chunk_tags ORDER BY chunk, class, key";
    each(connection, bears, emit, |row| {
        let tag = TagId::of(TagClassId(rows::id(row, 1)?), rows::id(row, 2)?);
        Ok(json!({ "edge": EdgeKind::Tagged, "from": hex(row, 0)?, "to": tag }))
    })?;
    let derived = "SELECT relation, chunk FROM relation_mentions ORDER BY relation, chunk";
    each(connection, derived, emit, |row| edge(row, EdgeKind::DerivedFrom))?;
    let derived = "SELECT r.id, r.chunk FROM records r JOIN chunks c ON c.id = r.chunk
                   JOIN sources s ON s.id = c.source ORDER BY s.uri, c.ordinal, r.schema, r.ordinal, r.id";
    each(connection, derived, emit, |row| edge(row, EdgeKind::DerivedFrom))?;
    let derived =
        "SELECT summary, coalesce(chunk, child) FROM summary_children ORDER BY summary, ordinal";
    each(connection, derived, emit, |row| edge(row, EdgeKind::DerivedFrom))?;
    let derived =
        "SELECT v.verified, v.chunk FROM verified_chunks v JOIN chunks c ON c.id = v.chunk
                   WHERE v.is_ground ORDER BY v.verified, v.chunk";
    each(connection, derived, emit, |row| edge(row, EdgeKind::DerivedFrom))
}

/// Edges between documents, each with the chunk that carries it.
fn references(connection: &Connection, emit: Emit<'_>) -> Result<(), StoreError> {
    let doing = "exporting references";
    let sources: Vec<SourceId> = connection
        .prepare("SELECT id FROM sources ORDER BY uri")
        .context(doing)?
        .query_map([], |row| Ok(SourceId(rows::id(row, 0)?)))
        .and_then(Iterator::collect)
        .context(doing)?;
    for source in sources {
        for found in references::from(connection, source).context(doing)? {
            emit(json!({
                "edge": EdgeKind::RefersTo, "from": found.from, "to": found.to,
                "how": found.how, "chunk": found.chunk,
            }))?;
        }
    }
    Ok(())
}

fn edge(row: &rusqlite::Row<'_>, kind: EdgeKind) -> rusqlite::Result<ExportLine> {
    Ok(json!({ "edge": kind, "from": hex(row, 0)?, "to": hex(row, 1)? }))
}

fn hex(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(format!("{:016x}", rows::id(row, column)?))
}

/// A node as a JSON object that says first what it is.
fn tagged(kind: &str, node: &impl Serialize, more: &[(&str, serde_json::Value)]) -> ExportLine {
    let mut line = serde_json::Map::from_iter([("node".to_owned(), json!(kind))]);
    if let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(node) {
        line.extend(fields);
    }
    line.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    ExportLine::Object(line)
}
