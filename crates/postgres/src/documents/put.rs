//! Replaces the earlier content of a file in one transaction. Unchanged chunks keep everything
//! derived from them.

use std::collections::{BTreeSet, HashMap, HashSet};

use pikerag_knowledge::{Chunk, ChunkKind, DocumentGraph, FileRecord, PutReport, Source, SourceId};
use pikerag_store::shared::searchable;
use tokio_postgres::Row;

use super::content;
use crate::batches::{ROWS, batches};
use crate::fault::Sql;
use crate::meta::{TEXT_GENERATION, advance};
use crate::rows::{self, CHUNK_COLUMNS, Text, signed, to_json};
use crate::search::words;
use crate::tx::Tx;

pub(super) async fn put_file(
    tx: &Tx,
    file: &FileRecord,
    documents: &[DocumentGraph],
) -> Sql<PutReport> {
    vacate(tx, file, documents).await?;
    let before: BTreeSet<i64> = chunks_of_file(tx, &file.path).await?.into_iter().collect();
    let changed = changed(tx, file, documents).await?;
    let sql = "INSERT INTO files (path, hash, recipe) VALUES ($1, $2, $3)
         ON CONFLICT (base, path) DO UPDATE SET hash = excluded.hash, recipe = excluded.recipe";
    tx.run(sql, &[&Text(&file.path), &Text(&file.hash), &Text(&file.recipe)]).await?;
    let generation = advance(tx, TEXT_GENERATION).await?;
    content::put_sources(tx, file, &changed).await?;
    let mut report = PutReport::default();
    let mut after = BTreeSet::new();
    let chunks: Vec<&Chunk> = documents.iter().flat_map(|document| &document.chunks).collect();
    for chunk in &chunks {
        let id = chunk.id.0.cast_signed();
        after.insert(id);
        match before.contains(&id) {
            true => report.kept += 1,
            false => report.added += 1,
        }
    }
    replace_given_summaries(tx, &chunks, &before, generation).await?;
    content::put_chunks(tx, &chunks, generation).await?;
    content::put_figures(tx, documents).await?;
    content::put_links_and_names(tx, documents, &chunks).await?;
    content::put_known_as(tx, documents).await?;
    let removed: Vec<i64> = before.difference(&after).copied().collect();
    if !removed.is_empty() {
        tx.run("DELETE FROM chunks WHERE id = ANY($1::bigint[])", &[&removed]).await?;
    }
    report.removed = removed.len();
    let sources = ids_of(documents);
    let sql = "DELETE FROM sources WHERE file = $1 AND id <> ALL($2::bigint[])";
    tx.run(sql, &[&Text(&file.path), &sources]).await?;
    let after: Vec<i64> = after.into_iter().collect();
    write_words(tx, &after).await?;
    Ok(report)
}

/// Deletes the content that another file stored under the identity of one of these documents. That
/// file is read again. Only bases that older versions made have such files.
async fn vacate(tx: &Tx, file: &FileRecord, documents: &[DocumentGraph]) -> Sql<()> {
    let sql = "SELECT id, file FROM sources WHERE id = ANY($1::bigint[]) AND file <> $2";
    let found = tx.all(sql, &[&ids_of(documents), &Text(&file.path)]).await?;
    if found.is_empty() {
        return Ok(());
    }
    let mut sources: Vec<i64> = Vec::with_capacity(found.len());
    let mut holders: Vec<String> = Vec::with_capacity(found.len());
    for row in found {
        sources.push(row.try_get(0)?);
        holders.push(rows::text(&row, 1)?);
    }
    let sql = "UPDATE files SET hash = '' WHERE path = ANY($1::text[])";
    tx.run(sql, &[&Text::all(&holders)]).await?;
    tx.run("DELETE FROM sources WHERE id = ANY($1::bigint[])", &[&sources]).await.map(drop)
}

fn ids_of(documents: &[DocumentGraph]) -> Vec<i64> {
    signed(documents.iter().map(|document| document.source.id.0))
}

/// The documents that must be stored, each once. A document that is stored already keeps its
/// summary and sections, with their vectors.
async fn changed<'a>(
    tx: &Tx,
    file: &FileRecord,
    documents: &'a [DocumentGraph],
) -> Sql<Vec<&'a DocumentGraph>> {
    // The last one of an identity counts.
    let last: HashMap<SourceId, &DocumentGraph> =
        documents.iter().map(|document| (document.source.id, document)).collect();
    let mut all: Vec<&DocumentGraph> = last.into_values().collect();
    all.sort_by_key(|document| document.source.id);
    let sql = "SELECT recipe FROM files WHERE path = $1";
    let is_same_recipe = match tx.optional(sql, &[&Text(&file.path)]).await? {
        Some(row) => rows::text(&row, 0)? == file.recipe,
        None => false,
    };
    if is_same_recipe {
        let unchanged = unchanged(tx, &all).await?;
        all.retain(|document| !unchanged.contains(&document.source.id));
    }
    Ok(all)
}

/// The documents that are stored as they are.
async fn unchanged(tx: &Tx, documents: &[&DocumentGraph]) -> Sql<HashSet<SourceId>> {
    let ids = signed(documents.iter().map(|document| document.source.id.0));
    let sql = "SELECT id, hash, title, metadata, media_type, language FROM sources
         WHERE id = ANY($1::bigint[])";
    let found = tx.all(sql, &[&ids]).await?;
    let sources = documents.iter().map(|document| (document.source.id, &document.source));
    let sources: HashMap<SourceId, &Source> = sources.collect();
    let mut unchanged = HashSet::new();
    for row in found {
        let id = SourceId(rows::id(&row, 0)?);
        let Some(source) = sources.get(&id) else { continue };
        let metadata: &str = row.try_get(3)?;
        if rows::text(&row, 1)? == source.hash
            && rows::text(&row, 2)? == source.title
            && metadata == to_json(&source.metadata)?
            && rows::text(&row, 4)? == source.media_type
            && rows::optional_text(&row, 5)? == source.language
        {
            unchanged.insert(id);
        }
    }
    Ok(unchanged)
}

/// Replaces the summaries that come with stored chunks.
async fn replace_given_summaries(
    tx: &Tx,
    chunks: &[&Chunk],
    stored: &BTreeSet<i64>,
    generation: i64,
) -> Sql<()> {
    // The summary of a text chunk comes with it, or there is none. A later stage writes the summary
    // of a table or figure, and that stays.
    let is_described_later = |kind: ChunkKind| matches!(kind, ChunkKind::Table | ChunkKind::Figure);
    let given: Vec<(i64, Option<&String>)> = chunks
        .iter()
        .filter(|chunk| stored.contains(&chunk.id.0.cast_signed()))
        .filter(|chunk| chunk.summary.is_some() || !is_described_later(chunk.kind))
        .map(|chunk| (chunk.id.0.cast_signed(), chunk.summary.as_ref()))
        .collect();
    replace_summaries(tx, &given, generation).await.map(drop)
}

/// Replaces models' summaries of stored chunks, and deletes the vectors of chunks that now have
/// another. Returns these chunks; [`write_words`] must follow.
pub(super) async fn replace_summaries(
    tx: &Tx,
    summaries: &[(i64, Option<&String>)],
    generation: i64,
) -> Sql<Vec<i64>> {
    let sql = "UPDATE chunks c SET summary = w.summary, generation = $3
         FROM unnest($1::bigint[], $2::text[]) AS w(id, summary)
         WHERE c.id = w.id AND c.summary IS DISTINCT FROM w.summary RETURNING c.id";
    let mut changed: Vec<i64> = Vec::new();
    for batch in batches(summaries, |(id, text)| (*id, text.map_or(0, String::len))) {
        let ids: Vec<i64> = batch.iter().map(|(id, _)| *id).collect();
        let texts: Vec<Option<Text<'_>>> =
            batch.iter().map(|(_, text)| Text::optional(*text)).collect();
        for row in tx.all(sql, &[&ids, &texts, &generation]).await? {
            changed.push(row.try_get(0)?);
        }
    }
    if !changed.is_empty() {
        tx.run("DELETE FROM chunk_vectors WHERE node = ANY($1::bigint[])", &[&changed]).await?;
    }
    Ok(changed)
}

/// Brings full text up to date with these chunks. Chunks that search cannot find have no words.
pub(super) async fn write_words(tx: &Tx, chunks: &[i64]) -> Sql<()> {
    let sql = format!(
        "SELECT {CHUNK_COLUMNS} FROM chunks c JOIN sources s ON s.id = c.source
         WHERE c.id = ANY($1::bigint[]) ORDER BY c.id"
    );
    for part in chunks.chunks(ROWS) {
        let mut texts = Vec::with_capacity(part.len());
        for row in tx.all(&sql, &[&part]).await? {
            let chunk = rows::chunk(&row)?;
            let text = if chunk.is_searchable() { searchable(&chunk) } else { String::new() };
            texts.push((chunk.id, text));
        }
        words::write(tx, &texts).await?;
    }
    Ok(())
}

/// Reads `path, hash, recipe`.
pub(super) fn file_record(row: &Row) -> Sql<FileRecord> {
    Ok(FileRecord {
        path: rows::text(row, 0)?,
        hash: rows::text(row, 1)?,
        recipe: rows::text(row, 2)?,
    })
}

/// The chunks of a file; empty if there is no such file.
pub(crate) async fn chunks_of_file(tx: &Tx, path: &str) -> Sql<Vec<i64>> {
    let sql = "SELECT c.id FROM chunks c JOIN sources s ON s.id = c.source WHERE s.file = $1";
    let found = tx.all(sql, &[&Text(path)]).await?;
    found.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Those of the chunks that are stored.
pub(crate) async fn existing(tx: &Tx, chunks: &[i64]) -> Sql<HashSet<i64>> {
    let sql = "SELECT id FROM chunks WHERE id = ANY($1::bigint[])";
    let found = tx.all(sql, &[&chunks]).await?;
    found.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Deletes files with everything derived from them, except corrections. Returns how many of them
/// there were.
pub(crate) async fn delete_files(tx: &Tx, paths: &[String]) -> Sql<u64> {
    let paths = Text::all(paths);
    let sql = "SELECT 1 FROM chunks c JOIN sources s ON s.id = c.source
         WHERE s.file = ANY($1::text[]) LIMIT 1";
    let had_chunks = tx.exists(sql, &[&paths]).await?;
    let deleted = tx.run("DELETE FROM files WHERE path = ANY($1::text[])", &[&paths]).await?;
    if had_chunks {
        advance(tx, TEXT_GENERATION).await?;
    }
    Ok(deleted)
}
