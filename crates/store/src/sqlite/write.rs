//! What does indexing write? The [`KnowledgeWriter`] port: each call one transaction.

use async_trait::async_trait;
use pikerag_knowledge::{
    Atom, ChunkId, ChunkKind, Community, CommunityId, DocumentGraph, ExtractBy, Extraction,
    FileRecord, KnowledgeWriter, LongDescription, Outline, PutReport, Record, Report, SourceId,
    Stage, StoreError, Structure, Summary, SummaryId, Vector, VectorSet,
};
use rusqlite::{OptionalExtension, params};

use super::{
    Base, TEXT_GENERATION, VECTOR_GENERATION, advance, counter, distil, graph, put, records, rows,
    texts, tree, vectors,
};
use crate::error::Context;
use crate::fulltext::WRITING;

#[async_trait]
impl KnowledgeWriter for Base {
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
            if !chunks.is_empty() {
                put::forget(tx, chunks.iter().copied())?;
            }
            Ok(deleted > 0)
        })
        .await
    }

    async fn pending(
        &self,
        stage: &Stage,
        after: Option<ChunkId>,
        limit: usize,
    ) -> Result<Vec<ChunkId>, StoreError> {
        let stage = stage.0.clone();
        self.reading("reading progress", move |_, connection| {
            let sql = format!(
                "SELECT id FROM chunks c WHERE id > ?2 AND {} AND NOT EXISTS
                 (SELECT 1 FROM progress p WHERE p.stage = ?1 AND p.chunk = c.id) ORDER BY id LIMIT ?3",
                rows::SEARCHABLE
            );
            let after = after.map_or(-1, |chunk| chunk.0.cast_signed());
            connection
                .prepare_cached(&sql)
                .context("reading progress")?
                .query_map(params![stage, after, rows::limit_of(limit)], |row| Ok(ChunkId(rows::id(row, 0)?)))
                .and_then(Iterator::collect)
                .context("reading progress")
        })
        .await
    }

    async fn pending_of(
        &self,
        stage: &Stage,
        kind: ChunkKind,
        after: Option<ChunkId>,
        limit: usize,
    ) -> Result<Vec<ChunkId>, StoreError> {
        let stage = stage.0.clone();
        self.looking("reading progress", move |connection| {
            let sql = "SELECT id FROM chunks c WHERE id > ?2 AND kind = ?4 AND NOT hidden AND NOT EXISTS
                       (SELECT 1 FROM progress p WHERE p.stage = ?1 AND p.chunk = c.id) ORDER BY id LIMIT ?3";
            let after = after.map_or(-1, |chunk| chunk.0.cast_signed());
            connection
                .prepare_cached(sql)?
                .query_map(params![stage, after, rows::limit_of(limit), kind.as_str()], |row| {
                    Ok(ChunkId(rows::id(row, 0)?))
                })?
                .collect()
        })
        .await
    }

    async fn put_source_summaries(
        &self,
        summaries: Vec<(SourceId, String, String)>,
    ) -> Result<(), StoreError> {
        self.writing("storing summaries of documents", move |tx| {
            let mut update =
                tx.prepare_cached("UPDATE sources SET summary = ?3 WHERE id = ?1 AND hash = ?2")?;
            for (source, hash, summary) in &summaries {
                update.execute(params![source.0.cast_signed(), hash, summary])?;
            }
            Ok(())
        })
        .await
    }

    async fn put_chunk_summaries(
        &self,
        stage: &Stage,
        summaries: Vec<(ChunkId, Option<String>)>,
    ) -> Result<(), StoreError> {
        let stage = stage.0.clone();
        self.writing("storing summaries", move |tx| put::put_summaries(tx, &stage, &summaries))
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
        declared: u64,
        found: Vec<(ChunkId, Vec<Record>)>,
    ) -> Result<(), StoreError> {
        let stage = stage.0.clone();
        self.writing("storing records", move |tx| {
            found
                .iter()
                .try_for_each(|(chunk, found)| records::put(tx, &stage, declared, *chunk, found))
        })
        .await
    }

    async fn keep_records(&self, declared: &[(String, u64)]) -> Result<usize, StoreError> {
        let declared = declared.to_vec();
        self.writing("dropping old records", move |tx| records::keep(tx, &declared)).await
    }

    async fn put_extractions(
        &self,
        by: ExtractBy,
        found: Vec<(ChunkId, Extraction)>,
    ) -> Result<(), StoreError> {
        self.writing("storing entities", move |tx| {
            for (chunk, found) in &found {
                distil::put_extraction(tx, by, *chunk, found)?;
            }
            advance(tx, VECTOR_GENERATION).map(drop)
        })
        .await
    }

    async fn long_descriptions(&self, bytes: usize) -> Result<Vec<LongDescription>, StoreError> {
        self.looking("reading descriptions", move |connection| {
            graph::long_descriptions(connection, bytes)
        })
        .await
    }

    async fn put_descriptions(&self, made: Vec<(u64, u64, String)>) -> Result<(), StoreError> {
        self.writing("storing descriptions", move |tx| {
            distil::put_descriptions(tx, &made)?;
            advance(tx, VECTOR_GENERATION).map(drop)
        })
        .await
    }

    async fn outline(&self) -> Result<Outline, StoreError> {
        self.looking("reading the entity graph", graph::outline).await
    }

    async fn put_communities(
        &self,
        generation: i64,
        communities: Vec<Community>,
    ) -> Result<bool, StoreError> {
        self.writing("storing communities", move |tx| {
            let current = counter(tx, TEXT_GENERATION)? == generation;
            if current {
                distil::put_communities(tx, &communities)?;
            }
            Ok(current)
        })
        .await
    }

    async fn put_reports(&self, reports: Vec<(CommunityId, Report)>) -> Result<(), StoreError> {
        self.writing("storing reports", move |tx| distil::put_reports(tx, &reports)).await
    }

    async fn put_summaries(&self, summaries: Vec<Summary>) -> Result<(), StoreError> {
        self.writing("storing summaries", move |tx| {
            summaries.iter().try_for_each(|summary| tree::put(tx, summary))
        })
        .await
    }

    async fn keep_summaries(&self, level: u8, ids: &[SummaryId]) -> Result<(), StoreError> {
        let ids = ids.to_vec();
        self.writing("dropping old summaries", move |tx| {
            if 0 < tree::keep(tx, level, &ids)? {
                advance(tx, VECTOR_GENERATION)?;
            }
            Ok(())
        })
        .await
    }

    async fn generation(&self) -> Result<i64, StoreError> {
        self.looking("reading the generation", |connection| counter(connection, TEXT_GENERATION))
            .await
    }

    async fn structures(&self) -> Result<Vec<(Structure, String)>, StoreError> {
        self.looking("reading what is wanted", distil::structures).await
    }

    async fn request(&self, structure: Structure) -> Result<(), StoreError> {
        self.writing("noting what is wanted", move |tx| distil::request(tx, structure)).await
    }

    async fn mark_built(&self, structure: Structure, stamp: &str) -> Result<(), StoreError> {
        let stamp = stamp.to_owned();
        self.writing("noting what is built", move |tx| distil::mark_built(tx, structure, &stamp))
            .await
    }

    async fn without_vector(
        &self,
        set: VectorSet,
        embedder: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, String)>, StoreError> {
        let embedder = embedder.to_owned();
        let after = after.map_or(-1, u64::cast_signed);
        self.reading("looking for texts without vectors", move |_, connection| {
            texts::without_vector(connection, set, &embedder, after, rows::limit_of(limit))
                .context("looking for texts without vectors")
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
            let nodes = vectors::nodes(set);
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
            inner.refresh_text(WRITING)?;
            for set in vectors::SETS {
                inner.codes(connection, set)?;
            }
            Ok(())
        })
        .await
    }
}

fn file_record(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileRecord> {
    Ok(FileRecord { path: row.get(0)?, hash: row.get(1)?, recipe: row.get(2)? })
}
