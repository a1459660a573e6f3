//! Keeps classes, tags and pairs in lists.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, FoundTag, KeyedClass, KeyedPair, NameKey, Origin, Stage, StoreError, Tag, TagClass,
    TagClassId, TagClasses, TagCount, TagEdit, TagId, TagPair, TagQuery, TagReader, TagWriter,
    Which,
};

use super::derived::most;
use super::{HeldClass, HeldPair, Oracle, State};

#[async_trait]
impl TagReader for Oracle {
    async fn tag_classes(&self) -> Result<TagClasses, StoreError> {
        let state = self.state();
        let alive = state.classes.iter().filter(|held| !held.is_dropped);
        let mut classes: Vec<TagClass> = alive.map(|held| held.class.clone()).collect();
        classes.sort_by(|a, b| a.name.cmp(&b.name));
        let any_dropped = state.classes.iter().any(|held| held.is_dropped);
        Ok(TagClasses { classes, any_dropped })
    }

    async fn tags(
        &self,
        query: TagQuery<'_>,
        limit: usize,
    ) -> Result<Vec<Vec<TagCount>>, StoreError> {
        let state = self.state();
        let in_class = |class: &TagClassId| {
            let mut counts = state.counts(|tag| tag.class == *class);
            counts.sort_by_key(|(key, count)| (Reverse(count.chunks), *key));
            counts.truncate(limit);
            counts.sort_by_key(|(_, count)| (Reverse(count.chunks), count.tag.id));
            counts.into_iter().map(|(_, count)| count).collect()
        };
        let named = |key: &NameKey| {
            let counts = state.counts(|tag| tag.key == *key).into_iter().take(limit);
            let mut counts: Vec<TagCount> = counts.map(|(_, count)| count).collect();
            counts.sort_by_key(|count| count.tag.id);
            counts
        };
        Ok(match query {
            TagQuery::InClasses(classes) => classes.iter().map(in_class).collect(),
            TagQuery::Named(keys) => keys.iter().map(named).collect(),
        })
    }

    async fn tag_pairs(
        &self,
        which: Which<'_, NameKey>,
    ) -> Result<Vec<(NameKey, TagPair)>, StoreError> {
        let state = self.state();
        let pairs = state.pairs.iter().map(|((colloquial, _), held)| (*colloquial, held.pair()));
        let mut all: Vec<(NameKey, TagPair)> = pairs.collect();
        let Which::Of(keys) = which else {
            all.sort_by_key(|(_, pair)| (pair.colloquial.clone(), pair.professional.clone()));
            return Ok(all);
        };
        all.sort_by_key(|(_, pair)| (Reverse(pair.samples), pair.professional.clone()));
        let from = |key: &NameKey| {
            let key = *key;
            all.iter().filter(move |(held, _)| *held == key).cloned()
        };
        Ok(keys.iter().flat_map(from).collect())
    }
}

#[async_trait]
impl TagWriter for Oracle {
    async fn edit_tags(&self, edit: TagEdit) -> Result<bool, StoreError> {
        let mut state = self.state();
        Ok(match edit {
            TagEdit::AddClasses(classes) => {
                for keyed in classes {
                    state.put_class(keyed);
                }
                true
            }
            TagEdit::RenameClass { from, key, name } => state.rename_class(from, key, &name),
            TagEdit::DropClass(key) => state.drop_class(key),
            TagEdit::AddPairs(pairs) => {
                for pair in pairs {
                    state.put_pair(pair);
                }
                true
            }
            TagEdit::DropPair { colloquial, professional } => {
                state.pairs.remove(&(colloquial, professional)).is_some()
            }
        })
    }
}

impl HeldPair {
    fn pair(&self) -> TagPair {
        TagPair { samples: self.samples.len(), ..self.pair.clone() }
    }
}

fn named(tag: &FoundTag, text: String) -> Tag {
    Tag { id: TagId::of(tag.class, tag.key.0), class: tag.class, text }
}

impl State {
    /// Matching tags, each in its most frequent spelling.
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

    fn rename_class(&mut self, from: NameKey, key: NameKey, name: &str) -> bool {
        if !self.classes.iter().any(|held| held.key == from && !held.is_dropped) {
            return false;
        }
        self.classes.retain(|held| !(held.key == key && held.is_dropped));
        for held in self.classes.iter_mut().filter(|held| held.key == from && !held.is_dropped) {
            held.key = key;
            name.clone_into(&mut held.class.name);
            held.class.origin = Origin::Declared;
        }
        true
    }

    fn drop_class(&mut self, key: NameKey) -> bool {
        let held = self.classes.iter_mut().find(|held| held.key == key);
        let Some(held) = held else { return false };
        let was_there = !held.is_dropped;
        held.is_dropped = true;
        let class = held.class.id;
        self.forget_tags(class);
        was_there
    }

    pub(super) fn put_tags(&mut self, chunk: ChunkId, classes: Vec<TagClassId>, tags: &[FoundTag]) {
        for class in classes {
            if !self.classes.iter().any(|held| held.class.id == class && !held.is_dropped) {
                continue;
            }
            self.done.insert((Stage::tag(class).0, chunk));
            let held = self.tags.entry(chunk).or_default();
            for tag in tags.iter().filter(|tag| tag.class == class) {
                if !held.iter().any(|it| it.class == class && it.key == tag.key) {
                    held.push(tag.clone());
                }
            }
        }
    }

    fn put_pair(&mut self, KeyedPair { colloquial, professional, sample, pair }: KeyedPair) {
        let held = self.pairs.entry((colloquial, professional));
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
