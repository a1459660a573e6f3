//! What does indexing write? The [`KnowledgeWriter`] port: each call one transaction.

use std::collections::HashSet;

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, Chunk, ChunkId, DocumentGraph, FileRecord, KnowledgeWriter, NameUse, PutReport, Stage,
    StoreError, Vector, VectorSet,
};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{Base, Inner, TEXT_GENERATION, VECTOR_GENERATION, advance, counter, rows, vectors};
use crate::error::Doing;
use crate::fulltext::Changes;

#[async_trait]
impl KnowledgeWriter for Base {
    async fn file(&self, path: &str) -> Result<Option<FileRecord>, StoreError> {
        let path = path.to_owned();
        self.reading("reading the record of files", move |_, connection| {
            connection
                .prepare_cached("SELECT path, hash, recipe FROM files WHERE path = ?1")
                .doing("reading the record of files")?
                .query_row([path], file_record)
                .optional()
                .doing("reading the record of files")
        })
        .await
    }

    async fn files(&self) -> Result<Vec<FileRecord>, StoreError> {
        self.reading("reading the record of files", |_, connection| {
            connection
                .prepare("SELECT path, hash, recipe FROM files ORDER BY path")
                .doing("reading the record of files")?
                .query_map([], file_record)
                .and_then(Iterator::collect)
                .doing("reading the record of files")
        })
        .await
    }

    async fn put_file(
        &self,
        file: &FileRecord,
        documents: Vec<DocumentGraph>,
    ) -> Result<PutReport, StoreError> {
        let file = file.clone();
        self.writing("storing a file", move |tx| put_file(tx, &file, &documents)).await
    }

    async fn delete_file(&self, path: &str) -> Result<bool, StoreError> {
        let path = path.to_owned();
        self.writing("deleting a file", move |tx| {
            let chunks = chunks_of_file(tx, &path)?;
            let deleted = tx.execute("DELETE FROM files WHERE path = ?1", [&path])?;
            if !chunks.is_empty() {
                forget(tx, chunks.iter().copied())?;
            }
            Ok(deleted > 0)
        })
        .await
    }

    async fn waiting(
        &self,
        stage: &Stage,
        after: Option<ChunkId>,
        limit: usize,
    ) -> Result<Vec<ChunkId>, StoreError> {
        let stage = stage.0.clone();
        self.reading("reading progress", move |_, connection| {
            let sql = "SELECT id FROM chunks c WHERE id > ?2 AND NOT EXISTS
                       (SELECT 1 FROM progress p WHERE p.stage = ?1 AND p.chunk = c.id) ORDER BY id LIMIT ?3";
            let after = after.map_or(-1, |chunk| chunk.0.cast_signed());
            connection
                .prepare_cached(sql)
                .doing("reading progress")?
                .query_map(params![stage, after, limit_of(limit)], |row| Ok(ChunkId(rows::id(row, 0)?)))
                .and_then(Iterator::collect)
                .doing("reading progress")
        })
        .await
    }

    async fn put_atoms(
        &self,
        stage: &Stage,
        atoms: Vec<(ChunkId, Vec<Atom>)>,
    ) -> Result<(), StoreError> {
        let stage = stage.0.clone();
        self.writing("storing atoms", move |tx| {
            let mut exists = tx.prepare_cached("SELECT 1 FROM chunks WHERE id = ?1")?;
            let mut insert = tx.prepare_cached(
                "INSERT INTO atoms(id, chunk, kind, ordinal, text) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT(id) DO NOTHING",
            )?;
            let mut mark = tx.prepare_cached(
                "INSERT INTO progress(stage, chunk) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?;
            for (chunk, atoms) in atoms {
                // Its document may have been deleted while the model was at work.
                if !exists.exists([chunk.0.cast_signed()])? {
                    continue;
                }
                for (ordinal, atom) in atoms.iter().enumerate() {
                    insert.execute(params![
                        atom.id.0.cast_signed(),
                        chunk.0.cast_signed(),
                        atom.kind.as_str(),
                        limit_of(ordinal),
                        atom.text
                    ])?;
                }
                mark.execute(params![stage, chunk.0.cast_signed()])?;
            }
            Ok(())
        })
        .await
    }

    async fn without_vector(
        &self,
        set: VectorSet,
        embedder: &str,
        limit: usize,
    ) -> Result<Vec<(u64, String)>, StoreError> {
        let embedder = embedder.to_owned();
        self.reading("looking for texts without vectors", move |_, connection| {
            let doing = "looking for texts without vectors";
            match set {
                VectorSet::Chunks => {
                    let sql = format!(
                        "SELECT {} FROM chunks c JOIN sources s ON s.id = c.source
                         LEFT JOIN chunk_vectors v ON v.node = c.id AND v.embedder = ?1
                         WHERE v.node IS NULL ORDER BY c.id LIMIT ?2",
                        rows::CHUNK_COLUMNS
                    );
                    connection
                        .prepare_cached(&sql)
                        .doing(doing)?
                        .query_map(params![embedder, limit_of(limit)], |row| {
                            let chunk = rows::chunk(row)?;
                            Ok((chunk.id.0, searchable(&chunk)))
                        })
                        .and_then(Iterator::collect)
                        .doing(doing)
                }
                VectorSet::Atoms(kind) => connection
                    .prepare_cached(
                        "SELECT a.id, a.text FROM atoms a
                         LEFT JOIN atom_vectors v ON v.node = a.id AND v.embedder = ?1
                         WHERE v.node IS NULL AND a.kind = ?2 ORDER BY a.id LIMIT ?3",
                    )
                    .doing(doing)?
                    .query_map(params![embedder, kind.as_str(), limit_of(limit)], |row| {
                        Ok((rows::id(row, 0)?, row.get(1)?))
                    })
                    .and_then(Iterator::collect)
                    .doing(doing),
            }
        })
        .await
    }

    async fn put_vectors(
        &self,
        set: VectorSet,
        embedder: &str,
        vectors: Vec<(u64, Vector)>,
    ) -> Result<(), StoreError> {
        let embedder = embedder.to_owned();
        self.writing("storing vectors", move |tx| {
            let nodes = if set == VectorSet::Chunks { "chunks" } else { "atoms" };
            // The node may have been deleted while the embedder was at work.
            let mut insert = tx.prepare_cached(&format!(
                "INSERT INTO {}(node, embedder, vector) SELECT ?1, ?2, ?3
                 WHERE EXISTS (SELECT 1 FROM {nodes} WHERE id = ?1)
                 ON CONFLICT(node) DO UPDATE SET embedder = excluded.embedder, vector = excluded.vector",
                vectors::table(set)
            ))?;
            for (node, vector) in &vectors {
                insert.execute(params![node.cast_signed(), embedder, rows::bytes(vector)])?;
            }
            advance(tx, VECTOR_GENERATION).map(drop)
        })
        .await
    }

    async fn refresh(&self) -> Result<(), StoreError> {
        self.reading("refreshing the derived indexes", |inner, connection| {
            inner.refresh_text(connection)?;
            for set in [
                VectorSet::Chunks,
                VectorSet::Atoms(pikerag_knowledge::AtomKind::Question),
                VectorSet::Atoms(pikerag_knowledge::AtomKind::Sentence),
            ] {
                inner.codes(connection, set)?;
            }
            Ok(())
        })
        .await
    }
}

impl Inner {
    /// Commits to full text what changed since its last commit, or all if it cannot be followed.
    pub(super) fn refresh_text(&self, connection: &Connection) -> Result<(), StoreError> {
        let doing = "following the database with full text";
        let snapshot = connection.unchecked_transaction().doing(doing)?;
        let generation = counter(&snapshot, TEXT_GENERATION).doing(doing)?;
        let index = self.fulltext()?;
        let standing = index.stamp();
        if standing == self.stamp(generation) {
            return Ok(());
        }
        let known = standing
            .strip_prefix(&format!("{}:", self.identity))
            .and_then(|number| number.parse::<i64>().ok())
            .filter(|known| *known <= generation);
        let gone = match known {
            None => None,
            Some(known) => Some(
                snapshot
                    .prepare_cached(
                        "SELECT chunk FROM gone WHERE generation > ?1 ORDER BY generation, chunk",
                    )
                    .doing(doing)?
                    .query_map([known], |row| rows::id(row, 0))
                    .and_then(Iterator::collect)
                    .doing(doing)?,
            ),
        };
        let sql = format!(
            "SELECT {} FROM chunks c JOIN sources s ON s.id = c.source WHERE c.generation > ?1 ORDER BY c.id",
            rows::CHUNK_COLUMNS
        );
        let added = snapshot
            .prepare_cached(&sql)
            .doing(doing)?
            .query_map([known.unwrap_or(-1)], |row| {
                let chunk = rows::chunk(row)?;
                Ok((chunk.id.0, searchable(&chunk)))
            })
            .and_then(Iterator::collect)
            .doing(doing)?;
        drop(snapshot);
        index.apply(Changes { stamp: self.stamp(generation), gone, added })
    }
}

/// What full text and embedders see of a chunk: title, headings, text.
fn searchable(chunk: &Chunk) -> String {
    format!("{}\n{}", chunk.full_title(), chunk.text)
}

fn file_record(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileRecord> {
    Ok(FileRecord { path: row.get(0)?, hash: row.get(1)?, recipe: row.get(2)? })
}

fn limit_of(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn put_file(
    tx: &Transaction<'_>,
    file: &FileRecord,
    documents: &[DocumentGraph],
) -> rusqlite::Result<PutReport> {
    let before: HashSet<i64> = chunks_of_file(tx, &file.path)?.into_iter().collect();
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
        put_source(tx, file, document)?;
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
        put_links_and_names(tx, document)?;
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

fn put_source(
    tx: &Transaction<'_>,
    file: &FileRecord,
    document: &DocumentGraph,
) -> rusqlite::Result<()> {
    let source = &document.source;
    let metadata = serde_json::to_string(&source.metadata)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    tx.prepare_cached(
        "INSERT INTO sources(id, file, uri, title, media_type, hash, language, metadata, text)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT(id) DO UPDATE SET file = excluded.file, uri = excluded.uri, title = excluded.title,
           media_type = excluded.media_type, hash = excluded.hash, language = excluded.language,
           metadata = excluded.metadata, text = excluded.text",
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
        document.text
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
    let cells = match &chunk.table {
        Some(table) => Some(
            serde_json::to_string(table)
                .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?,
        ),
        None => None,
    };
    // A chunk that stays keeps its generation: full text has it already.
    tx.prepare_cached(
        "INSERT INTO chunks(id, source, section, headings, ordinal, kind, text, span_start, span_end, page,
           cells, generation) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ON CONFLICT(id) DO UPDATE SET section = excluded.section, ordinal = excluded.ordinal,
           kind = excluded.kind, span_start = excluded.span_start, span_end = excluded.span_end,
           page = excluded.page, cells = excluded.cells",
    )?
    .execute(params![
        chunk.id.0.cast_signed(),
        chunk.source.0.cast_signed(),
        chunk.section.map(|section| section.0.cast_signed()),
        chunk.headings,
        chunk.ordinal,
        chunk.kind.as_str(),
        chunk.text,
        limit_of(chunk.span.start),
        limit_of(chunk.span.end),
        chunk.page,
        cells,
        generation
    ])
    .map(drop)
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
        "INSERT INTO names(chunk, bears, key) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    for (chunk, found) in &document.names {
        let (bears, key) = match found {
            NameUse::Bears(key) => (true, key),
            NameUse::Mentions(key) => (false, key),
        };
        name.execute(params![chunk.0.cast_signed(), bears, key.0.cast_signed()])?;
    }
    Ok(())
}

fn chunks_of_file(tx: &Transaction<'_>, path: &str) -> rusqlite::Result<Vec<i64>> {
    tx.prepare_cached(
        "SELECT c.id FROM chunks c JOIN sources s ON s.id = c.source WHERE s.file = ?1",
    )?
    .query_map([path], |row| row.get(0))?
    .collect()
}

/// Notes deleted chunks for the derived indexes.
fn forget(tx: &Transaction<'_>, chunks: impl Iterator<Item = i64>) -> rusqlite::Result<()> {
    let generation = advance(tx, TEXT_GENERATION)?;
    advance(tx, VECTOR_GENERATION)?;
    let mut note = tx.prepare_cached("INSERT INTO gone(chunk, generation) VALUES (?1, ?2)")?;
    for chunk in chunks {
        note.execute(params![chunk, generation])?;
    }
    Ok(())
}
