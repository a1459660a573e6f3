//! The ports to edges between chunks and to what was distilled over many of them: entities, relations, communities, the
//! tree of summaries.

use async_trait::async_trait;

use super::StoreError;
use super::corpus::Which;
use crate::distilled::{
    Community, Entity, Generation, LongDescription, Outline, Relation, Report, SaidKey, Summary,
};
use crate::id::{ChunkId, CommunityId, EntityId, NodeId, SectionId, SourceId, SummaryId};
use crate::names::NameKey;
use crate::tags::Tag;

/// What leads to chunks: one list of chunks comes of each node or name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunksOf<'a> {
    /// The chunks right before and right after each chunk in its source; those that cannot be searched are passed over.
    Neighbours(&'a [ChunkId]),
    /// The chunks of each source in reading order, without those that cannot be searched.
    Sources(&'a [SourceId]),
    /// The chunks that stand in each section itself in reading order, without those that cannot be searched.
    Sections(&'a [SectionId]),
    /// The chunks that each entity was found in, by identifier.
    Entities(&'a [EntityId]),
    /// The same in reading order.
    EntitiesInOrder(&'a [EntityId]),
    /// The chunks that mention each name, by identifier.
    Names(&'a [NameKey]),
    /// The chunks that bear a tag under each key, by identifier.
    Tags(&'a [NameKey]),
}

/// The chunks that a node or name leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkList {
    /// How many there are; exact up to one more than was asked for.
    pub count: usize,
    /// The chunks themselves; none where there are more than was asked for.
    pub chunks: Vec<ChunkId>,
}

/// A kind of nodes that chunks lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Names.
    Names,
    /// Entities.
    Entities,
    /// Tags.
    Tags,
}

/// What a chunk leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkLinks {
    /// The names that it links to outright, by key.
    pub names: Vec<NameKey>,
    /// The entities that were found in it, by identifier.
    pub entities: Vec<EntityId>,
    /// Its tags, by identifier.
    pub tags: Vec<Tag>,
}

/// The edges between nodes, the entity graph and the tree. What is asked for by identifier comes in the order asked
/// for.
///
/// # Errors
/// The base cannot be read. Never a partial result: no method may reason over half of it.
///
/// # Cancel safety
/// Reads only; dropping a future leaves nothing behind.
#[async_trait]
pub trait GraphReader: Send + Sync {
    /// The chunks that each of these leads to, in order; none of one that leads to more than `limit`. The count tells
    /// these cases apart.
    async fn chunks_of(&self, of: ChunksOf<'_>, limit: usize)
    -> Result<Vec<ChunkList>, StoreError>;

    /// What each of these chunks leads to, in order: nodes of this kind, and none of the other kinds.
    async fn links_of(
        &self,
        chunks: &[ChunkId],
        kind: LinkKind,
    ) -> Result<Vec<ChunkLinks>, StoreError>;

    /// These entities, in the order asked for; unknown ones are left out.
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

    /// All communities with their reports, or those that hold one of these entities: by level and identifier.
    async fn communities(&self, which: Which<'_, EntityId>) -> Result<Vec<Community>, StoreError>;

    /// These summaries, in the order asked for; unknown ones are left out.
    async fn summaries(&self, ids: &[SummaryId]) -> Result<Vec<Summary>, StoreError>;
}

/// A summary of a long description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortDescription {
    /// The entity or relation.
    pub node: NodeId,
    /// What it was made from: [`LongDescription::key`].
    pub made_from: SaidKey,
    /// All that is said, in fewer words.
    pub text: String,
}

/// The report on a community.
#[derive(Clone, Debug, PartialEq)]
pub struct CommunityReport {
    /// The community it is about.
    pub community: CommunityId,
    /// What there is to say of it.
    pub report: Report,
}

/// What indexing reads and writes of the entity graph as a whole. Each call is one transaction.
#[async_trait]
pub trait GraphWriter: GraphReader {
    /// Entities and relations of which more than `bytes` bytes are said, and which have no summary of
    /// that yet; by identifier, entities first.
    async fn long_descriptions(&self, bytes: usize) -> Result<Vec<LongDescription>, StoreError>;

    /// The entity graph as it stands.
    async fn outline(&self) -> Result<Outline, StoreError>;

    /// Puts these communities in place of all others; those that stay keep their reports. Parents come
    /// before their parts. `false`, and nothing is changed, where documents changed since the outline.
    async fn put_communities(
        &self,
        generation: Generation,
        communities: Vec<Community>,
    ) -> Result<bool, StoreError>;
}
