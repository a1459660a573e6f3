//! Implements the [`DataTables`] port: typed tables, and plans and statements over them.

use async_trait::async_trait;
use pikerag_knowledge::{
    ColumnRef, DataTable, DataTables, DataValue, PlanRows, SqlLimits, SqlRows, StoreError,
    TablePlan,
};

use crate::error::Context;
use crate::sqlite::base::Base;
use crate::sqlite::{data, threads};

#[async_trait]
impl DataTables for Base {
    async fn data_tables(&self) -> Result<Vec<DataTable>, StoreError> {
        let doing = "reading the tables of the base";
        self.viewing(doing, move |view| {
            let read = || -> rusqlite::Result<Vec<DataTable>> {
                let entries = data::entries(view.connection, view.is_filtered())?;
                entries.into_iter().map(|entry| data::described(view.connection, entry)).collect()
            };
            match view.snapshot {
                Some(snapshot) => snapshot.tables(|| read().context(doing)),
                None => read().context(doing),
            }
        })
        .await
    }

    async fn distinct(
        &self,
        column: &ColumnRef,
        most: usize,
    ) -> Result<Vec<(DataValue, u64)>, StoreError> {
        let column = column.clone();
        self.viewing("reading values of a table", move |view| {
            data::distinct(view.connection, view.is_filtered(), &column, most)
        })
        .await
    }

    async fn run_plan(&self, plan: &TablePlan) -> Result<PlanRows, StoreError> {
        let plan = plan.clone();
        self.viewing("running a plan over tables", move |view| {
            data::run_plan(view.connection, view.is_filtered(), &plan)
        })
        .await
    }

    async fn run_sql(&self, sql: &str, limits: SqlLimits) -> Result<SqlRows, StoreError> {
        let (tables, admitted) = self
            .viewing("reading the tables of the base", |view| {
                let entries = data::entries(view.connection, view.is_filtered())
                    .context("reading the tables of the base")?;
                Ok((entries, view.admitted().filter(|_| view.is_filtered())))
            })
            .await?;
        let (inner, sql) = (self.inner.clone(), sql.to_owned());
        threads::reading("running a statement over tables", move || {
            data::run_statement(&inner.fresh_reader()?, &tables, admitted.as_deref(), &sql, limits)
        })
        .await
    }
}
