//! The port to what indexing has done, and what is left to do.

use async_trait::async_trait;

use super::stage::Stage;
use super::{StoreError, VectorSet};
use crate::distilled::Structure;
use crate::graph::ChunkKind;
use crate::id::{ChunkId, NodeId};

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

/// Which chunks a stage works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkSet {
    /// All that can be searched.
    Searchable,
    /// Those of one kind that somebody sees.
    OfKind(ChunkKind),
}

/// What is new about a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructureChange<'a> {
    /// It is wanted; one that is wanted already keeps its stamp.
    Wanted,
    /// It is wanted no longer; what there is of it stays.
    Unwanted,
    /// It is whole, and was built from this; nothing happens to one that is not wanted.
    Built(&'a str),
}

/// What is done, and what waits.
///
/// # Errors
/// The base cannot be read or written.
#[async_trait]
pub trait Progress: Send + Sync {
    /// The files whose chunks and documents alone are pending on this handle of the base; `None`: all are.
    fn pending_files(&self) -> Option<&[String]>;

    /// Chunks that a stage has not done yet, by identifier, at most `limit`, above `after`.
    async fn pending(
        &self,
        stage: &Stage,
        of: ChunkSet,
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

    /// The structures that were asked for: later runs keep them up to date.
    async fn structures(&self) -> Result<Vec<Wanted>, StoreError>;

    /// Notes that a structure is wanted, is wanted no longer, or is whole.
    async fn change_structure(
        &self,
        structure: Structure,
        change: StructureChange<'_>,
    ) -> Result<(), StoreError>;
}
