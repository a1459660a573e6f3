//! The ports to what people said of answers.

use async_trait::async_trait;

use super::error::StoreError;
use crate::id::{ChunkId, VerifiedId};
use crate::verified::{KeptVerified, Verified};

/// What people said of answers.
///
/// # Errors
/// The base cannot be read.
#[async_trait]
pub trait VerifiedReader: Send + Sync {
    /// All that may be seen, the latest first, then by identifier. Where a filter shows a part of the base, those alone whose
    /// chunks are all in it, and that rest on any.
    async fn verified(&self) -> Result<Vec<KeptVerified>, StoreError>;

    /// Those of these chunks, in order, that came or changed after this was said, or at all where it is not there.
    async fn newer(&self, than: VerifiedId, chunks: &[ChunkId])
    -> Result<Vec<ChunkId>, StoreError>;
}

/// What people say of answers, and take back. Each call is one transaction.
#[async_trait]
pub trait VerifiedWriter: VerifiedReader {
    /// Keeps them; one of the same identifier takes the earlier one's place. `seen`: whether who said it had the base of now
    /// before the eyes; else every chunk counts as newer.
    async fn put_verified(&self, all: Vec<Verified>, seen: bool) -> Result<(), StoreError>;

    /// Takes one back, for good; whether there was one.
    async fn revoke_verified(&self, id: VerifiedId) -> Result<bool, StoreError>;
}
