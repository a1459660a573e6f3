//! Derives entities and relations from the extractions of chunks, and removes what depends on
//! deleted chunks.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use pikerag_knowledge::distilled::descriptions_key;
use pikerag_knowledge::{
    Child, ChunkId, DescriptionsKey, Entity, EntityId, EntityMention, NodeId, Origin, Relation,
    RelationId, RelationMention, VectorSet,
};

use super::State;

impl State {
    /// Every chunk with an extraction, in reading order.
    fn extracted_chunks(&self) -> Vec<ChunkId> {
        let mut all: Vec<ChunkId> = self.extractions.keys().copied().collect();
        all.sort_by_key(|chunk| self.reading_order(*chunk));
        all
    }

    pub(super) fn mentions_of(&self, entity: EntityId) -> Vec<(ChunkId, &EntityMention)> {
        let mut mentions = Vec::new();
        for chunk in self.extracted_chunks() {
            let entities =
                self.extractions.get(&chunk).into_iter().flat_map(|found| &found.entities);
            mentions.extend(entities.filter(|it| it.id == entity).take(1).map(|it| (chunk, it)));
        }
        mentions
    }

    pub(super) fn statements_of(&self, relation: RelationId) -> Vec<(ChunkId, &RelationMention)> {
        let mut mentions = Vec::new();
        for chunk in self.extracted_chunks() {
            let relations =
                self.extractions.get(&chunk).into_iter().flat_map(|found| &found.relations);
            mentions.extend(relations.filter(|it| it.id == relation).take(1).map(|it| (chunk, it)));
        }
        mentions
    }

    pub(super) fn entity_ids(&self) -> BTreeSet<EntityId> {
        self.extractions.values().flat_map(|found| &found.entities).map(|it| it.id).collect()
    }

    pub(super) fn relation_ids(&self) -> BTreeSet<RelationId> {
        self.extractions.values().flat_map(|found| &found.relations).map(|it| it.id).collect()
    }

    pub(super) fn entity(&self, id: EntityId) -> Option<Entity> {
        let mentions = self.mentions_of(id);
        let name = most(mentions.iter().map(|(_, it)| it.name.as_str()))?;
        let kind = most(mentions.iter().map(|(_, it)| it.kind.as_str())).unwrap_or_default();
        Some(Entity { id, name, kind, description: self.description(id.into()) })
    }

    pub(super) fn relation(&self, id: RelationId) -> Option<Relation> {
        let mentions = self.statements_of(id);
        let (subject, object) = mentions.first().map(|(_, it)| (it.subject, it.object))?;
        let weight = mentions.iter().map(|(_, it)| it.weight).sum();
        Some(Relation { id, subject, object, weight, description: self.description(id.into()) })
    }

    fn description(&self, node: NodeId) -> String {
        let short = self.descriptions.get(&node).cloned();
        short.unwrap_or_else(|| self.descriptions_of(node).join(" "))
    }

    /// The distinct descriptions of an entity or a relation.
    pub(super) fn descriptions_of(&self, node: NodeId) -> Vec<String> {
        let of_entity = self.mentions_of(EntityId(node.0)).into_iter();
        let of_relation = self.statements_of(RelationId(node.0)).into_iter();
        let descriptions = of_entity
            .map(|(_, it)| it.description.clone())
            .chain(of_relation.map(|(_, it)| it.description.clone()));
        let mut seen = HashSet::new();
        descriptions.filter(|text| !text.is_empty() && seen.insert(text.clone())).collect()
    }

    pub(super) fn entity_key(&self, id: EntityId) -> DescriptionsKey {
        let mentions = self.mentions_of(id);
        let words = mentions.iter().flat_map(|(_, it)| [&it.name, &it.kind, &it.description]);
        descriptions_key(words.map(String::as_str))
    }

    /// The chunks that a summary covers.
    pub(super) fn leaves(&self, child: Child) -> BTreeSet<ChunkId> {
        match child {
            Child::Chunk(chunk) => BTreeSet::from([chunk]),
            Child::Summary(id) => {
                let children = self.summaries.get(&id).into_iter().flat_map(|held| &held.children);
                children.flat_map(|child| self.leaves(*child)).collect()
            }
        }
    }

    /// Removes the results that were made from the entities and relations of a chunk.
    pub(super) fn forget_extraction(&mut self, chunk: ChunkId) {
        let Some(extraction) = self.extractions.remove(&chunk) else { return };
        for entity in extraction.entities.iter().map(|it| it.id) {
            self.descriptions.remove(&entity.into());
            self.vectors.remove(&(VectorSet::Entities, entity.into()));
            self.communities.retain(|_, community| !community.members.contains(&entity));
        }
        for relation in &extraction.relations {
            self.descriptions.remove(&relation.id.into());
        }
    }

    /// Removes everything that depends on deleted items.
    pub(super) fn prune(&mut self) {
        let chunks: BTreeSet<ChunkId> = self.chunks().map(|chunk| chunk.id).collect();
        let gone: Vec<ChunkId> =
            self.extractions.keys().filter(|chunk| !chunks.contains(chunk)).copied().collect();
        for chunk in gone {
            self.forget_extraction(chunk);
        }
        self.atoms.retain(|chunk, _| chunks.contains(chunk));
        self.records.retain(|record| chunks.contains(&record.record.chunk));
        self.prune_schemas(&chunks);
        self.done.retain(|(_, chunk)| chunks.contains(chunk));
        self.tags.retain(|chunk, _| chunks.contains(chunk));
        for held in &mut self.classes {
            held.class.examples.retain(|it| it.chunk.is_none_or(|chunk| chunks.contains(&chunk)));
        }
        self.prune_summaries(&chunks);
        let ids: BTreeSet<_> = self.communities.keys().copied().collect();
        for community in self.communities.values_mut() {
            community.parent = community.parent.filter(|parent| ids.contains(parent));
        }
        self.prune_vectors(&chunks);
    }

    fn prune_summaries(&mut self, chunks: &BTreeSet<ChunkId>) {
        loop {
            let held: BTreeSet<_> = self.summaries.keys().copied().collect();
            self.summaries.retain(|_, summary| {
                summary.children.iter().all(|child| match child {
                    Child::Chunk(chunk) => chunks.contains(chunk),
                    Child::Summary(below) => held.contains(below),
                })
            });
            if self.summaries.len() == held.len() {
                return;
            }
        }
    }

    fn prune_vectors(&mut self, chunks: &BTreeSet<ChunkId>) {
        let atoms = self.atoms.values().flatten().map(|atom| (atom.id.into(), atom.kind));
        let atoms: BTreeMap<NodeId, _> = atoms.collect();
        let nodes = |all: Vec<NodeId>| all.into_iter().collect::<BTreeSet<NodeId>>();
        let entities = nodes(self.entity_ids().into_iter().map(NodeId::from).collect());
        let summaries = nodes(self.summaries.keys().map(|id| (*id).into()).collect());
        let sources = nodes(self.documents.keys().map(|id| (*id).into()).collect());
        let sections = self.documents.values().flat_map(|document| &document.graph.sections);
        let sections = nodes(sections.map(|section| section.id.into()).collect());
        self.vectors.retain(|(set, node), _| match set {
            VectorSet::Chunks => chunks.contains(&ChunkId(node.0)),
            VectorSet::Atoms(kind) => atoms.get(node) == Some(kind),
            VectorSet::Entities => entities.contains(node),
            VectorSet::Summaries => summaries.contains(node),
            VectorSet::Sources => sources.contains(node),
            VectorSet::Sections => sections.contains(node),
        });
    }

    /// Keeps found classes and pairs only while a chunk supports them.
    pub(super) fn prune_found(&mut self) {
        let tags: Vec<_> = self.tags.values().flatten().map(|tag| (tag.class, tag.key)).collect();
        self.classes.retain(|held| {
            held.is_dropped
                || held.class.origin == Origin::Declared
                || !held.class.examples.is_empty()
                || tags.iter().any(|(class, _)| *class == held.class.id)
        });
        self.pairs.retain(|(_, professional), held| {
            held.pair.origin == Origin::Declared || tags.iter().any(|(_, key)| key == professional)
        });
    }
}

/// The most frequent spelling, the alphabetically first of equals; empty ones do not count.
pub(super) fn most<'a>(votes: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for vote in votes.filter(|vote| !vote.is_empty()) {
        *counts.entry(vote).or_default() += 1;
    }
    let best = counts.values().max().copied()?;
    counts.into_iter().find(|(_, count)| *count == best).map(|(vote, _)| vote.to_owned())
}
