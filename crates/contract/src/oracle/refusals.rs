//! What did models refuse?

use async_trait::async_trait;
use pikerag_knowledge::{
    AtomKind, ChunkId, NodeId, Refusal, RefusalWriter, SourceId, Stage, StoreError, SummaryId,
};

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
        let state = self.state();
        let stands = |refusal: &&Refusal| {
            let mark = (refusal.stage.0.clone(), ChunkId(refusal.node.0));
            !refusal.stage.is_of_chunks() || state.done.contains(&mark)
        };
        Ok(state.refusals.values().filter(stands).cloned().collect())
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
    /// Drops what stands in for a reply, and the mark that it was asked for.
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
