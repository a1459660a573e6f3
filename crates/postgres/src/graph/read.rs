//! Implements the [`GraphReader`] port: edges of chunks, and nodes that were distilled from many
//! chunks.

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, ChunkLinks, ChunkList, ChunksOf, Community, Entity, EntityId, GraphReader, LinkKind,
    Relation, StoreError, Summary, SummaryId, Which,
};

use super::{communities, entities, links, tree};
use crate::base::Base;
use crate::rows::owned;

#[async_trait]
impl GraphReader for Base {
    async fn chunks_of(
        &self,
        of: ChunksOf<'_>,
        limit: usize,
    ) -> Result<Vec<ChunkList>, StoreError> {
        self.reading("reading edges to chunks", move |tx| async move {
            links::chunks_of(&tx, of, limit).await
        })
        .await
    }

    async fn links_of(
        &self,
        chunks: &[ChunkId],
        kind: LinkKind,
    ) -> Result<Vec<ChunkLinks>, StoreError> {
        self.reading("reading edges of chunks", move |tx| async move {
            links::links_of(&tx, chunks, kind).await
        })
        .await
    }

    async fn entities(&self, ids: &[EntityId]) -> Result<Vec<Entity>, StoreError> {
        self.reading(
            "reading entities",
            move |tx| async move { entities::entities(&tx, ids).await },
        )
        .await
    }

    async fn relations_of(&self, entities: &[EntityId]) -> Result<Vec<Relation>, StoreError> {
        self.reading("reading relations", move |tx| async move {
            entities::relations_of(&tx, entities).await
        })
        .await
    }

    async fn related_to(
        &self,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<EntityId>, StoreError> {
        self.reading("reading relations", move |tx| async move {
            entities::related_to(&tx, entities, limit).await
        })
        .await
    }

    async fn communities(&self, which: Which<'_, EntityId>) -> Result<Vec<Community>, StoreError> {
        let of = owned(which);
        self.reading("reading communities", move |tx| async move {
            communities::communities(&tx, of.as_deref()).await
        })
        .await
    }

    async fn summaries(&self, ids: &[SummaryId]) -> Result<Vec<Summary>, StoreError> {
        self.reading("reading summaries", move |tx| async move { tree::summaries(&tx, ids).await })
            .await
    }
}
