//! Keeps schemas that questions derived in a list.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, KeptSchema, ReadPassage, RecordSchema, StoreError, Structured, StructuredReader,
    StructuredWriter,
};

use super::{HeldRecord, HeldSchema, Oracle, State};

#[async_trait]
impl StructuredReader for Oracle {
    async fn kept_schemas(&self) -> Result<Vec<KeptSchema>, StoreError> {
        Ok(self.state().latest_schemas())
    }

    async fn passages_read(&self, schema: &RecordSchema) -> Result<Vec<ReadPassage>, StoreError> {
        let state = self.state();
        let held = state.structured.get(&schema.hash().0);
        Ok(held.into_iter().flat_map(|held| held.read.values().copied()).collect())
    }
}

#[async_trait]
impl StructuredWriter for Oracle {
    async fn put_structured(&self, structured: Structured) -> Result<bool, StoreError> {
        let mut state = self.state();
        let Structured { kept, basis, read } = structured;
        let (hash, name) = (kept.schema.hash(), kept.schema.name.clone());
        if !state.structured.contains_key(&hash.0) {
            let is_there = basis.iter().all(|chunk| state.chunk(*chunk).is_some());
            let is_named = state.structured.values().any(|held| held.kept.schema.name == name)
                || state.records.iter().any(|held| held.record.schema == name);
            if !is_there || is_named || basis.is_empty() {
                return Ok(false);
            }
            let held =
                HeldSchema { kept, basis: basis.into_iter().collect(), read: BTreeMap::new() };
            state.structured.insert(hash.0, held);
            let latest: Vec<KeptSchema> = state.latest_schemas();
            let latest: BTreeSet<u64> =
                latest.iter().take(KeptSchema::MOST).map(|kept| kept.schema.hash().0).collect();
            state.retain_schemas(|hash, _| latest.contains(&hash));
        }
        for (passage, found) in read {
            if state.chunk(passage.chunk).is_none() || !state.structured.contains_key(&hash.0) {
                continue;
            }
            let is_of = |held: &HeldRecord| {
                held.record.chunk == passage.chunk
                    && held.record.schema == name
                    && held.declared == hash
            };
            state.records.retain(|held| !is_of(held));
            state.put_records(passage.chunk, hash, found);
            if let Some(held) = state.structured.get_mut(&hash.0) {
                held.read.insert(passage.chunk, passage);
            }
        }
        Ok(true)
    }
}

impl State {
    fn latest_schemas(&self) -> Vec<KeptSchema> {
        let mut all: Vec<KeptSchema> =
            self.structured.values().map(|held| held.kept.clone()).collect();
        all.sort_by_key(|kept| (Reverse(kept.at), kept.schema.name.clone()));
        all
    }

    /// Keeps schemas that fit, and no record of another one.
    pub(super) fn retain_schemas(&mut self, fits: impl Fn(u64, &HeldSchema) -> bool) {
        let gone: BTreeSet<u64> = self
            .structured
            .iter()
            .filter(|(hash, held)| !fits(**hash, held))
            .map(|(hash, _)| *hash)
            .collect();
        self.structured.retain(|hash, _| !gone.contains(hash));
        self.records.retain(|held| !gone.contains(&held.declared.0));
    }

    /// Removes schemas of which a passage is missing that they were derived from, and reads of missing passages.
    pub(super) fn prune_schemas(&mut self, chunks: &BTreeSet<ChunkId>) {
        self.retain_schemas(|_, held| held.basis.is_subset(chunks));
        for held in self.structured.values_mut() {
            held.read.retain(|chunk, _| chunks.contains(chunk));
        }
    }

    /// Whether a question derived the schema of a record.
    pub(super) fn is_structured(&self, held: &HeldRecord) -> bool {
        self.structured.contains_key(&held.declared.0)
    }
}
