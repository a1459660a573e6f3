//! Implements the [`GraphWriter`] port: the entity graph as a whole.

use async_trait::async_trait;
use pikerag_knowledge::{Community, Generation, GraphWriter, LongDescription, Outline, StoreError};

use crate::sqlite::base::Base;
use crate::sqlite::counters::generation;
use crate::sqlite::{distil, graph};

#[async_trait]
impl GraphWriter for Base {
    async fn long_descriptions(&self, bytes: usize) -> Result<Vec<LongDescription>, StoreError> {
        self.querying("reading descriptions", move |connection| {
            graph::long_descriptions(connection, bytes)
        })
        .await
    }

    async fn outline(&self) -> Result<Outline, StoreError> {
        self.querying("reading the entity graph", graph::outline).await
    }

    async fn put_communities(
        &self,
        of: Generation,
        communities: Vec<Community>,
    ) -> Result<bool, StoreError> {
        self.writing("storing communities", move |tx| {
            let current = generation(tx)? == of;
            if current {
                distil::put_communities(tx, &communities)?;
            }
            Ok(current)
        })
        .await
    }
}
