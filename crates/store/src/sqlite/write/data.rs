//! The [`DataWriter`] port: which typed tables are stale, and how they are written again.

use async_trait::async_trait;
use pikerag_knowledge::{DataWriter, RowReader, StoreError, TableShape};

use crate::sqlite::base::Base;
use crate::sqlite::data;

#[async_trait]
impl DataWriter for Base {
    async fn stale_tables(&self) -> Result<Vec<TableShape>, StoreError> {
        self.looking("reading which tables are stale", data::stale).await
    }

    async fn write_table(
        &self,
        shape: TableShape,
        mut reader: Box<dyn RowReader>,
    ) -> Result<u64, StoreError> {
        self.writing("writing a table", move |tx| data::write(tx, shape, reader.as_mut())).await
    }
}
