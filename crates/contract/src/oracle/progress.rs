//! Records finished work, and finds pending work.

use async_trait::async_trait;
use pikerag_knowledge::{
    AtomKind, ChunkId, ChunkSet, NodeId, Progress, Stage, StoreError, Structure, StructureChange,
    TextToEmbed, VectorSet, Wanted,
};

use super::Oracle;

/// All sets that are embedded.
pub(super) const ALL_SETS: [VectorSet; 8] = [
    VectorSet::Atoms(AtomKind::Question),
    VectorSet::Atoms(AtomKind::Sentence),
    VectorSet::Atoms(AtomKind::Statement),
    VectorSet::Chunks,
    VectorSet::Entities,
    VectorSet::Summaries,
    VectorSet::Sources,
    VectorSet::Sections,
];

#[async_trait]
impl Progress for Oracle {
    fn pending_files(&self) -> Option<&[String]> {
        None
    }

    async fn pending(
        &self,
        stage: &Stage,
        of: ChunkSet,
        after: Option<ChunkId>,
        limit: usize,
    ) -> Result<Vec<ChunkId>, StoreError> {
        Ok(self.state().waiting(stage, after, limit, |chunk| match of {
            ChunkSet::Searchable => chunk.is_searchable(),
            ChunkSet::OfKind(kind) => chunk.kind == kind && !chunk.hidden,
        }))
    }

    async fn count_without_vector(&self, embedder: &str) -> Result<usize, StoreError> {
        let state = self.state();
        let lacks = |set| {
            let texts = state.texts(set).into_iter();
            let of_other =
                |node| state.vectors.get(&(set, node)).is_none_or(|held| held.0 != embedder);
            texts.filter(|text| of_other(text.node)).count()
        };
        Ok(ALL_SETS.into_iter().map(lacks).sum())
    }

    async fn without_vector(
        &self,
        set: VectorSet,
        embedder: &str,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Vec<TextToEmbed>, StoreError> {
        let state = self.state();
        let mut texts = state.texts(set);
        texts.retain(|text| {
            let held = state.vectors.get(&(set, text.node));
            held.is_none_or(|held| held.0 != embedder)
                && after.is_none_or(|after| after < text.node)
        });
        texts.sort_by_key(|text| text.node);
        texts.truncate(limit);
        Ok(texts)
    }

    async fn structures(&self) -> Result<Vec<Wanted>, StoreError> {
        let state = self.state();
        let wanted = |(structure, stamp): (&Structure, &String)| Wanted {
            structure: *structure,
            stamp: stamp.clone(),
        };
        Ok(state.wanted.iter().map(wanted).collect())
    }

    async fn change_structure(
        &self,
        structure: Structure,
        change: StructureChange<'_>,
    ) -> Result<(), StoreError> {
        let wanted = &mut self.state().wanted;
        match change {
            StructureChange::Wanted => {
                wanted.entry(structure).or_default();
            }
            StructureChange::Unwanted => {
                wanted.remove(&structure);
            }
            StructureChange::Built(stamp) => {
                wanted.entry(structure).and_modify(|held| stamp.clone_into(held));
            }
        }
        Ok(())
    }
}
