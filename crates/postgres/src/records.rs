//! Reads records, and inserts those of chunks that still exist.

use std::collections::HashMap;
use std::slice;

use pikerag_knowledge::{ChunkId, InChunk, Record, RecordId, SchemaHash, SourceId};
use tokio_postgres::Row;

use crate::batches::batches;
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
pub(crate) async fn insert_all(
    tx: &Tx,
    declared: SchemaHash,
    all: &[InChunk<Vec<Record>>],
) -> Sql<Vec<i64>> {
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
