//! Implements the [`GraphReader`] port: edges of chunks, and nodes that were distilled from many
//! chunks.

use async_trait::async_trait;
use pikerag_knowledge::{
    ChunkId, ChunkLinks, ChunkList, ChunksOf, Community, Entity, EntityId, GraphReader, LinkKind,
    Relation, StoreError, Summary, SummaryId, Which,
};

use crate::sqlite::base::Base;
use crate::sqlite::rows::owned;
use crate::sqlite::{graph, layers, links, tree};

#[async_trait]
impl GraphReader for Base {
    async fn chunks_of(
        &self,
        of: ChunksOf<'_>,
        limit: usize,
    ) -> Result<Vec<ChunkList>, StoreError> {
        let lookup = links::Lookup::of(of);
        self.querying("reading edges to chunks", move |connection| lookup.read(connection, limit))
            .await
    }

    async fn links_of(
        &self,
        chunks: &[ChunkId],
        kind: LinkKind,
    ) -> Result<Vec<ChunkLinks>, StoreError> {
        let chunks = chunks.to_vec();
        self.querying("reading edges of chunks", move |connection| {
            links::links_of(connection, &chunks, kind)
        })
        .await
    }

    async fn entities(&self, ids: &[EntityId]) -> Result<Vec<Entity>, StoreError> {
        let ids = ids.to_vec();
        self.querying("reading entities", move |connection| graph::entities(connection, &ids)).await
    }

    async fn relations_of(&self, entities: &[EntityId]) -> Result<Vec<Relation>, StoreError> {
        let ids = entities.to_vec();
        self.querying("reading relations", move |connection| graph::relations_of(connection, &ids))
            .await
    }

    async fn related_to(
        &self,
        entities: &[EntityId],
        limit: usize,
    ) -> Result<Vec<EntityId>, StoreError> {
        let ids = entities.to_vec();
        self.querying("reading relations", move |connection| {
            layers::related_to(connection, &ids, limit)
        })
        .await
    }

    async fn communities(&self, which: Which<'_, EntityId>) -> Result<Vec<Community>, StoreError> {
        let of = owned(which);
        self.querying("reading communities", move |connection| {
            graph::communities(connection, of.as_deref())
        })
        .await
    }

    async fn summaries(&self, ids: &[SummaryId]) -> Result<Vec<Summary>, StoreError> {
        let ids = ids.to_vec();
        self.querying("reading summaries", move |connection| tree::summaries(connection, &ids))
            .await
    }
}
