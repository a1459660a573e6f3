//! Implements the [`DataWriter`] port: finds stale typed tables, and writes them again.

use async_trait::async_trait;
use pikerag_knowledge::{DataWriter, RowReader, StoreError, TableShape};

use crate::sqlite::base::Base;
use crate::sqlite::data;

#[async_trait]
impl DataWriter for Base {
    async fn stale_tables(&self) -> Result<Vec<TableShape>, StoreError> {
        self.querying("finding stale tables", data::stale).await
    }

    async fn write_table(
        &self,
        shape: TableShape,
        mut reader: Box<dyn RowReader>,
    ) -> Result<u64, StoreError> {
        self.writing("writing a table", move |tx| data::write(tx, shape, reader.as_mut())).await
    }
}
