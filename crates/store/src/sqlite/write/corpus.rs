//! Implements the [`CorpusWriter`] port: files, and the results for their chunks.

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkResults, CorpusWriter, DocumentGraph, FileRecord, Kept, ModelTexts, PutReport, StoreError,
    Which,
};
use rusqlite::OptionalExtension;

use crate::sqlite::base::Base;
use crate::sqlite::{corrections, data, distil, put, records, results, tags, tree};

#[async_trait]
impl CorpusWriter for Base {
    async fn files(&self, which: Which<'_, &str>) -> Result<Vec<FileRecord>, StoreError> {
        let paths: Option<Vec<String>> = match which {
            Which::All => None,
            Which::Of(paths) => Some(paths.iter().map(|path| (*path).to_owned()).collect()),
        };
        self.querying("reading the record of files", move |connection| {
            let columns = "SELECT path, hash, recipe FROM files";
            let Some(paths) = paths else {
                let mut all = connection.prepare(&format!("{columns} ORDER BY path"))?;
                return all.query_map([], file_record)?.collect();
            };
            let mut one = connection.prepare_cached(&format!("{columns} WHERE path = ?1"))?;
            let file = |path| one.query_row([path], file_record).optional().transpose();
            paths.into_iter().filter_map(file).collect()
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

    async fn put_chunk_results(&self, results: ChunkResults) -> Result<(), StoreError> {
        self.writing("storing the results for chunks", move |tx| match &results {
            ChunkResults::Summaries(stage, found) => results::put_summaries(tx, &stage.0, found),
            ChunkResults::Atoms(stage, found) => results::put_atoms(tx, &stage.0, found),
            ChunkResults::Records(stage, declared, found) => {
                found.iter().try_for_each(|found| records::put(tx, &stage.0, *declared, found))
            }
            ChunkResults::Shapes(found) => data::put_shapes(tx, found),
            ChunkResults::Extractions(by, found) => {
                found.iter().try_for_each(|found| distil::put_extraction(tx, *by, found))
            }
            ChunkResults::Tags(found) => {
                found.iter().try_for_each(|found| tags::put_tags(tx, found))
            }
        })
        .await
    }

    async fn put_texts(&self, texts: ModelTexts) -> Result<(), StoreError> {
        self.writing("storing the texts of a model", move |tx| match &texts {
            ModelTexts::Sources(summaries) => results::put_source_summaries(tx, summaries),
            ModelTexts::Descriptions(made) => distil::put_descriptions(tx, made),
            ModelTexts::Reports(reports) => distil::put_reports(tx, reports),
            ModelTexts::Clusters(summaries) => {
                summaries.iter().try_for_each(|summary| tree::put(tx, summary))
            }
        })
        .await
    }

    async fn keep_only(&self, kept: Kept<'_>) -> Result<usize, StoreError> {
        let doing = "deleting unwanted results";
        match kept {
            Kept::Records(declared) => {
                let declared = declared.to_vec();
                self.writing(doing, move |tx| records::keep(tx, &declared)).await
            }
            Kept::Summaries(level, ids) => {
                let ids = ids.to_vec();
                self.writing(doing, move |tx| tree::keep(tx, level, &ids)).await
            }
        }
    }
}

fn file_record(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileRecord> {
    Ok(FileRecord { path: row.get(0)?, hash: row.get(1)?, recipe: row.get(2)? })
}
