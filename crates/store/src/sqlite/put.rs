//! Replaces the earlier content of a file row by row, in one transaction. Unchanged chunks keep
//! everything derived from them.

use std::collections::HashSet;

use pikerag_knowledge::{Chunk, ChunkKind, DocumentGraph, FileRecord, NameUse, PutReport};
use rusqlite::{OptionalExtension, Transaction, params};

use super::counters::{TEXT_GENERATION, advance};
use super::references;
use super::rows::{limit_of, packed};

pub(super) fn put_file(
    tx: &Transaction<'_>,
    file: &FileRecord,
    documents: &[DocumentGraph],
) -> rusqlite::Result<PutReport> {
    for document in documents {
        vacate(tx, file, document)?;
    }
    let before: HashSet<i64> = chunks_of_file(tx, &file.path)?.into_iter().collect();
    let recipe: Option<String> = tx
        .query_row("SELECT recipe FROM files WHERE path = ?1", [&file.path], |row| row.get(0))
        .optional()?;
    let same_recipe = recipe.as_ref() == Some(&file.recipe);
    tx.execute(
        "INSERT INTO files(path, hash, recipe) VALUES (?1, ?2, ?3)
         ON CONFLICT(path) DO UPDATE SET hash = excluded.hash, recipe = excluded.recipe",
        params![file.path, file.hash, file.recipe],
    )?;
    let generation = advance(tx, TEXT_GENERATION)?;
    let mut report = PutReport::default();
    let mut after = HashSet::new();
    let mut sources = HashSet::new();
    for document in documents {
        sources.insert(document.source.id.0.cast_signed());
        if !same_recipe || !holds(tx, document)? {
            put_source(tx, file, document)?;
        }
        for chunk in &document.chunks {
            let id = chunk.id.0.cast_signed();
            after.insert(id);
            if before.contains(&id) {
                report.kept += 1;
            } else {
                report.added += 1;
            }
            put_chunk(tx, chunk, generation)?;
        }
        put_figures(tx, document)?;
        put_links_and_names(tx, document)?;
        put_known_as(tx, document)?;
    }
    let removed: Vec<i64> = before.difference(&after).copied().collect();
    for id in &removed {
        tx.prepare_cached("DELETE FROM chunks WHERE id = ?1")?.execute([id])?;
    }
    let known: Vec<i64> = tx
        .prepare_cached("SELECT id FROM sources WHERE file = ?1")?
        .query_map([&file.path], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for id in known.iter().filter(|id| !sources.contains(id)) {
        tx.prepare_cached("DELETE FROM sources WHERE id = ?1")?.execute([id])?;
    }
    if !removed.is_empty() {
        report.removed = removed.len();
        forget(tx, removed.into_iter())?;
    }
    Ok(report)
}

/// Deletes the content that another file stored under this document's identity. That file is read
/// again. Only bases of layouts before 5 have such files.
fn vacate(
    tx: &Transaction<'_>,
    file: &FileRecord,
    document: &DocumentGraph,
) -> rusqlite::Result<()> {
    let id = document.source.id.0.cast_signed();
    let holder: Option<String> = tx
        .prepare_cached("SELECT file FROM sources WHERE id = ?1 AND file <> ?2")?
        .query_row(params![id, file.path], |row| row.get(0))
        .optional()?;
    let Some(holder) = holder else { return Ok(()) };
    let chunks: Vec<i64> = tx
        .prepare_cached("SELECT id FROM chunks WHERE source = ?1")?
        .query_map([id], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    tx.execute("UPDATE files SET hash = '' WHERE path = ?1", [holder])?;
    tx.execute("DELETE FROM sources WHERE id = ?1", [id])?;
    forget(tx, chunks.into_iter())
}

/// Whether this very document is stored already. Then its summary and sections stay, with their
/// vectors.
fn holds(tx: &Transaction<'_>, document: &DocumentGraph) -> rusqlite::Result<bool> {
    let source = &document.source;
    tx.prepare_cached(
        "SELECT 1 FROM sources WHERE id = ?1 AND hash = ?2 AND title = ?3 AND metadata = ?4
           AND media_type = ?5 AND language IS ?6",
    )?
    .exists(params![
        source.id.0.cast_signed(),
        source.hash,
        source.title,
        json(&source.metadata)?,
        source.media_type,
        source.language,
    ])
}

fn put_source(
    tx: &Transaction<'_>,
    file: &FileRecord,
    document: &DocumentGraph,
) -> rusqlite::Result<()> {
    let source = &document.source;
    let metadata = json(&source.metadata)?;
    tx.prepare_cached(
        "INSERT INTO sources(id, file, uri, title, media_type, hash, language, metadata, text, summary)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT(id) DO UPDATE SET file = excluded.file, uri = excluded.uri, title = excluded.title,
           media_type = excluded.media_type, hash = excluded.hash, language = excluded.language,
           metadata = excluded.metadata, text = excluded.text,
           summary = excluded.summary",
    )?
    .execute(params![
        source.id.0.cast_signed(),
        file.path,
        source.uri,
        source.title,
        source.media_type,
        source.hash,
        source.language,
        metadata,
        document.text,
        source.summary
    ])?;
    let id = source.id.0.cast_signed();
    tx.prepare_cached("DELETE FROM sections WHERE source = ?1")?.execute([id])?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO sections(id, source, parent, ordinal, level, heading) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for section in &document.sections {
        insert.execute(params![
            section.id.0.cast_signed(),
            id,
            section.parent.map(|parent| parent.0.cast_signed()),
            section.ordinal,
            section.level,
            section.heading
        ])?;
    }
    Ok(())
}

fn put_chunk(tx: &Transaction<'_>, chunk: &Chunk, generation: i64) -> rusqlite::Result<()> {
    let cells = chunk.table.as_ref().map(json).transpose()?;
    let area = chunk.area.as_ref().map(json).transpose()?;
    let boxes = packed(&chunk.boxes)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let id = chunk.id.0.cast_signed();
    // The summary of a text chunk comes with it, or there is none. A later stage writes the summary
    // of a table or figure, and that stays.
    let is_described_later = matches!(chunk.kind, ChunkKind::Table | ChunkKind::Figure);
    if chunk.summary.is_some() || !is_described_later {
        put_summary(tx, id, chunk.summary.as_deref(), generation)?;
    }
    let headings = json(&chunk.headings)?;
    let facts = params![id, generation, headings, chunk.kind.as_str(), chunk.hidden];
    let changed = tx
        .prepare_cached(
            "UPDATE chunks SET generation = ?2
             WHERE id = ?1 AND (headings IS NOT ?3 OR kind IS NOT ?4 OR hidden IS NOT ?5)",
        )?
        .execute(facts)?;
    if changed != 0 {
        replace_words(tx, id, generation)?;
    }
    // Any other chunk that stays keeps its generation, because full text has it already.
    tx.prepare_cached(
        "INSERT INTO chunks(id, source, section, headings, ordinal, kind, text, span_start, span_end, page,
           cells, generation, area, summary, hidden, boxes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
         ON CONFLICT(id) DO UPDATE SET section = excluded.section, headings = excluded.headings,
           ordinal = excluded.ordinal, kind = excluded.kind, span_start = excluded.span_start, span_end = excluded.span_end,
           page = excluded.page, cells = excluded.cells, area = excluded.area, hidden = excluded.hidden,
           boxes = excluded.boxes",
    )?
    .execute(params![
        id,
        chunk.source.0.cast_signed(),
        chunk.section.map(|section| section.0.cast_signed()),
        headings,
        chunk.ordinal,
        chunk.kind.as_str(),
        chunk.text,
        limit_of(chunk.span.start),
        limit_of(chunk.span.end),
        chunk.page,
        cells,
        generation,
        area,
        chunk.summary,
        chunk.hidden,
        boxes
    ])
    .map(drop)
}

/// Replaces a model's summary of a chunk. The derived indexes follow, because the chunk is found by
/// it. Returns whether anything changed.
pub(super) fn put_summary(
    tx: &Transaction<'_>,
    chunk: i64,
    summary: Option<&str>,
    generation: i64,
) -> rusqlite::Result<bool> {
    let changed = tx
        .prepare_cached(
            "UPDATE chunks SET summary = ?2, generation = ?3 WHERE id = ?1 AND summary IS NOT ?2",
        )?
        .execute(params![chunk, summary, generation])?;
    if changed != 0 {
        tx.prepare_cached("DELETE FROM chunk_vectors WHERE node = ?1")?.execute([chunk])?;
        replace_words(tx, chunk, generation)?;
    }
    Ok(changed != 0)
}

/// Lets full text drop the old words of a chunk that has this generation now.
fn replace_words(tx: &Transaction<'_>, chunk: i64, generation: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT INTO gone(chunk, generation) VALUES (?1, ?2)")?
        .execute(params![chunk, generation])
        .map(drop)
}

/// Lets the later stages process a figure again, because it now has a summary. Tables are processed
/// by their cells, whatever their summary.
pub(super) fn reset_stages(tx: &Transaction<'_>, chunk: i64) -> rusqlite::Result<()> {
    let figure = tx
        .prepare_cached("SELECT 1 FROM chunks WHERE id = ?1 AND kind = ?2")?
        .exists(params![chunk, ChunkKind::Figure.as_str()])?;
    if figure {
        tx.prepare_cached("DELETE FROM progress WHERE chunk = ?1 AND stage NOT LIKE 'describe:%'")?
            .execute([chunk])?;
        tx.prepare_cached("DELETE FROM atoms WHERE chunk = ?1")?.execute([chunk])?;
        tx.prepare_cached("DELETE FROM chunk_tags WHERE chunk = ?1")?.execute([chunk])?;
    }
    Ok(())
}

fn put_figures(tx: &Transaction<'_>, document: &DocumentGraph) -> rusqlite::Result<()> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO figures(chunk, media_type, bytes) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    for (chunk, image) in &document.figures {
        insert.execute(params![chunk.0.cast_signed(), image.media_type, image.bytes])?;
    }
    Ok(())
}

pub(super) fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn put_links_and_names(tx: &Transaction<'_>, document: &DocumentGraph) -> rusqlite::Result<()> {
    let mut no_links = tx.prepare_cached("DELETE FROM links WHERE chunk = ?1")?;
    let mut no_names = tx.prepare_cached("DELETE FROM names WHERE chunk = ?1")?;
    for chunk in &document.chunks {
        no_links.execute([chunk.id.0.cast_signed()])?;
        no_names.execute([chunk.id.0.cast_signed()])?;
    }
    let mut link = tx.prepare_cached(
        "INSERT INTO links(chunk, target, span_start, span_end) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (chunk, found) in &document.links {
        let span = (limit_of(found.span.start), limit_of(found.span.end));
        link.execute(params![chunk.0.cast_signed(), found.target, span.0, span.1])?;
    }
    let mut name = tx.prepare_cached(
        "INSERT INTO names(chunk, how, key) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    for (chunk, found) in &document.names {
        let (how, key) = match found {
            NameUse::Bears { key, weight } => (i16::from(*weight).max(1), key),
            NameUse::Mentions(key) => (0, key),
            NameUse::Links(key) => (-1, key),
        };
        name.execute(params![chunk.0.cast_signed(), how, key.0.cast_signed()])?;
    }
    Ok(())
}

fn put_known_as(tx: &Transaction<'_>, document: &DocumentGraph) -> rusqlite::Result<()> {
    let source = document.source.id.0.cast_signed();
    tx.prepare_cached("DELETE FROM source_names WHERE source = ?1")?.execute([source])?;
    let mut insert = tx.prepare_cached(
        "INSERT INTO source_names(source, how, key) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    for (key, how) in &document.known_as {
        insert.execute(params![source, references::code(*how), key.0.cast_signed()])?;
    }
    Ok(())
}

pub(super) fn chunks_of_file(tx: &Transaction<'_>, path: &str) -> rusqlite::Result<Vec<i64>> {
    tx.prepare_cached(
        "SELECT c.id FROM chunks c JOIN sources s ON s.id = c.source WHERE s.file = ?1",
    )?
    .query_map([path], |row| row.get(0))?
    .collect()
}

/// Notes deleted chunks for the derived indexes.
pub(super) fn forget(
    tx: &Transaction<'_>,
    chunks: impl Iterator<Item = i64>,
) -> rusqlite::Result<()> {
    let generation = advance(tx, TEXT_GENERATION)?;
    let mut note = tx.prepare_cached("INSERT INTO gone(chunk, generation) VALUES (?1, ?2)")?;
    for chunk in chunks {
        note.execute(params![chunk, generation])?;
    }
    Ok(())
}
