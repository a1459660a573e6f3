//! Implements the [`SearchWriter`] port: stores vectors, and refreshes the derived indexes.

use async_trait::async_trait;
use pikerag_knowledge::{NodeVector, SearchWriter, StoreError, VectorSet};
use rusqlite::params;

use crate::error::Context;
use crate::fulltext::WRITING;
use crate::sqlite::base::Base;
use crate::sqlite::{data, rows, vectors};

#[async_trait]
impl SearchWriter for Base {
    async fn put_vectors(
        &self,
        set: VectorSet,
        embedder: &str,
        vectors: Vec<NodeVector>,
    ) -> Result<(), StoreError> {
        let embedder = embedder.to_owned();
        self.writing("storing vectors", move |tx| {
            let nodes = vectors::nodes(set);
            // The node may have been deleted while the embedder ran.
            let mut insert = tx.prepare_cached(&format!(
                "INSERT INTO {}(node, embedder, vector) SELECT ?1, ?2, ?3
                 WHERE EXISTS (SELECT 1 FROM {nodes} WHERE id = ?1)
                 ON CONFLICT(node) DO UPDATE SET embedder = excluded.embedder, vector = excluded.vector",
                vectors::table(set)
            ))?;
            for NodeVector { node, vector } in &vectors {
                insert.execute(params![node.0.cast_signed(), embedder, rows::bytes(vector)])?;
            }
            Ok(())
        })
        .await
    }

    async fn refresh(&self) -> Result<(), StoreError> {
        self.reading("refreshing the derived indexes", |inner, connection| {
            let doing = "surveying tables";
            if inner.writer.is_some() && data::is_behind(connection).context(doing)? {
                inner.transaction(doing, data::settle)?;
            }
            inner.refresh_text(WRITING)?;
            inner.refresh_codes(connection)
        })
        .await
    }
}
