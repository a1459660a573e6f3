//! Implements the [`SearchWriter`] port: stores vectors, and refreshes the derived indexes.

use async_trait::async_trait;
use pikerag_knowledge::{NodeVector, SearchWriter, StoreError, VectorSet};

use super::{hnsw, vectors, words};
use crate::base::Base;
use crate::statistics::{self, Tables};
use crate::tables;
use crate::tx::Access;

#[async_trait]
impl SearchWriter for Base {
    async fn put_vectors(
        &self,
        set: VectorSet,
        embedder: &str,
        vectors: Vec<NodeVector>,
    ) -> Result<(), StoreError> {
        let embedder = embedder.to_owned();
        self.writing("storing vectors", Access::Documents, move |tx| async move {
            vectors::put(&tx, set, &embedder, &vectors).await
        })
        .await
    }

    async fn refresh(&self) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        let doing = "refreshing the derived indexes";
        let (is_behind, is_of_other_version) = self
            .reading(doing, |tx| async move {
                Ok((tables::is_behind(&tx).await?, words::is_of_other_version(&tx).await?))
            })
            .await?;
        if is_behind {
            self.writing("surveying tables", Access::Documents, |tx| async move {
                tables::settle(&tx).await
            })
            .await?;
        }
        if is_of_other_version {
            self.writing("refreshing full text", Access::Documents, |tx| async move {
                words::follow(&tx).await
            })
            .await?;
        }
        statistics::update(&self.inner.database, Tables::Changed).await?;
        hnsw::build_indexes(self).await
    }
}
