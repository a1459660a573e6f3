//! Implements the [`DataTables`] port: typed tables, and plans and statements over them.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{
    ColumnRef, DataTable, DataTables, DataValue, PlanRows, SqlLimits, SqlRows, StoreError,
    TablePlan,
};
use pikerag_store::shared::TableMirror;

use crate::base::Base;
use crate::error::Context;
use crate::mirror::Query;
use crate::snapshot::Snapshot;

impl Base {
    /// Answers a query from the tables in memory. The database is read before; its connection is
    /// free again while SQLite works.
    async fn in_tables<T: Send + 'static>(
        &self,
        what: &'static str,
        query: Query,
        answer: impl FnOnce(&TableMirror, Option<&HashSet<u64>>) -> Result<T, StoreError>
        + Send
        + 'static,
    ) -> Result<T, StoreError> {
        let query = Arc::new(query);
        let admitted = self.snapshot().and_then(|snapshot| snapshot.admitted());
        let (of, seen) = (&query, &admitted);
        let mirror = self
            .reading(what, |tx| async move {
                let mirror = self.inner.mirrors.of(&tx).await?;
                mirror.load(&tx, seen, of).await?;
                Ok(mirror)
            })
            .await?;
        let work = move || answer(&mirror.tables, admitted.as_deref());
        tokio::task::spawn_blocking(work).await.context(what)?
    }
}

#[async_trait]
impl DataTables for Base {
    async fn data_tables(&self) -> Result<Vec<DataTable>, StoreError> {
        let snapshot: Option<&Snapshot> = self.snapshot().map(AsRef::as_ref);
        if let Some(tables) = snapshot.and_then(Snapshot::tables) {
            return Ok(tables);
        }
        let doing = "reading the tables of the base";
        let tables = self.in_tables(doing, Query::Catalogue, TableMirror::data_tables).await?;
        if let Some(snapshot) = snapshot {
            snapshot.keep_tables(&tables);
        }
        Ok(tables)
    }

    async fn distinct(
        &self,
        column: &ColumnRef,
        most: usize,
    ) -> Result<Vec<(DataValue, u64)>, StoreError> {
        let column = column.clone();
        let query = Query::Column(column.clone());
        self.in_tables("reading values of a table", query, move |tables, admitted| {
            tables.distinct(admitted, &column, most)
        })
        .await
    }

    async fn run_plan(&self, plan: &TablePlan) -> Result<PlanRows, StoreError> {
        let plan = plan.clone();
        let query = Query::Plan(plan.clone());
        self.in_tables("running a plan over tables", query, move |tables, admitted| {
            tables.run_plan(admitted, &plan)
        })
        .await
    }

    async fn run_sql(&self, sql: &str, limits: SqlLimits) -> Result<SqlRows, StoreError> {
        let sql = sql.to_owned();
        let query = Query::Statement(sql.clone());
        self.in_tables("running a statement over tables", query, move |tables, admitted| {
            tables.run_sql(admitted, &sql, limits)
        })
        .await
    }
}
