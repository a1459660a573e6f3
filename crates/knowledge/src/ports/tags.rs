//! The ports to tags: what retrieval reads of them, and what indexing and people write.

use async_trait::async_trait;

use super::error::StoreError;
use crate::id::{ChunkId, TagClassId};
use crate::names::NameKey;
use crate::tags::{Tag, TagClass, TagCount, TagPair};

/// What is known of tags. Words are asked for under the key of their folded form.
///
/// # Errors
/// The base cannot be read.
#[async_trait]
pub trait TagReader: Send + Sync {
    /// All classes, by name.
    async fn tag_classes(&self) -> Result<Vec<TagClass>, StoreError>;

    /// Whether a person dropped a class: what was found once is then not looked for again.
    async fn any_class_dropped(&self) -> Result<bool, StoreError>;

    /// The tags of a class, those of most chunks first, then by identifier; at most `limit`.
    async fn tags_in(&self, class: TagClassId, limit: usize) -> Result<Vec<TagCount>, StoreError>;

    /// The tags of each chunk, in order; within one by identifier.
    async fn tags_of(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<Tag>>, StoreError>;

    /// The tags that chunks bear under each key, in order; within one, by identifier.
    async fn tags_named(&self, keys: &[NameKey]) -> Result<Vec<Vec<TagCount>>, StoreError>;

    /// The chunks that bear a tag under each key, in order; within one by identifier.
    async fn chunks_tagged(&self, keys: &[NameKey]) -> Result<Vec<Vec<ChunkId>>, StoreError>;

    /// All pairs, by colloquial and professional word.
    async fn tag_pairs(&self) -> Result<Vec<TagPair>, StoreError>;

    /// The pairs whose colloquial word stands under each key, in order; within one those with most
    /// samples first, then by word.
    async fn pairs_from(&self, keys: &[NameKey]) -> Result<Vec<Vec<TagPair>>, StoreError>;
}

/// What indexing and people write of tags. Each call is one transaction.
#[async_trait]
pub trait TagWriter: TagReader {
    /// Adds classes. One that was found gives way to any of that
    /// name, a dropped one included; one that is declared takes its place.
    async fn put_tag_classes(&self, classes: Vec<KeyedClass>) -> Result<(), StoreError>;

    /// Gives a class another name, and makes it a person's; whether there was one. No other class may
    /// have that name.
    async fn rename_tag_class(
        &self,
        from: NameKey,
        key: NameKey,
        name: &str,
    ) -> Result<bool, StoreError>;

    /// Drops a class with its tags for good: it is not found again. Whether there was one.
    async fn drop_tag_class(&self, key: NameKey) -> Result<bool, StoreError>;

    /// Stores the tags of chunks in some classes, each under the key of its folded text, and marks these
    /// classes done for the chunk. Chunks and classes that are gone are left out.
    async fn put_chunk_tags(&self, found: Vec<ChunkTags>) -> Result<(), StoreError>;

    /// Adds pairs, each with the keys of its two words and the sample that bears it out, if it comes from
    /// one. A person's pair stays a person's.
    async fn put_tag_pairs(&self, pairs: Vec<KeyedPair>) -> Result<(), StoreError>;

    /// Drops a pair; whether there was one.
    async fn drop_tag_pair(
        &self,
        colloquial: NameKey,
        professional: NameKey,
    ) -> Result<bool, StoreError>;
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
