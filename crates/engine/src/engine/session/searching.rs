//! Records the model calls of searches without waiting for another process that writes the base,
//! and lends searches what earlier ones found out.

use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{BaseState, CallRecord, Claim, Embedder, Filter, Ledger, StoreError};
use pikerag_methods::Ports;
use pikerag_models::QueryMemo;
use pikerag_retrieve::{Known, Memory};

use super::Session;
use crate::base::Base;
use crate::error::Result;

impl Session {
    /// The ports of one question, with a memory: its parts look up and embed the same texts. Earlier
    /// questions that saw the same documents share what they found out.
    pub(crate) async fn with_memory(
        &self,
        base: &Base,
        ports: Ports,
        filter: &Filter,
    ) -> Result<Ports> {
        let BaseState { generation, scope, .. } = ports.base.state().await?;
        let known = match (self.sees_all() && filter.is_empty(), scope) {
            (true, _) => {
                self.shared().process.known.of(&format!("{} {generation}", base.opening()))
            }
            (false, Some(scope)) => {
                let name = format!("{} {generation} {scope}", base.opening());
                self.shared().process.known.of(&name)
            }
            // It meets the same names in many chunks.
            (false, None) => Known::default().of("this question"),
        };
        let embedder =
            ports.embedder.map(|inner| -> Arc<dyn Embedder> { Arc::new(QueryMemo::new(inner)) });
        Ok(Ports { embedder, memory: Some(Arc::new(Memory::new(Some(known)))), ..ports })
    }

    /// Drops what earlier questions found out, of all bases: it holds titles and words of texts.
    pub(crate) fn forget_known(&self) {
        self.shared().process.known.forget();
    }
}

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
