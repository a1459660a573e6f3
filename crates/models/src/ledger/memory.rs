//! Records calls in memory if there is no base.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use pikerag_knowledge::{CallRecord, Claim, Ledger, StoreError};

use super::key::request_key;

/// A ledger that lives as long as the process: for tests, and for questions without a base.
#[derive(Debug, Default)]
pub struct MemoryLedger(Mutex<BTreeMap<String, CallRecord>>);

impl MemoryLedger {
    /// Every recorded call, by key.
    pub fn calls(&self) -> Vec<CallRecord> {
        self.held().values().cloned().collect()
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<String, CallRecord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Ledger for MemoryLedger {
    async fn find_all(&self, keys: &[String]) -> Result<Vec<Option<CallRecord>>, StoreError> {
        let calls = self.held();
        Ok(keys.iter().map(|key| calls.get(key).cloned()).collect())
    }

    async fn latest(&self, key: &str) -> Result<Option<CallRecord>, StoreError> {
        let calls = self.held();
        let following = calls.values().filter(|call| request_key(&call.key) == key);
        Ok(following.max_by_key(|call| (call.key.len(), call.key.clone())).cloned())
    }

    async fn mark_unusable(&self, keys: &[String]) -> Result<(), StoreError> {
        let mut calls = self.held();
        for key in keys {
            if let Some(call) = calls.get_mut(key) {
                call.unusable = true;
            }
        }
        Ok(())
    }

    /// Grants every claim: no other process shares this ledger.
    async fn claim_all(&self, _holder: u64, keys: &[String]) -> Result<Vec<Claim>, StoreError> {
        let calls = self.held();
        let claim = |key: &String| match calls.contains_key(key) {
            true => Claim::Recorded,
            false => Claim::Ours,
        };
        Ok(keys.iter().map(claim).collect())
    }

    fn release(&self, _holder: u64, _keys: &[String]) {}

    async fn keep_all(&self, calls: Vec<CallRecord>) -> Result<(), StoreError> {
        let mut kept = self.held();
        for call in calls {
            kept.entry(call.key.clone()).or_insert(call);
        }
        Ok(())
    }
}
