//! The ports to tags: what retrieval reads of them, and what indexing and people write.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::corpus::Which;
use super::error::StoreError;
use crate::id::{ChunkId, TagClassId};
use crate::names::NameKey;
use crate::tags::{TagClass, TagCount, TagPair};

/// Which tags are counted: one list comes of each class or key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagQuery<'a> {
    /// Those of each class: those of most chunks first, then by identifier.
    InClasses(&'a [TagClassId]),
    /// Those that chunks bear under each key, by identifier.
    Named(&'a [NameKey]),
}

/// The classes that there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagClasses {
    /// Those in use, by name.
    pub classes: Vec<TagClass>,
    /// Whether a person dropped a class: what was found once is then not looked for again.
    pub any_dropped: bool,
}

/// What is known of tags. Words are asked for under the key of their folded form.
///
/// # Errors
/// The base cannot be read.
#[async_trait]
pub trait TagReader: Send + Sync {
    /// All classes.
    async fn tag_classes(&self) -> Result<TagClasses, StoreError>;

    /// The tags of each of these, in order, with the number of their chunks; at most `limit` each.
    async fn tags(
        &self,
        query: TagQuery<'_>,
        limit: usize,
    ) -> Result<Vec<Vec<TagCount>>, StoreError>;

    /// All pairs by colloquial and professional word, or those whose colloquial word stands under one of these keys:
    /// in the order of the keys, within one those with most samples first, then by word. Each with the key of its
    /// colloquial word.
    async fn tag_pairs(
        &self,
        which: Which<'_, NameKey>,
    ) -> Result<Vec<(NameKey, TagPair)>, StoreError>;
}

/// The pairs whose colloquial word stands under each key, in order; within one those with most samples first, then by
/// word.
///
/// # Errors
/// The base cannot be read.
pub async fn pairs_from(
    base: &(impl TagReader + ?Sized),
    keys: &[NameKey],
) -> Result<Vec<Vec<TagPair>>, StoreError> {
    let distinct: BTreeSet<NameKey> = keys.iter().copied().collect();
    let distinct: Vec<NameKey> = distinct.into_iter().collect();
    let mut by_key: BTreeMap<NameKey, Vec<TagPair>> = BTreeMap::new();
    for (key, pair) in base.tag_pairs(Which::Of(&distinct)).await? {
        by_key.entry(key).or_default().push(pair);
    }
    Ok(keys.iter().map(|key| by_key.get(key).cloned().unwrap_or_default()).collect())
}

/// What people and indexing change about classes and pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagEdit {
    /// Adds classes. One that was found gives way to any of that name, a dropped one included; one that is declared
    /// takes its place.
    AddClasses(Vec<KeyedClass>),
    /// Gives a class another name, and makes it a person's. No other class may have that name.
    RenameClass {
        /// Key of the name that it has.
        from: NameKey,
        /// Key of the name that it gets.
        key: NameKey,
        /// The name that it gets.
        name: String,
    },
    /// Drops a class with its tags for good: it is not found again.
    DropClass(NameKey),
    /// Adds pairs, each with the keys of its two words and the sample that bears it out, if it comes from one. A
    /// person's pair stays a person's.
    AddPairs(Vec<KeyedPair>),
    /// Drops the pair of these words.
    DropPair {
        /// Key of the reader's word.
        colloquial: NameKey,
        /// Key of the documents' word.
        professional: NameKey,
    },
}

/// What indexing and people write of tags. Each call is one transaction.
#[async_trait]
pub trait TagWriter: TagReader {
    /// Changes classes or pairs; whether there was what it renames or drops. Adding always succeeds.
    async fn edit_tags(&self, edit: TagEdit) -> Result<bool, StoreError>;
}

/// What was found in a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkTags {
    /// The chunk that was searched.
    pub chunk: ChunkId,
    /// The classes that were looked for.
    pub classes: Vec<TagClassId>,
    /// What was found.
    pub tags: Vec<FoundTag>,
}

/// A tag as a chunk has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTag {
    /// The class that was looked for.
    pub class: TagClassId,
    /// Key of the folded text.
    pub key: NameKey,
    /// The tag, not folded.
    pub text: String,
}

/// A class with what it is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedClass {
    /// Key of its folded name.
    pub key: NameKey,
    /// The class itself.
    pub class: TagClass,
}

/// Names a question with its answers that pairs were learned from: the same one counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleKey(pub u64);

/// A pair with what it is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedPair {
    /// Key of the folded colloquial word.
    pub colloquial: NameKey,
    /// Key of the folded professional word.
    pub professional: NameKey,
    /// The sample it comes from.
    pub sample: Option<SampleKey>,
    /// The words as they are shown, not folded.
    pub pair: TagPair,
}
