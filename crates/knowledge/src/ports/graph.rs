//! The ports to what was distilled over many chunks: entities, relations, communities, the tree of summaries.

use async_trait::async_trait;

use super::{ExtractBy, InChunk, Mentions, StoreError};
use crate::distilled::{
    Community, Entity, Extraction, Generation, LongDescription, Outline, Relation, Report, SaidKey,
    Summary,
};
use crate::id::{ChunkId, CommunityId, EntityId, NodeId, SummaryId};

/// The entity graph and the tree. What is asked for by identifier comes in the order asked for.
///
/// # Errors
/// The base cannot be read. Never a partial result: no method may reason over half of it.
///
/// # Cancel safety
/// Reads only; dropping a future leaves nothing behind.
#[async_trait]
pub trait GraphReader: Send + Sync {
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

    /// The chunks that each entity was found in, by entity in order; within one in reading order.
    async fn chunks_mentioning(
        &self,
        entities: &[EntityId],
    ) -> Result<Vec<Vec<ChunkId>>, StoreError>;

    /// The chunks that each entity was found in, by entity in order; none where more than `limit` do.
    async fn entity_mentions(
        &self,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<Mentions>, StoreError>;

    /// The entities found in each chunk, by chunk in order; within one by identifier.
    async fn entities_in(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<EntityId>>, StoreError>;

    /// All communities with their reports, by level and identifier.
    async fn communities(&self) -> Result<Vec<Community>, StoreError>;

    /// The communities that hold one of these entities, by level and identifier.
    async fn communities_of(&self, entities: &[EntityId]) -> Result<Vec<Community>, StoreError>;

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

/// What indexing writes of the entity graph and the tree. Each call is one transaction.
#[async_trait]
pub trait GraphWriter: GraphReader {
    /// Stores what chunks say of entities and relations in place of what was known of them, and marks
    /// the stage done for those chunks, in one transaction. What a model has found counts as found by
    /// names too.
    async fn put_extractions(
        &self,
        by: ExtractBy,
        found: Vec<InChunk<Extraction>>,
    ) -> Result<(), StoreError>;

    /// Entities and relations of which more than `bytes` bytes are said, and which have no summary of
    /// that yet; by identifier, entities first.
    async fn long_descriptions(&self, bytes: usize) -> Result<Vec<LongDescription>, StoreError>;

    /// Stores summaries of long descriptions. One that was made from something else than what is said now
    /// is left out.
    async fn put_descriptions(&self, made: Vec<ShortDescription>) -> Result<(), StoreError>;

    /// The entity graph as it stands.
    async fn outline(&self) -> Result<Outline, StoreError>;

    /// Puts these communities in place of all others; those that stay keep their reports. Parents come
    /// before their parts. `false`, and nothing is changed, where documents changed since the outline.
    async fn put_communities(
        &self,
        generation: Generation,
        communities: Vec<Community>,
    ) -> Result<bool, StoreError>;

    /// Stores reports; one on a community that is gone is left out.
    async fn put_reports(&self, reports: Vec<CommunityReport>) -> Result<(), StoreError>;

    /// Stores summaries; one of which a child is gone is left out.
    async fn put_summaries(&self, summaries: Vec<Summary>) -> Result<(), StoreError>;

    /// Drops the summaries of a level that are not among these, and all that was made from them.
    async fn keep_summaries(&self, level: u8, ids: &[SummaryId]) -> Result<(), StoreError>;
}
