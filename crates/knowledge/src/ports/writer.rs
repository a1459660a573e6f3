//! The port that indexing writes through: files, what was made of their chunks, and the structures over
//! all of them.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::base::{KnowledgeBase, VectorSet};
use super::error::StoreError;
use super::stage::{ExtractBy, Stage};
use super::{RefusalWriter, TagWriter, Vector};
use crate::distilled::{
    Community, Extraction, LongDescription, Outline, Report, Structure, Summary,
};
use crate::graph::{Atom, ChunkKind, DocumentGraph};
use crate::id::{ChunkId, CommunityId, SourceId, SummaryId};
use crate::records::Record;

/// What the base knows of a file it has read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The file as the user named it; also the first part of its documents' URIs.
    pub path: String,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub hash: String,
    /// The settings it was read under (parser and chunker versions, sizes): other settings, read
    /// again.
    pub recipe: String,
}

/// What storing a file changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutReport {
    /// Chunks that were not there before.
    pub added: usize,
    /// Chunks that stayed, with all that was made from them.
    pub kept: usize,
    /// Chunks that went, with all that was made from them.
    pub removed: usize,
}

/// What indexing writes. Each call is one transaction: all of it is kept, or nothing.
#[async_trait]
pub trait KnowledgeWriter: KnowledgeBase + TagWriter + RefusalWriter {
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

    /// Chunks that a stage has not done yet, by identifier, at most `limit`, above `after`.
    async fn pending(
        &self,
        stage: &Stage,
        after: Option<ChunkId>,
        limit: usize,
    ) -> Result<Vec<ChunkId>, StoreError>;

    /// The same for chunks of one kind.
    async fn pending_of(
        &self,
        stage: &Stage,
        kind: ChunkKind,
        after: Option<ChunkId>,
        limit: usize,
    ) -> Result<Vec<ChunkId>, StoreError>;

    /// Stores summaries of whole documents: (source, hash of the text it was made from, summary). One of
    /// another text than the source has now is left out.
    async fn put_source_summaries(
        &self,
        summaries: Vec<(SourceId, String, String)>,
    ) -> Result<(), StoreError>;

    /// Stores what a model says of chunks (`None`: nothing to say) in place of what it said before, and
    /// marks the stage done for those chunks, in one transaction. Chunks that are gone are left out. What
    /// was made of a figure before it was described waits to be made again.
    async fn put_chunk_summaries(
        &self,
        stage: &Stage,
        summaries: Vec<(ChunkId, Option<String>)>,
    ) -> Result<(), StoreError>;

    /// Stores the atoms of chunks and marks the stage done for those chunks, in one transaction.
    async fn put_atoms(
        &self,
        stage: &Stage,
        atoms: Vec<(ChunkId, Vec<Atom>)>,
    ) -> Result<(), StoreError>;

    /// Stores the records that chunks hold under a schema, whose hash is `declared`, and marks the stage
    /// done for those chunks, in one transaction. Chunks that are gone are left out.
    async fn put_records(
        &self,
        stage: &Stage,
        declared: u64,
        found: Vec<(ChunkId, Vec<Record>)>,
    ) -> Result<(), StoreError>;

    /// Drops records under schemas that are not declared (by name and hash) any more, with the marks of
    /// their stages; how many went.
    async fn keep_records(&self, declared: &[(String, u64)]) -> Result<usize, StoreError>;

    /// Stores what chunks say of entities and relations in place of what was known of them, and marks
    /// the stage done for those chunks, in one transaction. What a model has found counts as found by
    /// names too.
    async fn put_extractions(
        &self,
        by: ExtractBy,
        found: Vec<(ChunkId, Extraction)>,
    ) -> Result<(), StoreError>;

    /// Entities and relations of which more than `bytes` bytes are said, and which have no summary of
    /// that yet; by identifier, entities first.
    async fn long_descriptions(&self, bytes: usize) -> Result<Vec<LongDescription>, StoreError>;

    /// Stores summaries of long descriptions: (node, key of what it was made from, summary). One that
    /// was made from something else than what is said now is left out.
    async fn put_descriptions(&self, made: Vec<(u64, u64, String)>) -> Result<(), StoreError>;

    /// The entity graph as it stands.
    async fn outline(&self) -> Result<Outline, StoreError>;

    /// Puts these communities in place of all others; those that stay keep their reports. Parents come
    /// before their parts. `false`, and nothing is changed, where documents changed since the outline.
    async fn put_communities(
        &self,
        generation: i64,
        communities: Vec<Community>,
    ) -> Result<bool, StoreError>;

    /// Stores reports; one on a community that is gone is left out.
    async fn put_reports(&self, reports: Vec<(CommunityId, Report)>) -> Result<(), StoreError>;

    /// Stores summaries; one of which a child is gone is left out.
    async fn put_summaries(&self, summaries: Vec<Summary>) -> Result<(), StoreError>;

    /// Drops the summaries of a level that are not among these, and all that was made from them.
    async fn keep_summaries(&self, level: u8, ids: &[SummaryId]) -> Result<(), StoreError>;

    /// Advances with every change of documents.
    async fn generation(&self) -> Result<i64, StoreError>;

    /// The structures that were asked for, each with the stamp of its last whole building, or with an
    /// empty one: later runs keep them up to date.
    async fn structures(&self) -> Result<Vec<(Structure, String)>, StoreError>;

    /// Notes that a structure is wanted; one that is wanted already keeps its stamp.
    async fn request(&self, structure: Structure) -> Result<(), StoreError>;

    /// Notes that a wanted structure is whole, and what it was built from.
    async fn mark_built(&self, structure: Structure, stamp: &str) -> Result<(), StoreError>;

    /// The texts that still need a vector of this embedder: (identifier, text), by identifier, at
    /// most `limit`, above `after`.
    async fn without_vector(
        &self,
        set: VectorSet,
        embedder: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(u64, String)>, StoreError>;

    /// Stores vectors, with the model that made them.
    async fn put_vectors(
        &self,
        set: VectorSet,
        embedder: &str,
        vectors: Vec<(u64, Vector)>,
    ) -> Result<(), StoreError>;

    /// Brings the derived indexes up to the database. Costs no model call.
    async fn refresh(&self) -> Result<(), StoreError>;
}
