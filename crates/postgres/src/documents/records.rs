//! Stores typed records beside the chunk that they were read from; they are deleted with it.

use std::collections::HashMap;
use std::slice;

use pikerag_knowledge::{ChunkId, DeclaredSchema, InChunk, Record, RecordId, SchemaHash, SourceId};
use tokio_postgres::Row;

use super::batches::batches;
use super::progress;
use crate::fault::Sql;
use crate::rows::{self, Text, number, signed, to_json, unknown};
use crate::tx::Tx;

/// Reads records from `records r JOIN chunks c ON c.id = r.chunk JOIN sources s ON s.id = c.source`.
pub(crate) const RECORDS: &str =
    "SELECT r.id, r.schema, r.chunk, c.source, s.uri, c.page, c.span_start + r.span_start, \
     c.span_start + r.span_end, r.origin, r.fields
     FROM records r JOIN chunks c ON c.id = r.chunk JOIN sources s ON s.id = c.source";
/// Puts records in the order of documents.
pub(crate) const IN_ORDER: &str = "ORDER BY s.uri, c.ordinal, r.schema, r.ordinal, r.id";

/// Stores the records of chunks, in place of those of an earlier declaration, and marks the stage
/// as finished for them.
pub(super) async fn put(
    tx: &Tx,
    stage: &str,
    declared: SchemaHash,
    found: &[InChunk<Vec<Record>>],
) -> Sql<()> {
    let chunks = insert_all(tx, declared, found).await?;
    progress::mark(tx, stage, &chunks).await
}

/// Stores the records of a chunk, if the chunk still exists. Returns whether it does.
pub(crate) async fn insert(
    tx: &Tx,
    declared: SchemaHash,
    found: &InChunk<Vec<Record>>,
) -> Sql<bool> {
    Ok(!insert_all(tx, declared, slice::from_ref(found)).await?.is_empty())
}

/// A record with its chunk, the start of that chunk, and its place among those of the chunk.
struct Placed<'a> {
    chunk: ChunkId,
    start: i64,
    ordinal: usize,
    record: &'a Record,
}

/// Stores the records of those chunks that still exist. Returns these chunks.
async fn insert_all(tx: &Tx, declared: SchemaHash, all: &[InChunk<Vec<Record>>]) -> Sql<Vec<i64>> {
    // Documents may have been deleted while the model ran.
    let chunks = signed(all.iter().map(|it| it.chunk.0));
    let sql = "SELECT id, span_start FROM chunks WHERE id = ANY($1::bigint[])";
    let mut starts: HashMap<i64, i64> = HashMap::new();
    for row in tx.all(sql, &[&chunks]).await? {
        starts.insert(row.try_get(0)?, row.try_get(1)?);
    }
    let mut placed = Vec::new();
    for InChunk { chunk, found } in all {
        let Some(start) = starts.get(&chunk.0.cast_signed()).copied() else { continue };
        let of_chunk = found.iter().enumerate();
        placed.extend(of_chunk.map(|(ordinal, record)| Placed {
            chunk: *chunk,
            start,
            ordinal,
            record,
        }));
    }
    let sql = "INSERT INTO records (id, chunk, schema, ordinal, span_start, span_end, origin, fields, declared)
         SELECT w.*, $9::bigint FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[],
           $5::bigint[], $6::bigint[], $7::text[], $8::text[]) AS w
         ON CONFLICT (base, id) DO UPDATE SET declared = excluded.declared, ordinal = excluded.ordinal,
           span_start = excluded.span_start, span_end = excluded.span_end, origin = excluded.origin,
           fields = excluded.fields";
    let declared = declared.0.cast_signed();
    for batch in batches(&placed, |it| (it.record.id, 0)) {
        let ids = signed(batch.iter().map(|it| it.record.id.0));
        let chunks = signed(batch.iter().map(|it| it.chunk.0));
        let schemas = Text::all(batch.iter().map(|it| &it.record.schema));
        let ordinals: Vec<i64> = batch.iter().map(|it| number(it.ordinal)).collect();
        // Within the chunk, so that a record moves with it.
        let start = |it: &Placed<'_>| number(it.record.span.start) - it.start;
        let end = |it: &Placed<'_>| number(it.record.span.end) - it.start;
        let starts: Vec<i64> = batch.iter().map(start).collect();
        let ends: Vec<i64> = batch.iter().map(end).collect();
        let origins: Vec<&str> = batch.iter().map(|it| it.record.origin.as_str()).collect();
        let fields = batch.iter().map(|it| to_json(&it.record.fields));
        let fields = fields.collect::<Sql<Vec<String>>>()?;
        tx.run(
            sql,
            &[&ids, &chunks, &schemas, &ordinals, &starts, &ends, &origins, &fields, &declared],
        )
        .await?;
    }
    Ok(starts.into_keys().collect())
}

/// Deletes the records and marks of schemas that are no longer declared, and schemas of questions
/// whose name is declared now. Returns how many records were deleted.
pub(super) async fn keep(tx: &Tx, declared: &[DeclaredSchema]) -> Sql<usize> {
    let names = Text::all(declared.iter().map(|held| &held.name));
    let sql = "DELETE FROM records WHERE (schema, declared) IN
             (SELECT name, hash FROM structured WHERE name = ANY($1::text[]))";
    let mut dropped = tx.run(sql, &[&names]).await?;
    tx.run("DELETE FROM structured WHERE name = ANY($1::text[])", &[&names]).await?;
    let sql = "SELECT DISTINCT schema, declared FROM records
         WHERE declared NOT IN (SELECT hash FROM structured)";
    let (mut schemas, mut hashes) = (Vec::new(), Vec::new());
    for row in tx.all(sql, &[]).await? {
        let (schema, hash) = (rows::text(&row, 0)?, rows::id(&row, 1)?);
        if !declared.iter().any(|held| held.name == schema && held.hash.0 == hash) {
            schemas.push(schema);
            hashes.push(hash.cast_signed());
        }
    }
    let sql = "DELETE FROM records r USING unnest($1::text[], $2::bigint[]) AS w(schema, declared)
         WHERE r.schema = w.schema AND r.declared = w.declared";
    dropped += tx.run(sql, &[&Text::all(&schemas), &hashes]).await?;
    unmark(tx, declared).await?;
    Ok(usize::try_from(dropped).unwrap_or(usize::MAX))
}

/// Deletes the marks of schemas that are no longer declared.
async fn unmark(tx: &Tx, declared: &[DeclaredSchema]) -> Sql<()> {
    let kept: Vec<String> = declared
        .iter()
        .map(|held| format!("records:{}:{:016x}:", held.name, held.hash.0))
        .collect();
    let sql =
        "SELECT DISTINCT stage FROM progress WHERE stage >= 'records:' AND stage < 'records;'";
    let mut stages: Vec<String> = Vec::new();
    for row in tx.all(sql, &[]).await? {
        let stage: String = row.try_get(0)?;
        if !kept.iter().any(|begin| stage.starts_with(begin)) {
            stages.push(stage);
        }
    }
    tx.run("DELETE FROM progress WHERE stage = ANY($1::text[])", &[&stages]).await.map(drop)
}

/// All records, or those under one schema.
pub(super) async fn all(tx: &Tx, schema: Option<&str>) -> Sql<Vec<Record>> {
    let sql = format!("{RECORDS} WHERE ($1::text IS NULL OR r.schema = $1::text) {IN_ORDER}");
    tx.all(&sql, &[&schema.map(Text)]).await?.iter().map(record).collect()
}

/// The records of these chunks, in the order of documents.
pub(super) async fn of_chunks(tx: &Tx, chunks: &[ChunkId]) -> Sql<Vec<Record>> {
    let chunks = signed(chunks.iter().map(|chunk| chunk.0));
    let sql = format!("{RECORDS} WHERE r.chunk = ANY($1::bigint[]) {IN_ORDER}");
    tx.all(&sql, &[&chunks]).await?.iter().map(record).collect()
}

/// Reads a row of [`RECORDS`].
pub(crate) fn record(row: &Row) -> Sql<Record> {
    let origin: &str = row.try_get(8)?;
    Ok(Record {
        id: RecordId(rows::id(row, 0)?),
        schema: rows::text(row, 1)?,
        chunk: ChunkId(rows::id(row, 2)?),
        source: SourceId(rows::id(row, 3)?),
        uri: rows::text(row, 4)?,
        page: rows::optional_small(row, 5)?,
        span: rows::span(row, 6)?,
        origin: origin.parse().map_err(|_| unknown(origin))?,
        fields: rows::json(row, 9)?,
    })
}
