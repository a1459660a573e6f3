//! Stores schemas that questions derived, with the passages that they were derived from and those that were read under
//! them. The records themselves are stored like others.

use std::collections::HashMap;

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, InChunk, KeptSchema, ReadPassage, RecordSchema, RunId, StoreError, Structured,
    StructuredReader, StructuredWriter,
};
use pikerag_store::BaseProblem;

use super::existing;
use crate::base::Base;
use crate::error::Context;
use crate::fault::Sql;
use crate::meta::is_forgotten_since;
use crate::records;
use crate::rows::{self, Text};
use crate::tx::{Access, Tx};

#[async_trait]
impl StructuredReader for Base {
    async fn kept_schemas(&self) -> Result<Vec<KeptSchema>, StoreError> {
        self.reading("reading the schemas that questions derived", move |tx| async move {
            let sql = "SELECT schema, run, at FROM structured ORDER BY at DESC, name";
            let mut kept = Vec::new();
            for row in tx.all(sql, &[]).await? {
                let (schema, at) = (rows::json(&row, 0)?, rows::id(&row, 2)?);
                kept.push(KeptSchema { schema, run: RunId(row.try_get(1)?), at });
            }
            Ok(kept)
        })
        .await
    }

    async fn passages_read(&self, schema: &RecordSchema) -> Result<Vec<ReadPassage>, StoreError> {
        let hash = schema.hash().0.cast_signed();
        self.reading("reading the passages of a schema", move |tx| async move {
            let sql = "SELECT chunk, at, invented, incomplete FROM structured_reads WHERE structured = $1";
            let mut read = Vec::new();
            for row in tx.all(sql, &[&hash]).await? {
                read.push(ReadPassage {
                    chunk: ChunkId(rows::id(&row, 0)?),
                    at: rows::id(&row, 1)?,
                    invented: rows::size(&row, 2)?,
                    incomplete: rows::size(&row, 3)?,
                });
            }
            // The database orders identifiers as signed numbers.
            read.sort_by_key(|passage| passage.chunk);
            Ok(read)
        })
        .await
    }
}

#[async_trait]
impl StructuredWriter for Base {
    async fn put_structured(&self, structured: Structured) -> Result<bool, StoreError> {
        let (doing, began_at) = ("storing what a question structured", self.began_at());
        let is_kept = self.writing(doing, Access::Documents, move |tx| async move {
            // What was read may have been forgotten meanwhile.
            if is_forgotten_since(&tx, began_at).await? {
                return Ok(None);
            }
            put(&tx, &structured).await.map(Some)
        });
        match is_kept.await? {
            Some(is_kept) => Ok(is_kept),
            None => Err(BaseProblem::Forgotten { folder: self.folder().to_owned() }).context(doing),
        }
    }
}

async fn put(tx: &Tx, structured: &Structured) -> Sql<bool> {
    let Structured { kept, basis, read } = structured;
    let hash = kept.schema.hash();
    let id = hash.0.cast_signed();
    let known = "SELECT 1 FROM structured WHERE hash = $1";
    if !tx.exists(known, &[&id]).await? && !begin(tx, kept, basis).await? {
        return Ok(false);
    }
    let chunks = rows::signed(read.iter().map(|(passage, _)| passage.chunk.0));
    let sql = "DELETE FROM records WHERE chunk = ANY($1) AND schema = $2 AND declared = $3";
    tx.run(sql, &[&chunks, &Text(&kept.schema.name), &id]).await?;
    // The last reading of a passage counts.
    let last: HashMap<ChunkId, usize> =
        read.iter().enumerate().map(|(place, (passage, _))| (passage.chunk, place)).collect();
    let mut stored = Vec::with_capacity(read.len());
    for (place, (passage, found)) in read.iter().enumerate() {
        if last.get(&passage.chunk) != Some(&place) {
            continue;
        }
        let found = InChunk { chunk: passage.chunk, found: found.clone() };
        if records::insert(tx, hash, &found).await? {
            stored.push(passage);
        }
    }
    put_reads(tx, id, &stored).await?;
    Ok(true)
}

async fn put_reads(tx: &Tx, structured: i64, read: &[&ReadPassage]) -> Sql<()> {
    let chunks = rows::signed(read.iter().map(|passage| passage.chunk.0));
    let times = rows::signed(read.iter().map(|passage| passage.at));
    let invented: Vec<i64> = read.iter().map(|passage| rows::number(passage.invented)).collect();
    let incomplete: Vec<i64> =
        read.iter().map(|passage| rows::number(passage.incomplete)).collect();
    let sql = "INSERT INTO structured_reads (structured, chunk, at, invented, incomplete)
         SELECT $1::bigint, w.* FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS w
         ON CONFLICT (base, structured, chunk) DO UPDATE SET at = excluded.at,
             invented = excluded.invented, incomplete = excluded.incomplete";
    tx.run(sql, &[&structured, &chunks, &times, &invented, &incomplete]).await.map(drop)
}

/// Stores a new schema. Returns whether it could.
async fn begin(tx: &Tx, kept: &KeptSchema, basis: &[ChunkId]) -> Sql<bool> {
    let KeptSchema { schema, run, at } = kept;
    let chunks = rows::signed(basis.iter().map(|chunk| chunk.0));
    let there = existing(tx, &chunks).await?;
    if basis.is_empty() || !basis.iter().all(|chunk| there.contains(&chunk.0)) {
        return Ok(false);
    }
    let name = Text(&schema.name);
    let named = "SELECT 1 FROM structured WHERE name = $1
         UNION ALL (SELECT 1 FROM records WHERE schema = $1 LIMIT 1)";
    if tx.exists(named, &[&name]).await? {
        return Ok(false);
    }
    let id = schema.hash().0.cast_signed();
    let sql = "INSERT INTO structured (hash, name, at, run, schema) VALUES ($1, $2, $3, $4, $5)";
    tx.run(sql, &[&id, &name, &at.cast_signed(), &run.0, &rows::to_json(schema)?]).await?;
    let sql = "INSERT INTO structured_basis (structured, chunk)
         SELECT $1::bigint, unnest($2::bigint[]) ON CONFLICT DO NOTHING";
    tx.run(sql, &[&id, &chunks]).await?;
    let sql = "DELETE FROM structured WHERE hash NOT IN
         (SELECT hash FROM structured ORDER BY at DESC, name LIMIT $1)";
    tx.run(sql, &[&rows::number(KeptSchema::MOST)]).await?;
    Ok(true)
}
