//! Makes typed tables from the tables and records in documents: assigns rows to tables, then rewrites each
//! table whose rows changed.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

use async_trait::async_trait;
use pikerag_knowledge::uri::is_relation;
use pikerag_knowledge::{
    Chunk, ChunkResults, InChunk, KnowledgeWriter, SourceId, Stage as Mark, StoreError, TableShape,
    Which,
};
use pikerag_typing::TypedRows;

use crate::outcome::Report;
use crate::pending::all_pending;
use crate::stage::{Job, Ran, Row, Stage};

/// The typed tables of all documents.
pub(crate) struct TypedTables;

#[async_trait]
impl Stage for TypedTables {
    async fn run(&self, row: &Row, job: &Job<'_>, _report: &mut Report) -> Ran {
        let base = job.base();
        let pending = all_pending(base, &Mark::tables()).await?;
        for (page, done) in job.pages(row, &pending) {
            let chunks = base.chunks(page).await?;
            let found = shapes(base, &chunks).await?;
            base.put_chunk_results(ChunkResults::Shapes(found)).await?;
            done();
        }
        for shape in base.stale_tables().await? {
            base.write_table(shape, Box::new(TypedRows::default())).await?;
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The table that the rows of each chunk belong to.
async fn shapes(
    base: &dyn KnowledgeWriter,
    chunks: &[Chunk],
) -> Result<Vec<InChunk<Option<TableShape>>>, StoreError> {
    let records: BTreeSet<SourceId> =
        chunks.iter().filter(|chunk| is_record(chunk)).map(|chunk| chunk.source).collect();
    let records: Vec<SourceId> = records.into_iter().collect();
    let mut with_metadata = HashSet::new();
    if !records.is_empty() {
        let sources = base.sources(Which::Of(&records)).await?;
        let found = sources.iter().filter(|source| !source.metadata.is_empty());
        with_metadata.extend(found.map(|source| source.id));
    }
    let shape = |chunk: &Chunk| match &chunk.table {
        Some(_) if is_relation(&chunk.uri) => Some(TableShape::of_relation(&chunk.uri)),
        Some(table) => TableShape::of_header(&table.header),
        None if is_record(chunk) && with_metadata.contains(&chunk.source) => {
            TableShape::of_record(&chunk.uri)
        }
        None => None,
    };
    Ok(chunks.iter().map(|chunk| InChunk { chunk: chunk.id, found: shape(chunk) }).collect())
}

/// Whether this is the first chunk of one of several documents in a file.
fn is_record(chunk: &Chunk) -> bool {
    chunk.table.is_none() && chunk.ordinal == 0 && TableShape::of_record(&chunk.uri).is_some()
}
