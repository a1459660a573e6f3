//! Stores records with the mark of their stage, reads them, and deletes those of schemas that are no longer declared.

use pikerag_knowledge::{ChunkId, DeclaredSchema, InChunk, Record, SchemaHash};

use super::progress;
use crate::fault::Sql;
use crate::records::{IN_ORDER, RECORDS, insert_all, record};
use crate::rows::{self, Text, signed};
use crate::tx::Tx;

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
