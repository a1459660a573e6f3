//! Implements the [`CorpusWriter`] port: files, and the results for their chunks.

use std::slice;

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkResults, CorpusWriter, DocumentGraph, FileRecord, Kept, ModelTexts, PutReport, StoreError,
    Which,
};

use super::{corrections, put, records, results};
use crate::base::Base;
use crate::fault::Sql;
use crate::graph::{distil, tags, tree};
use crate::rows::Text;
use crate::tables;
use crate::tx::{Access, Tx};

#[async_trait]
impl CorpusWriter for Base {
    async fn files(&self, which: Which<'_, &str>) -> Result<Vec<FileRecord>, StoreError> {
        self.reading("reading the record of files", |tx| async move { files(&tx, which).await })
            .await
    }

    async fn put_file(
        &self,
        file: &FileRecord,
        documents: Vec<DocumentGraph>,
    ) -> Result<PutReport, StoreError> {
        let file = file.clone();
        self.writing("storing a file", Access::Documents, move |tx| async move {
            put::put_file(&tx, &file, &documents).await
        })
        .await
    }

    async fn delete_file(&self, path: &str) -> Result<bool, StoreError> {
        let path = path.to_owned();
        self.writing("deleting a file", Access::Documents, move |tx| async move {
            let deleted = put::delete_files(&tx, slice::from_ref(&path)).await?;
            corrections::leave(&tx, &path).await?;
            Ok(deleted > 0)
        })
        .await
    }

    async fn put_chunk_results(&self, results: ChunkResults) -> Result<(), StoreError> {
        let doing = "storing the results for chunks";
        self.writing(doing, Access::Documents, move |tx| async move {
            match &results {
                ChunkResults::Summaries(stage, found) => {
                    results::put_summaries(&tx, &stage.0, found).await
                }
                ChunkResults::Atoms(stage, found) => results::put_atoms(&tx, &stage.0, found).await,
                ChunkResults::Records(stage, declared, found) => {
                    records::put(&tx, &stage.0, *declared, found).await
                }
                ChunkResults::Shapes(found) => tables::put_shapes(&tx, found).await,
                ChunkResults::Extractions(by, found) => {
                    distil::put_extraction(&tx, *by, found).await
                }
                ChunkResults::Tags(found) => tags::put_tags(&tx, found).await,
            }
        })
        .await
    }

    async fn put_texts(&self, texts: ModelTexts) -> Result<(), StoreError> {
        let doing = "storing the texts of a model";
        self.writing(doing, Access::Documents, move |tx| async move {
            match &texts {
                ModelTexts::Sources(summaries) => {
                    results::put_source_summaries(&tx, summaries).await
                }
                ModelTexts::Descriptions(made) => distil::put_descriptions(&tx, made).await,
                ModelTexts::Reports(reports) => distil::put_reports(&tx, reports).await,
                ModelTexts::Clusters(summaries) => tree::put(&tx, summaries).await,
            }
        })
        .await
    }

    async fn keep_only(&self, kept: Kept<'_>) -> Result<usize, StoreError> {
        let doing = "deleting unwanted results";
        match kept {
            Kept::Records(declared) => {
                let declared = declared.to_vec();
                self.writing(doing, Access::Documents, move |tx| async move {
                    records::keep(&tx, &declared).await
                })
                .await
            }
            Kept::Summaries(level, ids) => {
                let ids = ids.to_vec();
                self.writing(doing, Access::Documents, move |tx| async move {
                    tree::keep(&tx, level, &ids).await
                })
                .await
            }
        }
    }
}

/// All files by path, or those of these paths in the given order.
async fn files(tx: &Tx, which: Which<'_, &str>) -> Sql<Vec<FileRecord>> {
    let found = match which {
        Which::All => tx.all("SELECT path, hash, recipe FROM files ORDER BY path", &[]).await?,
        Which::Of(paths) => {
            let paths: Vec<Text<'_>> = paths.iter().map(|path| Text(path)).collect();
            let sql = "SELECT f.path, f.hash, f.recipe
                 FROM unnest($1::text[]) WITH ORDINALITY AS w(path, nth)
                 JOIN files f ON f.path = w.path ORDER BY w.nth";
            tx.all(sql, &[&paths]).await?
        }
    };
    found.iter().map(put::file_record).collect()
}
