//! Stores typed records beside the chunk that they were read from; they are deleted with it.

use std::collections::BTreeSet;

use pikerag_knowledge::{
    ChunkId, DeclaredSchema, InChunk, Record, RecordId, SchemaHash, SourceId, Span,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::rows;
use super::rows::limit_of;

/// Reads records from `records r JOIN chunks c ON c.id = r.chunk JOIN sources s ON s.id = c.source`.
pub(super) const RECORDS: &str =
    "SELECT r.id, r.schema, r.chunk, c.source, s.uri, c.page, c.span_start + r.span_start, \
     c.span_start + r.span_end, r.origin, r.fields
     FROM records r JOIN chunks c ON c.id = r.chunk JOIN sources s ON s.id = c.source";
/// Puts records in the order of documents.
pub(super) const IN_ORDER: &str = "ORDER BY s.uri, c.ordinal, r.schema, r.ordinal, r.id";

/// Stores the records of a chunk, in place of those of an earlier declaration, and marks the stage as finished for it.
pub(super) fn put(
    tx: &Transaction<'_>,
    stage: &str,
    declared: SchemaHash,
    found: &InChunk<Vec<Record>>,
) -> rusqlite::Result<()> {
    if insert(tx, declared, found)? {
        tx.prepare_cached(
            "INSERT INTO progress(stage, chunk) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?
        .execute(params![stage, found.chunk.0.cast_signed()])?;
    }
    Ok(())
}

/// Stores the records of a chunk, if the chunk still exists. Returns whether it does.
pub(super) fn insert(
    tx: &Transaction<'_>,
    declared: SchemaHash,
    found: &InChunk<Vec<Record>>,
) -> rusqlite::Result<bool> {
    let InChunk { chunk, found } = found;
    let id = chunk.0.cast_signed();
    // Its document may have been deleted while the model ran.
    let start: Option<i64> = tx
        .prepare_cached("SELECT span_start FROM chunks WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let Some(start) = start else { return Ok(false) };
    let mut insert = tx.prepare_cached(
        "INSERT INTO records(id, chunk, schema, declared, ordinal, span_start, span_end, origin, fields)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT(id) DO UPDATE SET
           declared = excluded.declared, ordinal = excluded.ordinal, span_start = excluded.span_start,
           span_end = excluded.span_end, origin = excluded.origin, fields = excluded.fields",
    )?;
    for (ordinal, record) in found.iter().enumerate() {
        let fields = serde_json::to_string(&record.fields)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        insert.execute(params![
            record.id.0.cast_signed(),
            id,
            record.schema,
            declared.0.cast_signed(),
            limit_of(ordinal),
            limit_of(record.span.start) - start,
            limit_of(record.span.end) - start,
            record.origin.as_str(),
            fields
        ])?;
    }
    Ok(true)
}

/// Deletes the records and marks of schemas that are no longer declared, and schemas of questions whose name is declared
/// now. Returns how many records were deleted.
pub(super) fn keep(tx: &Transaction<'_>, declared: &[DeclaredSchema]) -> rusqlite::Result<usize> {
    let mut dropped = 0;
    for DeclaredSchema { name, .. } in declared {
        let of_question = "declared = (SELECT hash FROM structured WHERE name = ?1)";
        dropped += tx
            .prepare_cached(&format!("DELETE FROM records WHERE schema = ?1 AND {of_question}"))?
            .execute([name])?;
        tx.prepare_cached("DELETE FROM structured WHERE name = ?1")?.execute([name])?;
    }
    let held: Vec<(String, i64)> = tx
        .prepare_cached(
            "SELECT DISTINCT schema, declared FROM records
             WHERE declared NOT IN (SELECT hash FROM structured)",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (schema, hash) in held {
        if !declared.iter().any(|held| held.name == schema && held.hash.0 == hash.cast_unsigned()) {
            dropped += tx
                .prepare_cached("DELETE FROM records WHERE schema = ?1 AND declared = ?2")?
                .execute(params![schema, hash])?;
        }
    }
    let stages: BTreeSet<String> = tx
        .prepare_cached(
            "SELECT DISTINCT stage FROM progress WHERE stage >= 'records:' AND stage < 'records;'",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for stage in stages {
        let is_of = |DeclaredSchema { name, hash }: &DeclaredSchema| {
            stage.starts_with(&format!("records:{name}:{:016x}:", hash.0))
        };
        if !declared.iter().any(is_of) {
            tx.prepare_cached("DELETE FROM progress WHERE stage = ?1")?.execute([&stage])?;
        }
    }
    Ok(dropped)
}

/// All records, or those under one schema.
pub(super) fn all(connection: &Connection, schema: Option<&str>) -> rusqlite::Result<Vec<Record>> {
    let sql = format!("{RECORDS} WHERE ?1 IS NULL OR r.schema = ?1 {IN_ORDER}");
    connection.prepare_cached(&sql)?.query_map([schema], record)?.collect()
}

/// The records of these chunks, in the order of documents.
pub(super) fn of_chunks(
    connection: &Connection,
    chunks: &[ChunkId],
) -> rusqlite::Result<Vec<Record>> {
    let keys: Vec<i64> = chunks.iter().map(|chunk| chunk.0.cast_signed()).collect();
    let keys = serde_json::to_string(&keys)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let sql = format!("{RECORDS} WHERE r.chunk IN (SELECT value FROM json_each(?1)) {IN_ORDER}");
    connection.prepare_cached(&sql)?.query_map([keys], record)?.collect()
}

/// Reads a row of [`RECORDS`].
pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let origin: String = row.get(8)?;
    let bad = || {
        let reason = format!("`{origin}` is not an origin that this version knows");
        rusqlite::Error::FromSqlConversionFailure(8, Type::Text, reason.into())
    };
    Ok(Record {
        id: RecordId(rows::id(row, 0)?),
        schema: row.get(1)?,
        chunk: ChunkId(rows::id(row, 2)?),
        source: SourceId(rows::id(row, 3)?),
        uri: row.get(4)?,
        page: row.get(5)?,
        span: Span { start: rows::size(row, 6)?, end: rows::size(row, 7)? },
        origin: origin.parse().map_err(|_| bad())?,
        fields: rows::json(row, 9)?,
    })
}
