//! Keeps the refusals of models.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use pikerag_knowledge::{
    AtomKind, ChunkId, NodeId, Refusal, RefusalCount, RefusalWriter, SourceId, Stage, StoreError,
    SummaryId,
};

use super::progress::ALL_SETS;
use super::{Oracle, State};

#[async_trait]
impl RefusalWriter for Oracle {
    async fn put_refusals(
        &self,
        refused: Vec<Refusal>,
        answered: Vec<(Stage, NodeId)>,
    ) -> Result<(), StoreError> {
        let mut state = self.state();
        for (stage, node) in answered {
            state.refusals.remove(&(stage.0, node));
        }
        for refusal in refused {
            state.refusals.insert((refusal.stage.0.clone(), refusal.node), refusal);
        }
        Ok(())
    }

    async fn refusals(&self) -> Result<Vec<Refusal>, StoreError> {
        Ok(self.state().standing().cloned().collect())
    }

    async fn retry_refused(&self) -> Result<usize, StoreError> {
        let mut state = self.state();
        let refused = std::mem::take(&mut state.refusals);
        for refusal in refused.values() {
            state.ask_again(refusal);
        }
        if !refused.is_empty() {
            state.wanted.values_mut().for_each(String::clear);
        }
        Ok(refused.len())
    }
}

impl State {
    /// Refusals whose placeholder exists.
    fn standing(&self) -> impl Iterator<Item = &Refusal> {
        self.refusals.values().filter(|refusal| {
            let mark = (refusal.stage.0.clone(), ChunkId(refusal.node.0));
            !refusal.stage.is_of_chunks() || self.done.contains(&mark)
        })
    }

    /// The number of refusals by stage, with the first of each as an example.
    pub(super) fn refused(&self) -> Vec<RefusalCount> {
        let mut counts: BTreeMap<(String, &str), RefusalCount> = BTreeMap::new();
        for Refusal { stage, cause, label, reason, .. } in self.standing() {
            let count = counts.entry((stage.0.clone(), cause.as_str())).or_insert_with(|| {
                let (stage, label, reason) = (stage.0.clone(), label.clone(), reason.clone());
                RefusalCount { stage, cause: *cause, count: 0, label, reason }
            });
            count.count += 1;
        }
        counts.into_values().collect()
    }

    /// Drops the refusals of deleted items.
    pub(super) fn prune_refusals(&mut self) {
        let mut there: BTreeSet<NodeId> = self.chunks().map(|chunk| chunk.id.into()).collect();
        there.extend(self.communities.keys().map(|id| NodeId(id.0)));
        there.extend(ALL_SETS.into_iter().flat_map(|set| self.texts(set)).map(|text| text.node));
        self.refusals.retain(|(_, node), _| there.contains(node));
    }

    /// Drops the placeholder of a reply, and the record that the model was asked.
    fn ask_again(&mut self, refusal: &Refusal) {
        let (stage, node) = (&refusal.stage, refusal.node.0);
        if stage.is_of_chunks() {
            self.done.remove(&(stage.0.clone(), ChunkId(node)));
            for kind in [AtomKind::Question, AtomKind::Statement] {
                if *stage == Stage::atomize(kind)
                    && let Some(atoms) = self.atoms.get_mut(&ChunkId(node))
                {
                    atoms.retain(|atom| atom.kind != kind);
                }
            }
        } else if *stage == Stage::summarize_sources() {
            if let Some(document) = self.documents.get_mut(&SourceId(node)) {
                let summary = &mut document.graph.source.summary;
                *summary = summary.take().filter(|summary| !summary.is_empty());
            }
        } else if *stage == Stage::summarize_clusters() {
            self.summaries.remove(&SummaryId(node));
        } else if *stage == Stage::report() {
            for community in self.communities.values_mut() {
                if community.id.0 == node {
                    community.report = None;
                }
            }
        }
    }
}
