//! Defines the kinds of nodes, and turns each node into a line.

use std::collections::{HashMap, HashSet};

use futures::TryStreamExt;
use pikerag_store::ExportLine;
use pikerag_store::shared::tagged;
use serde_json::json;
use tokio_postgres::Row;

use super::super::{communities, entities, tags, tree, verified};
use super::Emit;
use super::edges::hex;
use crate::fault::Sql;
use crate::records;
use crate::rows;
use crate::tx::Tx;

/// A kind of node that one statement reads row by row. The identifier comes first in a row.
struct Kind {
    /// The statement, up to `WHERE`.
    select: &'static str,
    /// The column of the identifier.
    id: &'static str,
    order: &'static str,
    make: fn(&Row) -> Sql<ExportLine>,
}

const SOURCES: Kind = Kind {
    select: "SELECT id, uri, title, media_type, hash, language, metadata, summary, text FROM sources",
    id: "id",
    order: "uri",
    make: |row| {
        let text = rows::text(row, 8)?;
        Ok(tagged("source", &rows::source(row)?, &[("text", json!(text))]))
    },
};

/// The same with a filter: a document's text is shown only if all of its chunks are visible.
const VISIBLE_SOURCES: Kind = Kind {
    select: "SELECT id, uri, title, media_type, hash, language, metadata, summary,
            CASE WHEN EXISTS (SELECT 1 FROM pikerag_base.chunks c WHERE c.source = sources.id
                AND NOT EXISTS (SELECT 1 FROM pg_temp.admitted a WHERE a.chunk = c.id)) THEN '' ELSE text END
        FROM sources",
    ..SOURCES
};

/// The same without the text, which may be long.
const DOCUMENTS: Kind = Kind {
    select: "SELECT id, uri, title, media_type, hash, language, metadata, summary FROM sources",
    make: |row| Ok(tagged("source", &rows::source(row)?, &[])),
    ..SOURCES
};

const SECTIONS: Kind = Kind {
    select: "SELECT x.id, x.source, x.parent, x.ordinal, x.level, x.heading
        FROM sections x JOIN sources s ON s.id = x.source",
    id: "x.id",
    order: "s.uri, x.ordinal",
    make: |row| {
        let parent: Option<i64> = row.try_get(2)?;
        Ok(json!({
            "node": "section", "id": hex(row, 0)?, "source": hex(row, 1)?,
            "parent": parent.map(|id| format!("{:016x}", id.cast_unsigned())),
            "ordinal": rows::small::<u32>(row, 3)?, "level": rows::small::<u8>(row, 4)?,
            "heading": rows::text(row, 5)?,
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
    make: |row| Ok(tagged("chunk", &rows::chunk(row)?, &[("embedder", embedder(row, 17)?)])),
};

const ATOMS: Kind = Kind {
    select: "SELECT a.id, a.chunk, a.kind, a.text, v.embedder FROM atoms a
        JOIN chunks c ON c.id = a.chunk JOIN sources s ON s.id = c.source LEFT JOIN atom_vectors v ON v.node = a.id",
    id: "a.id",
    order: "s.uri, c.ordinal, a.kind, a.ordinal, a.id",
    make: |row| Ok(tagged("atom", &rows::atom(row)?, &[("embedder", embedder(row, 4)?)])),
};

const RECORDS: Kind = Kind {
    select: records::RECORDS,
    id: "r.id",
    order: "s.uri, c.ordinal, r.schema, r.ordinal, r.id",
    make: |row| Ok(tagged("record", &records::record(row)?, &[])),
};

/// A column with the name of an embedder, which is null before the node has a vector.
fn embedder(row: &Row, column: usize) -> Sql<serde_json::Value> {
    Ok(json!(rows::optional_text(row, column)?))
}

const ENTITIES: &str =
    "SELECT e.id, v.embedder FROM entities e LEFT JOIN entity_vectors v ON v.node = e.id";
const RELATIONS: &str = "SELECT e.id FROM relations e";
const SUMMARIES: &str =
    "SELECT e.id, v.embedder FROM summaries e LEFT JOIN summary_vectors v ON v.node = e.id";

/// Nodes that are read together where several statements are needed for them.
const BATCH: i64 = 1000;

/// All nodes: documents, sections, chunks, atoms, records; then entities, relations, communities with their reports,
/// summaries, tags, verified answers.
pub(super) async fn all(tx: &Tx, emit: Emit<'_>) -> Sql<()> {
    let sources = if tx.is_filtered() { &VISIBLE_SOURCES } else { &SOURCES };
    for kind in [sources, &SECTIONS, &CHUNKS, &ATOMS, &RECORDS] {
        kind.all(tx, emit).await?;
    }
    all_entities(tx, emit).await?;
    let mut after = None;
    while let Some(found) = next(tx, RELATIONS, &mut after).await? {
        relation_lines(tx, &found).await?.into_iter().try_for_each(|(_, line)| emit(line))?;
    }
    all_communities(tx, emit).await?;
    let summaries = tx.all(&format!("{SUMMARIES} ORDER BY e.level, e.id"), &[]).await?;
    for found in summaries.chunks(1000) {
        summary_lines(tx, found).await?.into_iter().try_for_each(|(_, line)| emit(line))?;
    }
    all_tags(tx, emit).await?;
    all_verified(tx, emit).await
}

/// The nodes that have names.
pub(super) async fn named(tx: &Tx, emit: Emit<'_>) -> Sql<()> {
    for kind in [&DOCUMENTS, &SECTIONS] {
        kind.all(tx, emit).await?;
    }
    all_entities(tx, emit).await?;
    all_communities(tx, emit).await?;
    all_tags(tx, emit).await
}

/// The nodes with these identifiers.
pub(super) async fn by_id(tx: &Tx, ids: &[u64]) -> Sql<Vec<ExportLine>> {
    let mut lines: HashMap<u64, ExportLine> = HashMap::with_capacity(ids.len());
    let mut missing = rows::signed(ids.iter().copied());
    for kind in [&CHUNKS, &ATOMS, &DOCUMENTS, &SECTIONS, &RECORDS] {
        if missing.is_empty() {
            break;
        }
        let sql = format!("{} WHERE {} = ANY($1)", kind.select, kind.id);
        for row in tx.all(&sql, &[&missing]).await? {
            lines.insert(rows::id(&row, 0)?, (kind.make)(&row)?);
        }
        missing.retain(|id| !lines.contains_key(&id.cast_unsigned()));
    }
    if !missing.is_empty() {
        let found = tx.all(&format!("{ENTITIES} WHERE e.id = ANY($1)"), &[&missing]).await?;
        lines.extend(entity_lines(tx, &found).await?);
        let found = tx.all(&format!("{RELATIONS} WHERE e.id = ANY($1)"), &[&missing]).await?;
        lines.extend(relation_lines(tx, &found).await?);
        let found = tx.all(&format!("{SUMMARIES} WHERE e.id = ANY($1)"), &[&missing]).await?;
        lines.extend(summary_lines(tx, &found).await?);
        missing.retain(|id| !lines.contains_key(&id.cast_unsigned()));
    }
    let mut found: Vec<ExportLine> = ids.iter().filter_map(|id| lines.get(id).cloned()).collect();
    if missing.is_empty() {
        return Ok(found);
    }
    let others: HashSet<String> =
        missing.into_iter().map(|id| format!("{:016x}", id.cast_unsigned())).collect();
    // There are few of these, and none of them is a row of its own.
    let mut among = |line: ExportLine| -> Sql<()> {
        if line.get("id").and_then(ExportLine::as_str).is_some_and(|id| others.contains(id)) {
            found.push(line);
        }
        Ok(())
    };
    all_communities(tx, &mut among).await?;
    all_tags(tx, &mut among).await?;
    all_verified(tx, &mut among).await?;
    Ok(found)
}

impl Kind {
    async fn all(&self, tx: &Tx, emit: Emit<'_>) -> Sql<()> {
        let sql = format!("{} ORDER BY {}", self.select, self.order);
        let mut found = tx.stream(&sql, &[]).await?;
        while let Some(row) = found.try_next().await? {
            emit((self.make)(&row)?)?;
        }
        Ok(())
    }
}

/// The next rows of `select` by identifier; `None` after the last one.
async fn next(tx: &Tx, select: &str, after: &mut Option<i64>) -> Sql<Option<Vec<Row>>> {
    let sql = format!("{select} WHERE $1 < e.id ORDER BY e.id LIMIT $2");
    let found = tx.all(&sql, &[&after.unwrap_or(i64::MIN), &BATCH]).await?;
    let Some(last) = found.last() else { return Ok(None) };
    *after = Some(last.try_get(0)?);
    Ok(Some(found))
}

async fn all_entities(tx: &Tx, emit: Emit<'_>) -> Sql<()> {
    let mut after = None;
    while let Some(found) = next(tx, ENTITIES, &mut after).await? {
        entity_lines(tx, &found).await?.into_iter().try_for_each(|(_, line)| emit(line))?;
    }
    Ok(())
}

/// A line for each row of [`ENTITIES`], with its identifier.
async fn entity_lines(tx: &Tx, found: &[Row]) -> Sql<Vec<(u64, ExportLine)>> {
    let ids = rows::ids(found)?;
    let known = entities::entities_by_id(tx, &rows::signed(ids.iter().copied())).await?;
    let mut lines = Vec::with_capacity(ids.len());
    for (id, row) in ids.into_iter().zip(found) {
        let line = tagged("entity", &known.get(&id), &[("embedder", embedder(row, 1)?)]);
        lines.push((id, line));
    }
    Ok(lines)
}

/// A line for each row of [`RELATIONS`], with its identifier.
async fn relation_lines(tx: &Tx, found: &[Row]) -> Sql<Vec<(u64, ExportLine)>> {
    let ids = rows::ids(found)?;
    let known = entities::relations_by_id(tx, &rows::signed(ids.iter().copied())).await?;
    Ok(ids.into_iter().map(|id| (id, tagged("relation", &known.get(&id), &[]))).collect())
}

/// A line for each row of [`SUMMARIES`], with its identifier.
async fn summary_lines(tx: &Tx, found: &[Row]) -> Sql<Vec<(u64, ExportLine)>> {
    let ids = rows::ids(found)?;
    let known = tree::summaries_by_id(tx, &rows::signed(ids.iter().copied())).await?;
    let mut lines = Vec::with_capacity(ids.len());
    for (id, row) in ids.into_iter().zip(found) {
        let line = tagged("summary", &known.get(&id), &[("embedder", embedder(row, 1)?)]);
        lines.push((id, line));
    }
    Ok(lines)
}

async fn all_communities(tx: &Tx, emit: Emit<'_>) -> Sql<()> {
    let found = communities::communities(tx, None).await?;
    found.iter().try_for_each(|community| emit(tagged("community", community, &[])))
}

async fn all_tags(tx: &Tx, emit: Emit<'_>) -> Sql<()> {
    let spelling = tags::SPELLING;
    let sql = format!(
        "SELECT f.class, f.key, f.chunks, x.text, f.name FROM (
             SELECT t.class, t.key, count(*) AS chunks, k.name
             FROM chunk_tags t JOIN tag_classes k ON k.id = t.class GROUP BY t.class, t.key, k.name) AS f {spelling}
         ORDER BY f.name, f.class, f.key"
    );
    for row in tx.all(&sql, &[]).await? {
        let class = rows::text(&row, 4)?;
        emit(tagged("tag", &tags::count(&row)?, &[("class_name", json!(class))]))?;
    }
    Ok(())
}

async fn all_verified(tx: &Tx, emit: Emit<'_>) -> Sql<()> {
    let found = verified::all(tx, verified::BY_IDENTIFIER).await?;
    found.iter().try_for_each(|kept| emit(tagged("verified_answer", kept, &[])))
}
