//! The port through which indexing writes documents: files, and results by chunk.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::corpus::Which;
use super::data::TableShape;
use super::graph::{CommunityReport, ShortDescription};
use super::stage::{ExtractBy, Stage};
use super::{ChunkTags, StoreError};
use crate::distilled::{Extraction, Summary};
use crate::graph::{Atom, DocumentGraph};
use crate::id::{ChunkId, SourceId, SummaryId};
use crate::records::{DeclaredSchema, Record, SchemaHash};

/// The record of a file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The file's path below the folder that the base remembers, with `/` between its parts; its
    /// whole path if it is elsewhere. [`crate::file_uri`] makes its documents' URIs from it.
    pub path: String,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub hash: String,
    /// The settings at reading time (parser and chunker versions, sizes): under other settings, the
    /// file is read again.
    pub recipe: String,
}

/// The changes that storing a file made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PutReport {
    /// New chunks.
    pub added: usize,
    /// Unchanged chunks, with all results that were made from them.
    pub kept: usize,
    /// Removed chunks, with all results that were made from them.
    pub removed: usize,
}

/// A result for one chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct InChunk<T> {
    /// The chunk.
    pub chunk: ChunkId,
    /// The result; it may be empty.
    pub found: T,
}

/// A summary of a whole document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSummary {
    /// The document.
    pub source: SourceId,
    /// Hash of the text that it was made from.
    pub hash: String,
    /// The summary; may be empty.
    pub summary: String,
}

/// Results of a stage for chunks.
#[derive(Clone, Debug, PartialEq)]
pub enum ChunkResults {
    /// Model descriptions of chunks (`None`: nothing to describe), which replace earlier ones.
    /// Results that were made of a figure before its description are made again.
    Summaries(Stage, Vec<InChunk<Option<String>>>),
    /// Atoms to add to the existing ones.
    Atoms(Stage, Vec<InChunk<Vec<Atom>>>),
    /// Records under the schema of this hash; one with the same identifier replaces the earlier
    /// one.
    Records(Stage, SchemaHash, Vec<InChunk<Vec<Record>>>),
    /// The table of a chunk's rows, if it has any; [`DataWriter`](super::DataWriter) writes it.
    Shapes(Vec<InChunk<Option<TableShape>>>),
    /// Entities and relations of chunks, which replace earlier ones. Results of a model count as
    /// results by names too.
    Extractions(ExtractBy, Vec<InChunk<Extraction>>),
    /// Tags of some classes, each under the key of its folded text; these classes are finished for
    /// the chunk. Deleted classes are left out.
    Tags(Vec<ChunkTags>),
}

/// A model's text about more than one chunk.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelTexts {
    /// About documents; a text about another version of the source is left out.
    Sources(Vec<SourceSummary>),
    /// About long descriptions; a text that was made from other descriptions is left out.
    Descriptions(Vec<ShortDescription>),
    /// About communities; a report on a deleted community is left out.
    Reports(Vec<CommunityReport>),
    /// About clusters of the tree; a summary with a deleted child is left out.
    Clusters(Vec<Summary>),
}

/// The items to keep; all others of the kind are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept<'a> {
    /// Records under these schemas. The stage marks of other schemas are dropped too.
    Records(&'a [DeclaredSchema]),
    /// These summaries of a level. Nodes that were made from others are dropped too.
    Summaries(u8, &'a [SummaryId]),
}

/// Writes documents for indexing. Each call is one atomic transaction.
///
/// # Errors
/// The base cannot be read or written; nothing has changed in that case.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
pub trait CorpusWriter: Send + Sync {
    /// Every recorded file by path, or those of these paths in the given order; unknown ones are
    /// left out.
    async fn files(&self, which: Which<'_, &str>) -> Result<Vec<FileRecord>, StoreError>;

    /// Replaces a file's documents. Chunks with the same identity keep their results; removed
    /// chunks are deleted with everything derived from them.
    async fn put_file(
        &self,
        file: &FileRecord,
        documents: Vec<DocumentGraph>,
    ) -> Result<PutReport, StoreError>;

    /// Removes a file and everything derived from it. Returns whether it existed.
    async fn delete_file(&self, path: &str) -> Result<bool, StoreError>;

    /// Stores results of chunks, and marks the stage as finished for them. Deleted chunks are left
    /// out.
    async fn put_chunk_results(&self, results: ChunkResults) -> Result<(), StoreError>;

    /// Stores a model's texts, if their sources still exist.
    async fn put_texts(&self, texts: ModelTexts) -> Result<(), StoreError>;

    /// Drops all other items. Returns their number.
    async fn keep_only(&self, kept: Kept<'_>) -> Result<usize, StoreError>;
}
