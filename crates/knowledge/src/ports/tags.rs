//! The ports to tags: what retrieval reads, and what indexing and people write.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::corpus::Which;
use super::error::StoreError;
use crate::id::{ChunkId, TagClassId};
use crate::names::NameKey;
use crate::tags::{TagClass, TagCount, TagPair};

/// The tags to count: each class or key gives one list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagQuery<'a> {
    /// Those of each class: those of most chunks first, then by identifier.
    InClasses(&'a [TagClassId]),
    /// Those of chunks under each key, by identifier.
    Named(&'a [NameKey]),
}

/// The existing classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagClasses {
    /// Those in use, by name.
    pub classes: Vec<TagClass>,
    /// Whether a person dropped a class: found classes are then not generated again.
    pub any_dropped: bool,
}

/// Reads tags. Words are looked up by the key of their folded form.
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

    /// All pairs by colloquial and professional word, or those whose colloquial word has one of
    /// these keys: in the order of the keys, within one those with most samples first, then by
    /// word. Each with the key of its colloquial word.
    async fn tag_pairs(
        &self,
        which: Which<'_, NameKey>,
    ) -> Result<Vec<(NameKey, TagPair)>, StoreError>;
}

/// The pairs whose colloquial word has each key, in order; within one those with most samples
/// first, then by word.
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

/// A change of classes and pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagEdit {
    /// Adds classes. A found class yields to any of that name, including a dropped one; a declared
    /// class replaces it.
    AddClasses(Vec<KeyedClass>),
    /// Renames a class, and marks it as declared by a person. No other class may have that name.
    RenameClass {
        /// Key of the current name.
        from: NameKey,
        /// Key of the new name.
        key: NameKey,
        /// The new name.
        name: String,
    },
    /// Drops a class with its tags permanently: it is not found again.
    DropClass(NameKey),
    /// Adds pairs, each with the keys of its two words and its supporting sample, if it comes from
    /// one. A person's pair stays a person's.
    AddPairs(Vec<KeyedPair>),
    /// Drops the pair of these words.
    DropPair {
        /// Key of the reader's word.
        colloquial: NameKey,
        /// Key of the documents' word.
        professional: NameKey,
    },
}

/// Writes tags for indexing and people. Each call is one transaction.
///
/// # Errors
/// The base cannot be written.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
pub trait TagWriter: TagReader {
    /// Changes classes or pairs. Returns whether the renamed or dropped item existed. Adding always
    /// succeeds.
    async fn edit_tags(&self, edit: TagEdit) -> Result<bool, StoreError>;
}

/// The tags of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkTags {
    /// The chunk that was searched.
    pub chunk: ChunkId,
    /// The classes that were searched for.
    pub classes: Vec<TagClassId>,
    /// The tags that were found.
    pub tags: Vec<FoundTag>,
}

/// A tag as a chunk spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTag {
    /// The class that was searched for.
    pub class: TagClassId,
    /// Key of the folded text.
    pub key: NameKey,
    /// The tag, not folded.
    pub text: String,
}

/// A class with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedClass {
    /// Key of its folded name.
    pub key: NameKey,
    /// The class itself.
    pub class: TagClass,
}

/// Identifies a question with its answers from which pairs were learned: it counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleKey(pub u64);

/// A pair with its keys.
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
