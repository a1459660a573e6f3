//! Records the model calls of searches without waiting for another process that writes the base.

use async_trait::async_trait;
use pikerag_knowledge::{CallRecord, Claim, Ledger, StoreError};

use crate::base::Base;

/// The ledger of a search. Another process may hold the writer's lock for any time, so replies are
/// found at once and written soon. Two processes that search for the same words at the same moment
/// may both embed them.
pub(crate) struct SearchLedger(pub(crate) Base);

#[async_trait]
impl Ledger for SearchLedger {
    async fn find_all(&self, keys: &[String]) -> Result<Vec<Option<CallRecord>>, StoreError> {
        self.0.find_all(keys).await
    }

    async fn latest(&self, key: &str) -> Result<Option<CallRecord>, StoreError> {
        self.0.latest(key).await
    }

    async fn keep_all(&self, calls: Vec<CallRecord>) -> Result<(), StoreError> {
        self.0.keep_soon(calls).await
    }

    async fn mark_unusable(&self, keys: &[String]) -> Result<(), StoreError> {
        self.0.mark_unusable(keys).await
    }

    async fn claim_all(&self, _: u64, keys: &[String]) -> Result<Vec<Claim>, StoreError> {
        Ok(vec![Claim::Ours; keys.len()])
    }

    fn release(&self, _: u64, _: &[String]) {}

    async fn inherits(&self, model: &str, endpoint: &str) -> Result<bool, StoreError> {
        self.0.inherits(model, endpoint).await
    }
}
