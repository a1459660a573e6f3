//! Implements the [`GraphWriter`] port: the entity graph as a whole.

use async_trait::async_trait;
use pikerag_knowledge::{Community, Generation, GraphWriter, LongDescription, Outline, StoreError};

use super::{descriptions, distil, outline};
use crate::base::Base;
use crate::tx::Access;

#[async_trait]
impl GraphWriter for Base {
    async fn long_descriptions(&self, bytes: usize) -> Result<Vec<LongDescription>, StoreError> {
        self.reading("reading descriptions", move |tx| async move {
            descriptions::long_descriptions(&tx, bytes).await
        })
        .await
    }

    async fn outline(&self) -> Result<Outline, StoreError> {
        self.reading(
            "reading the entity graph",
            move |tx| async move { outline::outline(&tx).await },
        )
        .await
    }

    async fn put_communities(
        &self,
        of: Generation,
        communities: Vec<Community>,
    ) -> Result<bool, StoreError> {
        self.writing("storing communities", Access::Documents, move |tx| async move {
            let is_current = outline::generation(&tx).await? == of;
            if is_current {
                distil::put_communities(&tx, &communities).await?;
            }
            Ok(is_current)
        })
        .await
    }
}
