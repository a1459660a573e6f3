//! Follows edges between chunks and other nodes by the definition.

use std::collections::BTreeSet;

use pikerag_knowledge::{
    Chunk, ChunkId, ChunkLinks, ChunkList, ChunksOf, EntityId, NameKey, NameUse, Tag, TagId,
};

use super::State;

impl State {
    pub(super) fn chunks_of(&self, of: ChunksOf<'_>, limit: usize) -> Vec<ChunkList> {
        let found: Vec<Vec<ChunkId>> = match of {
            ChunksOf::Neighbours(ids) => ids.iter().map(|id| self.beside(*id)).collect(),
            ChunksOf::Sources(ids) => {
                ids.iter().map(|id| self.within(|chunk| chunk.source == *id)).collect()
            }
            ChunksOf::Sections(ids) => {
                ids.iter().map(|id| self.within(|chunk| chunk.section == Some(*id))).collect()
            }
            ChunksOf::Entities(ids) => {
                let by_identifier = |id: &EntityId| {
                    let mut chunks = self.chunks_with(*id);
                    chunks.sort_unstable();
                    chunks
                };
                ids.iter().map(by_identifier).collect()
            }
            ChunksOf::EntitiesInOrder(ids) => ids.iter().map(|id| self.chunks_with(*id)).collect(),
            ChunksOf::Names(keys) => keys.iter().map(|key| self.mentioning(*key)).collect(),
            ChunksOf::Tags(keys) => keys.iter().map(|key| self.tagged(*key)).collect(),
        };
        let list = |chunks: Vec<ChunkId>| match limit < chunks.len() {
            true => ChunkList { count: limit + 1, chunks: Vec::new() },
            false => ChunkList { count: chunks.len(), chunks },
        };
        found.into_iter().map(list).collect()
    }

    pub(super) fn links_of(&self, chunk: ChunkId) -> ChunkLinks {
        let link = |(of, name): &(ChunkId, NameUse)| match name {
            NameUse::Links(key) if *of == chunk => Some(*key),
            _ => None,
        };
        let names: BTreeSet<NameKey> = self.names().filter_map(link).collect();
        let mentions = self.extractions.get(&chunk).into_iter().flat_map(|found| &found.entities);
        let entities: BTreeSet<EntityId> = mentions.map(|it| it.id).collect();
        let tag = |tag: &pikerag_knowledge::FoundTag| Tag {
            id: TagId::of(tag.class, tag.key.0),
            class: tag.class,
            text: tag.text.clone(),
        };
        let mut tags: Vec<Tag> = self.tags.get(&chunk).into_iter().flatten().map(tag).collect();
        tags.sort_by_key(|tag| tag.id);
        ChunkLinks {
            names: names.into_iter().collect(),
            entities: entities.into_iter().collect(),
            tags,
        }
    }

    fn beside(&self, id: ChunkId) -> Vec<ChunkId> {
        let Some(at) = self.chunk(id) else { return Vec::new() };
        let others = || self.chunks().filter(|it| it.source == at.source && it.is_searchable());
        let before = others().filter(|it| it.ordinal < at.ordinal).max_by_key(|it| it.ordinal);
        let after = others().filter(|it| at.ordinal < it.ordinal).min_by_key(|it| it.ordinal);
        before.into_iter().chain(after).map(|it| it.id).collect()
    }

    fn within(&self, is_there: impl Fn(&Chunk) -> bool) -> Vec<ChunkId> {
        let mut there: Vec<&Chunk> =
            self.chunks().filter(|chunk| chunk.is_searchable() && is_there(chunk)).collect();
        there.sort_by_key(|chunk| chunk.ordinal);
        there.into_iter().map(|chunk| chunk.id).collect()
    }

    fn chunks_with(&self, entity: EntityId) -> Vec<ChunkId> {
        self.mentions_of(entity).iter().map(|(chunk, _)| *chunk).collect()
    }

    fn mentioning(&self, key: NameKey) -> Vec<ChunkId> {
        let by = self.names().filter(|(_, name)| *name == NameUse::Mentions(key));
        by.map(|(chunk, _)| *chunk).collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn tagged(&self, key: NameKey) -> Vec<ChunkId> {
        let bearing = self.tags.iter().filter(|(_, tags)| tags.iter().any(|tag| tag.key == key));
        bearing.map(|(chunk, _)| *chunk).collect()
    }
}
