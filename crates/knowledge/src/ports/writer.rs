//! The port that indexing writes documents through: files, and what was made of their chunks one by one.

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

/// What a stage made of chunks.
#[derive(Clone, Debug, PartialEq)]
pub enum ChunkResults {
    /// What a model says of chunks (`None`: nothing to say) takes the place of what it said before. What was made of a
    /// figure before it was described waits to be made again.
    Summaries(Stage, Vec<InChunk<Option<String>>>),
    /// Atoms are added to those that are there.
    Atoms(Stage, Vec<InChunk<Vec<Atom>>>),
    /// Records under the schema of this hash; one of the same identifier takes the earlier one's place.
    Records(Stage, SchemaHash, Vec<InChunk<Vec<Record>>>),
    /// The table that a chunk's rows belong to, if it has any; [`DataWriter`](super::DataWriter) writes it.
    Shapes(Vec<InChunk<Option<TableShape>>>),
    /// What chunks say of entities and relations takes the place of what was known of them. What a model has found
    /// counts as found by names too.
    Extractions(ExtractBy, Vec<InChunk<Extraction>>),
    /// Tags in some classes, each under the key of its folded text; these classes are done for the chunk. Classes that
    /// are gone are left out.
    Tags(Vec<ChunkTags>),
}

/// What a model wrote about more than one chunk.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelTexts {
    /// Of documents; one of another text than the source has now is left out.
    Sources(Vec<SourceSummary>),
    /// Of long descriptions; one that was made from something else than what is said now is left out.
    Descriptions(Vec<ShortDescription>),
    /// On communities; one on a community that is gone is left out.
    Reports(Vec<CommunityReport>),
    /// Of clusters in the tree; one of which a child is gone is left out.
    Clusters(Vec<Summary>),
}

/// What stays when all else of its kind goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept<'a> {
    /// Records under these schemas. The marks of the stages of others go too.
    Records(&'a [DeclaredSchema]),
    /// These summaries of a level. What was made from others goes too.
    Summaries(u8, &'a [SummaryId]),
}

/// What indexing writes of documents. Each call is one transaction: all of it is kept, or nothing.
#[async_trait]
pub trait CorpusWriter: Send + Sync {
    /// Every file on record by path, or those of these paths in the order asked for; unknown ones are left out.
    async fn files(&self, which: Which<'_, &str>) -> Result<Vec<FileRecord>, StoreError>;

    /// Stores a file's documents in place of what it held before. Chunks with the same identity
    /// keep what was made from them; what is gone takes all that derives from it along.
    async fn put_file(
        &self,
        file: &FileRecord,
        documents: Vec<DocumentGraph>,
    ) -> Result<PutReport, StoreError>;

    /// Removes a file and all that derives from it; whether it was there.
    async fn delete_file(&self, path: &str) -> Result<bool, StoreError>;

    /// Stores what was made of chunks, and marks the stage done for those chunks. Chunks that are gone are left out.
    async fn put_chunk_results(&self, results: ChunkResults) -> Result<(), StoreError>;

    /// Stores what a model wrote, where that which it was made of is still there.
    async fn put_texts(&self, texts: ModelTexts) -> Result<(), StoreError>;

    /// Drops what is not among these; how many went.
    async fn keep_only(&self, kept: Kept<'_>) -> Result<usize, StoreError>;
}
