//! What was distilled over many chunks? The [`GraphReader`] port.

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, Community, Entity, EntityId, GraphReader, Mentions, Relation, StoreError, Summary,
    SummaryId,
};

use crate::sqlite::{Base, graph, layers, tree};

#[async_trait]
impl GraphReader for Base {
    async fn entities(&self, ids: &[EntityId]) -> Result<Vec<Entity>, StoreError> {
        let ids = ids.to_vec();
        self.looking("reading entities", move |connection| graph::entities(connection, &ids)).await
    }

    async fn relations_of(&self, entities: &[EntityId]) -> Result<Vec<Relation>, StoreError> {
        let ids = entities.to_vec();
        self.looking("reading relations", move |connection| graph::relations_of(connection, &ids))
            .await
    }

    async fn related_to(
        &self,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<EntityId>, StoreError> {
        let ids = entities.to_vec();
        self.looking("reading relations", move |connection| {
            layers::related_to(connection, &ids, limit)
        })
        .await
    }

    async fn chunks_mentioning(
        &self,
        entities: &[EntityId],
    ) -> Result<Vec<Vec<ChunkId>>, StoreError> {
        let ids = entities.to_vec();
        self.looking("reading mentions", move |connection| {
            graph::chunks_mentioning(connection, &ids)
        })
        .await
    }

    async fn entity_mentions(
        &self,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<Mentions>, StoreError> {
        let ids = entities.to_vec();
        self.looking("reading mentions", move |connection| {
            ids.into_iter()
                .map(|entity| layers::entity_mentions(connection, entity, limit))
                .collect()
        })
        .await
    }

    async fn entities_in(&self, chunks: &[ChunkId]) -> Result<Vec<Vec<EntityId>>, StoreError> {
        let ids = chunks.to_vec();
        self.looking("reading mentions", move |connection| graph::entities_in(connection, &ids))
            .await
    }

    async fn communities(&self) -> Result<Vec<Community>, StoreError> {
        self.looking("reading communities", |connection| graph::communities(connection, None)).await
    }

    async fn communities_of(&self, entities: &[EntityId]) -> Result<Vec<Community>, StoreError> {
        let ids = entities.to_vec();
        self.looking("reading communities", move |connection| {
            graph::communities(connection, Some(&ids))
        })
        .await
    }

    async fn summaries(&self, ids: &[SummaryId]) -> Result<Vec<Summary>, StoreError> {
        let ids = ids.to_vec();
        self.looking("reading summaries", move |connection| tree::summaries(connection, &ids)).await
    }
}
