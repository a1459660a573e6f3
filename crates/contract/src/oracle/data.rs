//! Holds no typed tables: `crate::tables` compares plans with plain loops over rows instead.

use async_trait::async_trait;
use pikerag_knowledge::{
    ColumnRef, DataError, DataTable, DataTables, DataValue, DataWriter, PlanRows, RowReader,
    SqlLimits, SqlRows, StoreError, TablePlan, TableShape,
};

use super::Oracle;

#[async_trait]
impl DataTables for Oracle {
    async fn data_tables(&self) -> Result<Vec<DataTable>, StoreError> {
        Ok(Vec::new())
    }

    async fn distinct(
        &self,
        column: &ColumnRef,
        _most: usize,
    ) -> Result<Vec<(DataValue, u64)>, StoreError> {
        Err(none(&column.table))
    }

    async fn run_plan(&self, plan: &TablePlan) -> Result<PlanRows, StoreError> {
        Err(none(&plan.table))
    }

    async fn run_sql(&self, _sql: &str, _limits: SqlLimits) -> Result<SqlRows, StoreError> {
        Err(none(""))
    }
}

fn none(table: &str) -> StoreError {
    DataError::NoTable { table: table.to_owned(), known: Vec::new() }.into()
}

#[async_trait]
impl DataWriter for Oracle {
    async fn stale_tables(&self) -> Result<Vec<TableShape>, StoreError> {
        Ok(Vec::new())
    }

    async fn write_table(
        &self,
        _shape: TableShape,
        _reader: Box<dyn RowReader>,
    ) -> Result<u64, StoreError> {
        Ok(0)
    }
}
