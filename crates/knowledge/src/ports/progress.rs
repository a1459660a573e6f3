//! The port to what indexing has done, and what is left to do.

use async_trait::async_trait;

use super::{StoreError, VectorSet};
use crate::distilled::{Generation, Structure};
use crate::graph::{AtomKind, ChunkKind};
use crate::id::{ChunkId, NodeId, TagClassId};
use crate::records::RecordSchema;

/// A stage that works chunk by chunk, and whose progress is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage(pub String);

impl Stage {
    /// Atomizing into one kind of atom.
    pub fn atomize(kind: AtomKind) -> Self {
        Self(format!("atomize:{}", kind.as_str()))
    }

    /// Reading records under a schema: what stands there plainly, or what a model reads in texts.
    pub fn records(schema: &RecordSchema, by: RecordsBy) -> Self {
        let by = match by {
            RecordsBy::Rules => "rules",
            RecordsBy::Model => "model",
        };
        Self(format!("records:{}:{:016x}:{by}", schema.name, schema.hash().0))
    }

    /// Saying what chunks of a kind hold: tables, figures.
    pub fn describe(kind: ChunkKind) -> Self {
        Self(format!("describe:{}", kind.as_str()))
    }

    /// Saying what documents are about.
    pub fn summarize_sources() -> Self {
        Self("describe:source".to_owned())
    }

    /// Putting together what many chunks say of an entity or relation.
    pub fn describe_entities() -> Self {
        Self("describe:entity".to_owned())
    }

    /// Reporting on communities.
    pub fn report() -> Self {
        Self("report:community".to_owned())
    }

    /// Summing up clusters of the tree.
    pub fn summarize_clusters() -> Self {
        Self("summarize:cluster".to_owned())
    }

    /// Whether its nodes are chunks, each with a mark once it is done.
    pub fn is_of_chunks(&self) -> bool {
        let others = [
            Self::summarize_sources(),
            Self::describe_entities(),
            Self::report(),
            Self::summarize_clusters(),
        ];
        !others.contains(self)
    }

    /// Looking for tags of a class.
    pub fn tag(class: TagClassId) -> Self {
        Self(format!("tag:{class}"))
    }

    /// Finding entities and relations: by a model, or by names alone.
    pub fn extract(by: ExtractBy) -> Self {
        Self(match by {
            ExtractBy::Model => "extract:model".to_owned(),
            ExtractBy::Names => "extract:names".to_owned(),
        })
    }
}

/// Who reads records out of chunks; each is pending for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordsBy {
    /// Nobody: they stand in tables, lines and metadata.
    Rules,
    /// A language model, asked chunk by chunk.
    Model,
}

/// Who finds entities and relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtractBy {
    /// A language model, asked chunk by chunk.
    Model,
    /// The finder of proper names.
    Names,
}

/// A text that waits for its vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextToEmbed {
    /// The node; its set says of which kind.
    pub node: NodeId,
    /// What the embedder is to see.
    pub text: String,
}

/// A structure that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which one.
    pub structure: Structure,
    /// What it was last built from as a whole; empty where it never was.
    pub stamp: String,
}

/// What is done, and what waits.
///
/// # Errors
/// The base cannot be read or written.
#[async_trait]
pub trait Progress: Send + Sync {
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

    /// The texts that still need a vector of this embedder, by identifier, at most `limit`, above `after`.
    async fn without_vector(
        &self,
        set: VectorSet,
        embedder: &str,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Vec<TextToEmbed>, StoreError>;

    /// How many texts, of all sets together, still need a vector of this embedder.
    async fn count_without_vector(&self, embedder: &str) -> Result<usize, StoreError>;

    /// Advances with every change of documents.
    async fn generation(&self) -> Result<Generation, StoreError>;

    /// The structures that were asked for: later runs keep them up to date.
    async fn structures(&self) -> Result<Vec<Wanted>, StoreError>;

    /// Notes that a structure is wanted; one that is wanted already keeps its stamp.
    async fn request(&self, structure: Structure) -> Result<(), StoreError>;

    /// Notes that a structure is wanted no longer; what there is of it stays.
    async fn release(&self, structure: Structure) -> Result<(), StoreError>;

    /// Notes that a wanted structure is whole, and what it was built from.
    async fn mark_built(&self, structure: Structure, stamp: &str) -> Result<(), StoreError>;
}
