//! Reads the number of values of an embedder's vectors.

use pikerag_knowledge::{StoreError, VectorSet};
use rusqlite::OptionalExtension;

use super::base::Base;
use super::{rows, vectors};

impl Base {
    /// The number of values of each vector that this embedder made for the base; `None` if no chunk has one. It reads a
    /// single vector.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn dimensions(&self, embedder: &str) -> Result<Option<usize>, StoreError> {
        let embedder = embedder.to_owned();
        self.querying("reading a vector", move |connection| {
            let table = vectors::table(VectorSet::Chunks);
            let sql = format!("SELECT vector FROM {table} WHERE embedder = ?1 LIMIT 1");
            let length =
                |row: &rusqlite::Row<'_>| Ok(rows::floats(row.get_ref(0)?.as_blob()?).len());
            connection.prepare_cached(&sql)?.query_row([&embedder], length).optional()
        })
        .await
    }
}
