//! The port to the progress of indexing: finished and pending work.

use async_trait::async_trait;

use super::stage::Stage;
use super::{StoreError, VectorSet};
use crate::distilled::Structure;
use crate::graph::ChunkKind;
use crate::id::{ChunkId, NodeId};

/// A text without a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextToEmbed {
    /// The node; its set determines the kind.
    pub node: NodeId,
    /// The text for the embedder.
    pub text: String,
}

/// A structure that was requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The structure.
    pub structure: Structure,
    /// The input of its last complete build; empty if there was none.
    pub stamp: String,
}

/// The chunks that a stage works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkSet {
    /// All that can be searched.
    Searchable,
    /// Visible chunks of one kind.
    OfKind(ChunkKind),
}

/// A change of a structure's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructureChange<'a> {
    /// It is wanted; if it is already, it keeps its stamp.
    Wanted,
    /// It is no longer wanted; its content stays.
    Unwanted,
    /// It is complete, and was built from this; no effect if it is not wanted.
    Built(&'a str),
}

/// Finished and pending work.
///
/// # Errors
/// The base cannot be read or written.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
pub trait Progress: Send + Sync {
    /// The files to which pending chunks and documents are limited on this handle of the base;
    /// `None`: all.
    fn pending_files(&self) -> Option<&[String]>;

    /// Chunks that a stage has not finished, by identifier, at most `limit`, above `after`; `None`
    /// begins with the first. Empty if the stage has finished all.
    async fn pending(
        &self,
        stage: &Stage,
        of: ChunkSet,
        after: Option<ChunkId>,
        limit: usize,
    ) -> Result<Vec<ChunkId>, StoreError>;

    /// Texts without a vector of this embedder, by identifier, at most `limit`, above `after`.
    async fn without_vector(
        &self,
        set: VectorSet,
        embedder: &str,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Vec<TextToEmbed>, StoreError>;

    /// The number of texts, over all sets, without a vector of this embedder.
    async fn count_without_vector(&self, embedder: &str) -> Result<usize, StoreError>;

    /// The requested structures, which later runs keep up to date.
    async fn structures(&self) -> Result<Vec<Wanted>, StoreError>;

    /// Records that a structure is wanted, no longer wanted, or complete.
    async fn change_structure(
        &self,
        structure: Structure,
        change: StructureChange<'_>,
    ) -> Result<(), StoreError>;
}
