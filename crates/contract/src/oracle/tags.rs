//! Classes, tags and pairs, in lists.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, ChunkTags, FoundTag, KeyedClass, KeyedPair, NameKey, Origin, Stage, StoreError, Tag,
    TagClass, TagClassId, TagCount, TagId, TagPair, TagReader, TagWriter,
};

use super::derived::most;
use super::{HeldClass, HeldPair, Oracle, State};

#[async_trait]
impl TagReader for Oracle {
    async fn tag_classes(&self) -> Result<Vec<TagClass>, StoreError> {
        let state = self.state();
        let alive = state.classes.iter().filter(|held| !held.is_dropped);
        let mut classes: Vec<TagClass> = alive.map(|held| held.class.clone()).collect();
        classes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(classes)
    }

    async fn any_class_dropped(&self) -> Result<bool, StoreError> {
        Ok(self.state().classes.iter().any(|held| held.is_dropped))
    }

    async fn tags_in(&self, class: TagClassId, limit: usize) -> Result<Vec<TagCount>, StoreError> {
        let mut counts = self.state().counts(|tag| tag.class == class);
        counts.sort_by_key(|(key, count)| (Reverse(count.chunks), *key));
        counts.truncate(limit);
        counts.sort_by_key(|(_, count)| (Reverse(count.chunks), count.tag.id));
        Ok(counts.into_iter().map(|(_, count)| count).collect())
    }

    async fn tags_of(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<Tag>>, StoreError> {
        let state = self.state();
        let tags = |chunk: &ChunkId| {
            let found = state.tags.get(chunk).into_iter().flatten();
            let mut tags: Vec<Tag> = found.map(|tag| named(tag, tag.text.clone())).collect();
            tags.sort_by_key(|tag| tag.id);
            tags
        };
        Ok(chunks.iter().map(tags).collect())
    }

    async fn tags_named(&self, keys: &[NameKey]) -> Result<Vec<Vec<TagCount>>, StoreError> {
        let state = self.state();
        let counts = |key: &NameKey| {
            let counts = state.counts(|tag| tag.key == *key).into_iter();
            let mut counts: Vec<TagCount> = counts.map(|(_, count)| count).collect();
            counts.sort_by_key(|count| count.tag.id);
            counts
        };
        Ok(keys.iter().map(counts).collect())
    }

    async fn chunks_tagged(&self, keys: &[NameKey]) -> Result<Vec<Vec<ChunkId>>, StoreError> {
        let state = self.state();
        let chunks = |key: &NameKey| {
            let bearing =
                state.tags.iter().filter(|(_, tags)| tags.iter().any(|tag| tag.key == *key));
            bearing.map(|(chunk, _)| *chunk).collect()
        };
        Ok(keys.iter().map(chunks).collect())
    }

    async fn tag_pairs(&self) -> Result<Vec<TagPair>, StoreError> {
        let mut pairs: Vec<TagPair> = self.state().pairs.values().map(HeldPair::told).collect();
        pairs.sort_by(|a, b| {
            (&a.colloquial, &a.professional).cmp(&(&b.colloquial, &b.professional))
        });
        Ok(pairs)
    }

    async fn pairs_from(&self, keys: &[NameKey]) -> Result<Vec<Vec<TagPair>>, StoreError> {
        let state = self.state();
        let pairs = |key: &NameKey| {
            let from = state.pairs.iter().filter(|((colloquial, _), _)| colloquial == key);
            let mut pairs: Vec<TagPair> = from.map(|(_, held)| held.told()).collect();
            pairs.sort_by_key(|pair| (Reverse(pair.samples), pair.professional.clone()));
            pairs
        };
        Ok(keys.iter().map(pairs).collect())
    }
}

#[async_trait]
impl TagWriter for Oracle {
    async fn put_tag_classes(&self, classes: Vec<KeyedClass>) -> Result<(), StoreError> {
        let mut state = self.state();
        for keyed in classes {
            state.put_class(keyed);
        }
        Ok(())
    }

    async fn rename_tag_class(
        &self,
        from: NameKey,
        key: NameKey,
        name: &str,
    ) -> Result<bool, StoreError> {
        let mut state = self.state();
        if !state.classes.iter().any(|held| held.key == from && !held.is_dropped) {
            return Ok(false);
        }
        state.classes.retain(|held| !(held.key == key && held.is_dropped));
        for held in state.classes.iter_mut().filter(|held| held.key == from && !held.is_dropped) {
            held.key = key;
            name.clone_into(&mut held.class.name);
            held.class.origin = Origin::Declared;
        }
        Ok(true)
    }

    async fn drop_tag_class(&self, key: NameKey) -> Result<bool, StoreError> {
        let mut state = self.state();
        let held = state.classes.iter_mut().find(|held| held.key == key);
        let Some(held) = held else { return Ok(false) };
        let was_there = !held.is_dropped;
        held.is_dropped = true;
        let class = held.class.id;
        state.forget_tags(class);
        Ok(was_there)
    }

    async fn put_chunk_tags(&self, found: Vec<ChunkTags>) -> Result<(), StoreError> {
        let mut state = self.state();
        for ChunkTags { chunk, classes, tags } in found {
            if state.chunk(chunk).is_none() {
                continue;
            }
            for class in classes {
                if !state.classes.iter().any(|held| held.class.id == class && !held.is_dropped) {
                    continue;
                }
                state.done.insert((Stage::tag(class).0, chunk));
                let held = state.tags.entry(chunk).or_default();
                for tag in tags.iter().filter(|tag| tag.class == class) {
                    if !held.iter().any(|it| it.class == class && it.key == tag.key) {
                        held.push(tag.clone());
                    }
                }
            }
        }
        Ok(())
    }

    async fn put_tag_pairs(&self, pairs: Vec<KeyedPair>) -> Result<(), StoreError> {
        let mut state = self.state();
        for KeyedPair { colloquial, professional, sample, pair } in pairs {
            let held = state.pairs.entry((colloquial, professional));
            let held = held
                .and_modify(|held| {
                    if !pair.class.is_empty() {
                        held.pair.class.clone_from(&pair.class);
                    }
                    if pair.origin == Origin::Declared {
                        held.pair.origin = Origin::Declared;
                    }
                })
                .or_insert_with(|| HeldPair { pair: pair.clone(), samples: BTreeSet::new() });
            held.samples.extend(sample);
        }
        Ok(())
    }

    async fn drop_tag_pair(
        &self,
        colloquial: NameKey,
        professional: NameKey,
    ) -> Result<bool, StoreError> {
        Ok(self.state().pairs.remove(&(colloquial, professional)).is_some())
    }
}

impl HeldPair {
    fn told(&self) -> TagPair {
        TagPair { samples: self.samples.len(), ..self.pair.clone() }
    }
}

fn named(tag: &FoundTag, text: String) -> Tag {
    Tag { id: TagId::of(tag.class, tag.key.0), class: tag.class, text }
}

impl State {
    /// Tags that fit, each in its most frequent spelling.
    fn counts(&self, fits: impl Fn(&FoundTag) -> bool) -> Vec<(NameKey, TagCount)> {
        let mut spellings: BTreeMap<(TagClassId, NameKey), Vec<&FoundTag>> = BTreeMap::new();
        for tag in self.tags.values().flatten().filter(|tag| fits(tag)) {
            spellings.entry((tag.class, tag.key)).or_default().push(tag);
        }
        let count = |((_, key), tags): ((TagClassId, NameKey), Vec<&FoundTag>)| {
            let text = most(tags.iter().map(|tag| tag.text.as_str())).unwrap_or_default();
            let tag = tags.first().map(|tag| named(tag, text))?;
            Some((key, TagCount { tag, chunks: tags.len() }))
        };
        spellings.into_iter().filter_map(count).collect()
    }

    fn forget_tags(&mut self, class: TagClassId) {
        for held in self.classes.iter_mut().filter(|held| held.class.id == class) {
            held.class.examples.clear();
        }
        for tags in self.tags.values_mut() {
            tags.retain(|tag| tag.class != class);
        }
        self.done.retain(|(stage, _)| *stage != Stage::tag(class).0);
        self.prune_found();
    }

    fn put_class(&mut self, KeyedClass { key, mut class }: KeyedClass) {
        let there = |chunk: &ChunkId| self.chunk(*chunk).is_some();
        class.examples.retain(|example| example.chunk.as_ref().is_none_or(there));
        let by_key = self.classes.iter().position(|held| held.key == key);
        let by_id = self.classes.iter().position(|held| held.class.id == class.id);
        if class.origin == Origin::Found && (by_key.is_some() || by_id.is_some()) {
            return;
        }
        let same = by_key.and_then(|at| self.classes.get_mut(at));
        if let Some(held) = same
            && held.class.id == class.id
            && !held.is_dropped
        {
            held.class = class;
            return;
        }
        if let Some(id) = by_key.and_then(|at| self.classes.get(at)).map(|held| held.class.id) {
            self.forget_tags(id);
        }
        self.classes.retain(|held| held.key != key && held.class.id != class.id);
        self.classes.push(HeldClass { key, class, is_dropped: false });
    }
}
