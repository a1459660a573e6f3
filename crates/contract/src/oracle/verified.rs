//! Keeps people's judgments of answers in a list.

use std::cmp::Reverse;

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, KeptVerified, StoreError, Verified, VerifiedId, VerifiedReader, VerifiedWriter,
};

use super::Oracle;

#[async_trait]
impl VerifiedReader for Oracle {
    async fn verified(&self) -> Result<Vec<KeptVerified>, StoreError> {
        let state = self.state();
        let mut kept: Vec<KeptVerified> = state
            .verified
            .values()
            .map(|(verified, _)| {
                let gone = |chunk: ChunkId| state.chunk(chunk).is_none();
                let grounds = verified.grounds.iter().filter(|ground| gone(ground.chunk));
                let mut changed: Vec<String> = grounds.map(|ground| ground.uri.clone()).collect();
                changed.sort();
                changed.dedup();
                KeptVerified { verified: verified.clone(), changed }
            })
            .collect();
        kept.sort_by_key(|kept| (Reverse(kept.verified.at), kept.verified.id));
        Ok(kept)
    }

    async fn newer(
        &self,
        than: VerifiedId,
        chunks: &[ChunkId],
    ) -> Result<Vec<ChunkId>, StoreError> {
        let state = self.state();
        let since = state.verified.get(&than).map_or(0, |(_, generation)| *generation);
        let came_later = |chunk: &ChunkId| {
            state.chunk(*chunk).is_some() && state.born.get(chunk).is_some_and(|born| since < *born)
        };
        Ok(chunks.iter().copied().filter(came_later).collect())
    }
}

#[async_trait]
impl VerifiedWriter for Oracle {
    async fn put_verified(&self, all: Vec<Verified>, seen: bool) -> Result<(), StoreError> {
        let mut state = self.state();
        let generation = if seen { state.generation } else { 0 };
        for verified in all {
            state.verified.insert(verified.id, (verified, generation));
        }
        Ok(())
    }

    async fn revoke_verified(&self, id: VerifiedId) -> Result<bool, StoreError> {
        Ok(self.state().verified.remove(&id).is_some())
    }
}
