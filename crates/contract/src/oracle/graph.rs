//! Rebuilds entities, relations, communities and summaries for every read.

use std::collections::BTreeSet;

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, ChunkLinks, ChunkList, ChunksOf, Community, Entity, EntityId, ExtractBy, Extraction,
    Generation, GraphReader, GraphWriter, LinkKind, LongDescription, NodeId, Outline,
    OutlineEntity, OutlineRelation, Relation, RelationId, ShortDescription, Stage, StoreError,
    Summary, SummaryId, VectorSet, Which, distilled::descriptions_key,
};

use super::{Oracle, State};

#[async_trait]
impl GraphReader for Oracle {
    async fn chunks_of(
        &self,
        of: ChunksOf<'_>,
        limit: usize,
    ) -> Result<Vec<ChunkList>, StoreError> {
        Ok(self.state().chunks_of(of, limit))
    }

    async fn links_of(
        &self,
        chunks: &[ChunkId],
        kind: LinkKind,
    ) -> Result<Vec<ChunkLinks>, StoreError> {
        let state = self.state();
        let of_kind = |chunk: &ChunkId| {
            let ChunkLinks { names, entities, tags } = state.links_of(*chunk);
            match kind {
                LinkKind::Names => ChunkLinks { names, ..ChunkLinks::default() },
                LinkKind::Entities => ChunkLinks { entities, ..ChunkLinks::default() },
                LinkKind::Tags => ChunkLinks { tags, ..ChunkLinks::default() },
            }
        };
        Ok(chunks.iter().map(of_kind).collect())
    }

    async fn entities(&self, ids: &[EntityId]) -> Result<Vec<Entity>, StoreError> {
        let state = self.state();
        Ok(ids.iter().filter_map(|id| state.entity(*id)).collect())
    }

    async fn relations_of(&self, entities: &[EntityId]) -> Result<Vec<Relation>, StoreError> {
        Ok(self.state().relations_of(entities))
    }

    async fn related_to(
        &self,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<EntityId>, StoreError> {
        let heaviest = self.state().relations_of(entities).into_iter().take(limit);
        let mut others: Vec<EntityId> = Vec::new();
        for relation in heaviest {
            for end in [relation.subject, relation.object] {
                if !entities.contains(&end) && !others.contains(&end) {
                    others.push(end);
                }
            }
        }
        Ok(others)
    }

    async fn communities(&self, which: Which<'_, EntityId>) -> Result<Vec<Community>, StoreError> {
        let mut all: Vec<Community> = self.state().communities.values().cloned().collect();
        if let Which::Of(entities) = which {
            all.retain(|community| community.members.iter().any(|it| entities.contains(it)));
        }
        all.sort_by_key(|community| (community.level, community.id));
        Ok(all)
    }

    async fn summaries(&self, ids: &[SummaryId]) -> Result<Vec<Summary>, StoreError> {
        let state = self.state();
        Ok(ids.iter().filter_map(|id| state.summaries.get(id).cloned()).collect())
    }
}

#[async_trait]
impl GraphWriter for Oracle {
    async fn long_descriptions(&self, bytes: usize) -> Result<Vec<LongDescription>, StoreError> {
        let state = self.state();
        let name = |id| state.entity(id).map(|entity| entity.name).unwrap_or_default();
        let mut nodes: Vec<(NodeId, String)> = Vec::new();
        nodes.extend(state.entity_ids().into_iter().map(|id| (id.into(), name(id))));
        for id in state.relation_ids() {
            let Some(relation) = state.relation(id) else { continue };
            let ends = format!("{} → {}", name(relation.subject), name(relation.object));
            nodes.push((id.into(), ends));
        }
        let mut long = Vec::new();
        for (node, name) in nodes {
            let descriptions = state.descriptions_of(node);
            let is_long = bytes < descriptions.iter().map(String::len).sum();
            if is_long && !state.descriptions.contains_key(&node) {
                long.push(LongDescription { node, name, descriptions });
            }
        }
        Ok(long)
    }

    async fn outline(&self) -> Result<Outline, StoreError> {
        let state = self.state();
        let entity = |id| OutlineEntity { id, key: state.entity_key(id) };
        let relation = |id: RelationId| {
            let mentions = state.statements_of(id);
            let words = mentions.iter().map(|(_, it)| it.description.as_str());
            let Relation { subject, object, weight, .. } = state.relation(id)?;
            Some(OutlineRelation { id, subject, object, weight, key: descriptions_key(words) })
        };
        Ok(Outline {
            generation: Generation(state.generation),
            entities: state.entity_ids().into_iter().map(entity).collect(),
            relations: state.relation_ids().into_iter().filter_map(relation).collect(),
        })
    }

    async fn put_communities(
        &self,
        generation: Generation,
        communities: Vec<Community>,
    ) -> Result<bool, StoreError> {
        let mut state = self.state();
        if generation.0 != state.generation {
            return Ok(false);
        }
        let before = std::mem::take(&mut state.communities);
        for mut community in communities {
            community.report = before.get(&community.id).and_then(|held| held.report.clone());
            state.communities.insert(community.id, community);
        }
        Ok(true)
    }
}

impl State {
    pub(super) fn put_extraction(&mut self, by: ExtractBy, chunk: ChunkId, found: Extraction) {
        self.forget_extraction(chunk);
        self.add_extraction(chunk, found);
        self.done.insert((Stage::extract(ExtractBy::Names).0, chunk));
        if by == ExtractBy::Model {
            self.done.insert((Stage::extract(by).0, chunk));
        }
    }

    pub(super) fn put_description(&mut self, made: ShortDescription) {
        let ShortDescription { node, made_from, text } = made;
        let current = descriptions_key(self.descriptions_of(node).iter().map(String::as_str));
        if current == made_from && !self.descriptions.contains_key(&node) {
            self.descriptions.insert(node, text);
            self.vectors.remove(&(VectorSet::Entities, node));
        }
    }

    /// Heaviest first, ties by identifier.
    fn relations_of(&self, entities: &[EntityId]) -> Vec<Relation> {
        let all = self.relation_ids().into_iter().filter_map(|id| self.relation(id));
        let touches =
            |it: &Relation| entities.contains(&it.subject) || entities.contains(&it.object);
        let mut found: Vec<Relation> = all.filter(touches).collect();
        found.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.id.cmp(&b.id)));
        found
    }

    /// Stores the extraction of a chunk; keeps only relations between entities that it mentions.
    fn add_extraction(&mut self, chunk: ChunkId, mut found: Extraction) {
        let ends: BTreeSet<EntityId> = found.entities.iter().map(|it| it.id).collect();
        found.relations.retain(|it| ends.contains(&it.subject) && ends.contains(&it.object));
        for id in &ends {
            self.descriptions.remove(&(*id).into());
            self.vectors.remove(&(VectorSet::Entities, (*id).into()));
        }
        for relation in &found.relations {
            self.descriptions.remove(&relation.id.into());
        }
        self.extractions.insert(chunk, found);
    }
}
