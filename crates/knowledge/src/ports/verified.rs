//! The ports to people's judgments of answers.

use async_trait::async_trait;

use super::error::StoreError;
use crate::id::{ChunkId, VerifiedId};
use crate::verified::{KeptVerified, Verified};

/// Reads people's judgments of answers.
///
/// # Errors
/// The base cannot be read.
#[async_trait]
pub trait VerifiedReader: Send + Sync {
    /// All visible judgments, the latest first, then by identifier. With a filter, only those with at
    /// least one chunk, all of whose chunks are admitted.
    async fn verified(&self) -> Result<Vec<KeptVerified>, StoreError>;

    /// Those of these chunks, in order, that were added after this judgment, or that have other
    /// headings, another kind, summary or visibility since; all of them if it does not exist.
    async fn newer(&self, than: VerifiedId, chunks: &[ChunkId])
    -> Result<Vec<ChunkId>, StoreError>;
}

/// Writes and revokes people's judgments. Each call is one transaction.
///
/// # Errors
/// The base cannot be written.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
pub trait VerifiedWriter: VerifiedReader {
    /// Stores judgments; one with the same identifier replaces the earlier one. `seen`: whether the
    /// person judged the current base; else every chunk counts as newer.
    async fn put_verified(&self, all: Vec<Verified>, seen: bool) -> Result<(), StoreError>;

    /// Revokes a judgment. Returns whether it existed.
    async fn revoke_verified(&self, id: VerifiedId) -> Result<bool, StoreError>;
}
