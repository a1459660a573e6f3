//! Stores schemas that questions derived, with the passages that they were derived from and those that were read under
//! them. The records themselves are stored like others.

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, InChunk, KeptSchema, ReadPassage, RecordSchema, RunId, StoreError, Structured,
    StructuredReader, StructuredWriter,
};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::base::Base;
use super::forget::forgotten_since;
use super::put::json;
use super::{records, rows};
use crate::error::{BaseProblem, Context};

#[async_trait]
impl StructuredReader for Base {
    async fn kept_schemas(&self) -> Result<Vec<KeptSchema>, StoreError> {
        self.querying("reading the schemas that questions derived", |connection| {
            connection
                .prepare_cached("SELECT schema, run, at FROM structured ORDER BY at DESC, name")?
                .query_map([], |row| {
                    Ok(KeptSchema {
                        schema: rows::json(row, 0)?,
                        run: RunId(row.get(1)?),
                        at: rows::id(row, 2)?,
                    })
                })?
                .collect()
        })
        .await
    }

    async fn passages_read(&self, schema: &RecordSchema) -> Result<Vec<ReadPassage>, StoreError> {
        let hash = schema.hash().0.cast_signed();
        self.querying("reading the passages of a schema", move |connection| {
            connection
                .prepare_cached(
                    "SELECT chunk, at, invented, incomplete FROM structured_reads WHERE structured = ?1",
                )?
                .query_map([hash], |row| {
                    Ok(ReadPassage {
                        chunk: ChunkId(rows::id(row, 0)?),
                        at: rows::id(row, 1)?,
                        invented: rows::size(row, 2)?,
                        incomplete: rows::size(row, 3)?,
                    })
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
                .map(|mut read| {
                    // The database orders identifiers as signed numbers.
                    read.sort_by_key(|passage| passage.chunk);
                    read
                })
        })
        .await
    }
}

#[async_trait]
impl StructuredWriter for Base {
    async fn put_structured(&self, structured: Structured) -> Result<bool, StoreError> {
        let (doing, began_at) = ("storing what a question structured", self.began_at());
        let is_kept = self.writing(doing, move |tx| {
            // What was read may have been forgotten meanwhile.
            if forgotten_since(tx)?(began_at) {
                return Ok(None);
            }
            put(tx, &structured).map(Some)
        });
        match is_kept.await? {
            Some(is_kept) => Ok(is_kept),
            None => Err(BaseProblem::Forgotten { folder: self.folder().to_owned() }).context(doing),
        }
    }
}

fn put(tx: &Transaction<'_>, structured: &Structured) -> rusqlite::Result<bool> {
    let Structured { kept, basis, read } = structured;
    let hash = kept.schema.hash();
    let id = hash.0.cast_signed();
    if !exists(tx, id)? && !begin(tx, kept, basis)? {
        return Ok(false);
    }
    for (passage, found) in read {
        let chunk = passage.chunk.0.cast_signed();
        tx.prepare_cached(
            "DELETE FROM records WHERE chunk = ?1 AND schema = ?2 AND declared = ?3",
        )?
        .execute(params![chunk, kept.schema.name, id])?;
        let found = InChunk { chunk: passage.chunk, found: found.clone() };
        if records::insert(tx, hash, &found)? {
            tx.prepare_cached(
                "INSERT OR REPLACE INTO structured_reads(structured, chunk, at, invented, incomplete)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                id,
                chunk,
                passage.at.cast_signed(),
                rows::limit_of(passage.invented),
                rows::limit_of(passage.incomplete)
            ])?;
        }
    }
    Ok(true)
}

fn exists(connection: &Connection, id: i64) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM structured WHERE hash = ?1")?.exists([id])
}

/// Stores a new schema. Returns whether it could.
fn begin(tx: &Transaction<'_>, kept: &KeptSchema, basis: &[ChunkId]) -> rusqlite::Result<bool> {
    let KeptSchema { schema, run, at } = kept;
    let mut is_there = tx.prepare_cached("SELECT 1 FROM chunks WHERE id = ?1")?;
    for chunk in basis {
        if !is_there.exists([chunk.0.cast_signed()])? {
            return Ok(false);
        }
    }
    let is_named: Option<i64> = tx
        .prepare_cached("SELECT 1 FROM structured WHERE name = ?1 UNION SELECT 1 FROM records WHERE schema = ?1")?
        .query_row([&schema.name], |row| row.get(0))
        .optional()?;
    if basis.is_empty() || is_named.is_some() {
        return Ok(false);
    }
    let id = schema.hash().0.cast_signed();
    tx.prepare_cached(
        "INSERT INTO structured(hash, name, at, run, schema) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![id, schema.name, at.cast_signed(), run.0, json(schema)?])?;
    let mut insert = tx.prepare_cached(
        "INSERT OR IGNORE INTO structured_basis(structured, chunk) VALUES (?1, ?2)",
    )?;
    for chunk in basis {
        insert.execute([id, chunk.0.cast_signed()])?;
    }
    tx.prepare_cached(
        "DELETE FROM structured WHERE hash NOT IN
         (SELECT hash FROM structured ORDER BY at DESC, name LIMIT ?1)",
    )?
    .execute([rows::limit_of(KeptSchema::MOST)])?;
    Ok(true)
}
