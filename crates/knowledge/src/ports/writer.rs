//! The port that indexing writes documents through: files, and what was made of their chunks one by one.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::StoreError;
use super::stage::Stage;
use crate::graph::{Atom, DocumentGraph};
use crate::id::{ChunkId, SourceId};
use crate::records::{DeclaredSchema, Record, SchemaHash};

/// What the base knows of a file it has read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The file's path below the folder that the base remembers, with `/` between its parts; its whole path
    /// where it lies elsewhere. [`crate::file_uri`] makes its documents' URIs of it.
    pub path: String,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub hash: String,
    /// The settings it was read under (parser and chunker versions, sizes): other settings, read
    /// again.
    pub recipe: String,
}

/// What storing a file changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PutReport {
    /// Chunks that were not there before.
    pub added: usize,
    /// Chunks that stayed, with all that was made from them.
    pub kept: usize,
    /// Chunks that went, with all that was made from them.
    pub removed: usize,
}

/// What was made of one chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct InChunk<T> {
    /// The chunk it was made of.
    pub chunk: ChunkId,
    /// What came of it; empty is a result too.
    pub found: T,
}

/// What a document is about as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSummary {
    /// The document.
    pub source: SourceId,
    /// Hash of the text that it was made from.
    pub hash: String,
    /// What a model says; empty where it had nothing to say.
    pub summary: String,
}

/// What indexing writes of documents. Each call is one transaction: all of it is kept, or nothing.
#[async_trait]
pub trait CorpusWriter: Send + Sync {
    /// The record of a file, if it was read before.
    async fn file(&self, path: &str) -> Result<Option<FileRecord>, StoreError>;

    /// Every file on record, by path.
    async fn files(&self) -> Result<Vec<FileRecord>, StoreError>;

    /// Stores a file's documents in place of what it held before. Chunks with the same identity
    /// keep what was made from them; what is gone takes all that derives from it along.
    async fn put_file(
        &self,
        file: &FileRecord,
        documents: Vec<DocumentGraph>,
    ) -> Result<PutReport, StoreError>;

    /// Removes a file and all that derives from it; whether it was there.
    async fn delete_file(&self, path: &str) -> Result<bool, StoreError>;

    /// Stores summaries of whole documents. One of another text than the source has now is left out.
    async fn put_source_summaries(&self, summaries: Vec<SourceSummary>) -> Result<(), StoreError>;

    /// Stores what a model says of chunks (`None`: nothing to say) in place of what it said before, and
    /// marks the stage done for those chunks, in one transaction. Chunks that are gone are left out. What
    /// was made of a figure before it was described waits to be made again.
    async fn put_chunk_summaries(
        &self,
        stage: &Stage,
        summaries: Vec<InChunk<Option<String>>>,
    ) -> Result<(), StoreError>;

    /// Stores the atoms of chunks and marks the stage done for those chunks, in one transaction.
    async fn put_atoms(
        &self,
        stage: &Stage,
        atoms: Vec<InChunk<Vec<Atom>>>,
    ) -> Result<(), StoreError>;

    /// Stores the records that chunks hold under a schema, whose hash is `declared`, and marks the stage
    /// done for those chunks, in one transaction. Chunks that are gone are left out.
    async fn put_records(
        &self,
        stage: &Stage,
        declared: SchemaHash,
        found: Vec<InChunk<Vec<Record>>>,
    ) -> Result<(), StoreError>;

    /// Drops records under schemas that are not declared any more, with the marks of
    /// their stages; how many went.
    async fn keep_records(&self, declared: &[DeclaredSchema]) -> Result<usize, StoreError>;
}
