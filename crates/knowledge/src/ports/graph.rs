//! The ports to edges between chunks and to the knowledge distilled from many chunks: entities,
//! relations, communities, the tree of summaries.

use async_trait::async_trait;

use super::StoreError;
use super::corpus::Which;
use crate::distilled::{
    Community, DescriptionsKey, Entity, Generation, LongDescription, Outline, Relation, Report,
    Summary,
};
use crate::id::{ChunkId, CommunityId, EntityId, NodeId, SectionId, SourceId, SummaryId};
use crate::names::NameKey;
use crate::tags::Tag;

/// Nodes or names that lead to chunks: each gives one list of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunksOf<'a> {
    /// The chunks directly before and after each chunk in its source; chunks that cannot be
    /// searched are skipped.
    Neighbours(&'a [ChunkId]),
    /// The chunks of each source in reading order, without those that cannot be searched.
    Sources(&'a [SourceId]),
    /// The chunks directly in each section in reading order, without those that cannot be searched.
    Sections(&'a [SectionId]),
    /// The chunks that each entity was found in, by identifier.
    Entities(&'a [EntityId]),
    /// The same in reading order.
    EntitiesInOrder(&'a [EntityId]),
    /// The chunks that mention each name, by identifier.
    Names(&'a [NameKey]),
    /// The chunks with a tag under each key, by identifier.
    Tags(&'a [NameKey]),
}

/// The chunks that a node or name leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkList {
    /// Their number; exact up to one more than the limit.
    pub count: usize,
    /// The chunks themselves; empty if there are more than the limit.
    pub chunks: Vec<ChunkId>,
}

/// A kind of node that chunks lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Names.
    Names,
    /// Entities.
    Entities,
    /// Tags.
    Tags,
}

/// The nodes that a chunk leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkLinks {
    /// The names that it has a link to, by key.
    pub names: Vec<NameKey>,
    /// The entities that were found in it, by identifier.
    pub entities: Vec<EntityId>,
    /// Its tags, by identifier.
    pub tags: Vec<Tag>,
}

/// The edges between nodes, the entity graph and the tree. Items that are read by identifier come
/// in the given order.
///
/// # Errors
/// The base cannot be read. Never a partial result: no method may reason over half of it.
///
/// # Cancel safety
/// Reads only; dropping a future leaves nothing behind.
#[async_trait]
pub trait GraphReader: Send + Sync {
    /// The chunks that each of these leads to, in order; an empty list if there are more than
    /// `limit`. The count separates the two cases.
    async fn chunks_of(&self, of: ChunksOf<'_>, limit: usize)
    -> Result<Vec<ChunkList>, StoreError>;

    /// The nodes of this kind that each of these chunks leads to, in order.
    async fn links_of(
        &self,
        chunks: &[ChunkId],
        kind: LinkKind,
    ) -> Result<Vec<ChunkLinks>, StoreError>;

    /// These entities, in the given order; unknown ones are left out.
    async fn entities(&self, ids: &[EntityId]) -> Result<Vec<Entity>, StoreError>;

    /// The relations that start or end at one of these entities, each once: heaviest first, ties by
    /// identifier.
    async fn relations_of(&self, entities: &[EntityId]) -> Result<Vec<Relation>, StoreError>;

    /// The other ends of the `limit` heaviest relations of these entities, each once, in the order of
    /// [`relations_of`](Self::relations_of); none of the entities themselves. Reads no descriptions.
    async fn related_to(
        &self,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<EntityId>, StoreError>;

    /// All communities with their reports, or those that contain one of these entities: by level
    /// and identifier.
    async fn communities(&self, which: Which<'_, EntityId>) -> Result<Vec<Community>, StoreError>;

    /// These summaries, in the given order; unknown ones are left out.
    async fn summaries(&self, ids: &[SummaryId]) -> Result<Vec<Summary>, StoreError>;
}

/// A summary of a long description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortDescription {
    /// The entity or relation.
    pub node: NodeId,
    /// The hash of its source: [`LongDescription::key`].
    pub made_from: DescriptionsKey,
    /// The shorter description.
    pub text: String,
}

/// The report on a community.
#[derive(Clone, Debug, PartialEq)]
pub struct CommunityReport {
    /// The community it is about.
    pub community: CommunityId,
    /// The report itself.
    pub report: Report,
}

/// Reads and writes the entity graph as a whole, for indexing. Each call is one transaction.
///
/// # Errors
/// The base cannot be read or written.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
pub trait GraphWriter: GraphReader {
    /// Entities and relations whose descriptions exceed `bytes` bytes and have no summary yet; by
    /// identifier, entities first.
    async fn long_descriptions(&self, bytes: usize) -> Result<Vec<LongDescription>, StoreError>;

    /// The current entity graph.
    async fn outline(&self) -> Result<Outline, StoreError>;

    /// Replaces all communities with these; those that remain keep their reports. Parents come
    /// before their parts. Returns `false`, and changes nothing, if documents changed since the
    /// outline.
    async fn put_communities(
        &self,
        generation: Generation,
        communities: Vec<Community>,
    ) -> Result<bool, StoreError>;
}
