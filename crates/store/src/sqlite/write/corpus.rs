//! Which files are there, and what was made of their chunks? The [`CorpusWriter`] port.

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, CorpusWriter, DeclaredSchema, DocumentGraph, FileRecord, InChunk, PutReport, Record,
    SchemaHash, SourceSummary, Stage, StoreError,
};
use rusqlite::{OptionalExtension, params};

use crate::error::Context;
use crate::sqlite::{Base, corrections, put, records, rows};

#[async_trait]
impl CorpusWriter for Base {
    async fn file(&self, path: &str) -> Result<Option<FileRecord>, StoreError> {
        let path = path.to_owned();
        self.reading("reading the record of files", move |_, connection| {
            connection
                .prepare_cached("SELECT path, hash, recipe FROM files WHERE path = ?1")
                .context("reading the record of files")?
                .query_row([path], file_record)
                .optional()
                .context("reading the record of files")
        })
        .await
    }

    async fn files(&self) -> Result<Vec<FileRecord>, StoreError> {
        self.reading("reading the record of files", |_, connection| {
            connection
                .prepare("SELECT path, hash, recipe FROM files ORDER BY path")
                .context("reading the record of files")?
                .query_map([], file_record)
                .and_then(Iterator::collect)
                .context("reading the record of files")
        })
        .await
    }

    async fn put_file(
        &self,
        file: &FileRecord,
        documents: Vec<DocumentGraph>,
    ) -> Result<PutReport, StoreError> {
        let file = file.clone();
        self.writing("storing a file", move |tx| put::put_file(tx, &file, &documents)).await
    }

    async fn delete_file(&self, path: &str) -> Result<bool, StoreError> {
        let path = path.to_owned();
        self.writing("deleting a file", move |tx| {
            let chunks = put::chunks_of_file(tx, &path)?;
            let deleted = tx.execute("DELETE FROM files WHERE path = ?1", [&path])?;
            corrections::leave(tx, &path)?;
            if !chunks.is_empty() {
                put::forget(tx, chunks.iter().copied())?;
            }
            Ok(deleted > 0)
        })
        .await
    }

    async fn put_source_summaries(&self, summaries: Vec<SourceSummary>) -> Result<(), StoreError> {
        self.writing("storing summaries of documents", move |tx| {
            let mut update =
                tx.prepare_cached("UPDATE sources SET summary = ?3 WHERE id = ?1 AND hash = ?2")?;
            for SourceSummary { source, hash, summary } in &summaries {
                update.execute(params![source.0.cast_signed(), hash, summary])?;
            }
            Ok(())
        })
        .await
    }

    async fn put_chunk_summaries(
        &self,
        stage: &Stage,
        summaries: Vec<InChunk<Option<String>>>,
    ) -> Result<(), StoreError> {
        let stage = stage.0.clone();
        self.writing("storing summaries", move |tx| put::put_summaries(tx, &stage, &summaries))
            .await
    }

    async fn put_atoms(
        &self,
        stage: &Stage,
        atoms: Vec<InChunk<Vec<Atom>>>,
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
            for InChunk { chunk, found: atoms } in atoms {
                // Its document may have been deleted while the model was at work.
                if !exists.exists([chunk.0.cast_signed()])? {
                    continue;
                }
                for (ordinal, atom) in atoms.iter().enumerate() {
                    insert.execute(params![
                        atom.id.0.cast_signed(),
                        chunk.0.cast_signed(),
                        atom.kind.as_str(),
                        rows::limit_of(ordinal),
                        atom.text
                    ])?;
                }
                mark.execute(params![stage, chunk.0.cast_signed()])?;
            }
            Ok(())
        })
        .await
    }

    async fn put_records(
        &self,
        stage: &Stage,
        declared: SchemaHash,
        found: Vec<InChunk<Vec<Record>>>,
    ) -> Result<(), StoreError> {
        let stage = stage.0.clone();
        self.writing("storing records", move |tx| {
            found.iter().try_for_each(|found| records::put(tx, &stage, declared, found))
        })
        .await
    }

    async fn keep_records(&self, declared: &[DeclaredSchema]) -> Result<usize, StoreError> {
        let declared = declared.to_vec();
        self.writing("dropping old records", move |tx| records::keep(tx, &declared)).await
    }
}

fn file_record(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileRecord> {
    Ok(FileRecord { path: row.get(0)?, hash: row.get(1)?, recipe: row.get(2)? })
}
