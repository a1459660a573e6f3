//! Where are calls recorded when there is no base?

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use pikerag_knowledge::{CallRecord, Ledger, StoreError};

/// A ledger that lives as long as the process: for tests, and for questions without a base.
#[derive(Debug, Default)]
pub struct MemoryLedger(Mutex<BTreeMap<String, CallRecord>>);

impl MemoryLedger {
    /// A ledger that holds these calls; of two with one key, the first.
    pub fn with_calls(calls: impl IntoIterator<Item = CallRecord>) -> Self {
        let mut map = BTreeMap::new();
        for call in calls {
            map.entry(call.key.clone()).or_insert(call);
        }
        Self(Mutex::new(map))
    }

    /// Every recorded call, by key.
    pub fn calls(&self) -> Vec<CallRecord> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.values().cloned().collect()
    }
}

#[async_trait]
impl Ledger for MemoryLedger {
    async fn find_all(&self, keys: &[String]) -> Result<Vec<Option<CallRecord>>, StoreError> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(keys.iter().map(|key| calls.get(key).cloned()).collect())
    }

    async fn keep_all(&self, calls: Vec<CallRecord>) -> Result<(), StoreError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for call in calls {
            kept.entry(call.key.clone()).or_insert(call);
        }
        Ok(())
    }
}
