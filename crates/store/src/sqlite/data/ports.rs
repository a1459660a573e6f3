//! The [`DataTables`] and [`DataWriter`] ports.

use async_trait::async_trait;
use pikerag_knowledge::{
    ColumnRef, DataTable, DataTables, DataValue, DataWriter, PlanRows, RowReader, SqlLimits,
    SqlRows, StoreError, TablePlan, TableShape,
};

use super::catalogue::{entries, told};
use super::statement::Viewed;
use super::{plan, statement, write};
use crate::error::Context;
use crate::sqlite::base::Base;
use crate::sqlite::threads;

#[async_trait]
impl DataTables for Base {
    async fn data_tables(&self) -> Result<Vec<DataTable>, StoreError> {
        let doing = "reading the tables of the base";
        self.viewing(doing, move |view| {
            let read = || -> rusqlite::Result<Vec<DataTable>> {
                let entries = entries(view.connection, view.is_filtered())?;
                entries.into_iter().map(|entry| told(view.connection, entry)).collect()
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
            plan::distinct(view.connection, view.is_filtered(), &column, most)
        })
        .await
    }

    async fn run_plan(&self, plan: &TablePlan) -> Result<PlanRows, StoreError> {
        let plan = plan.clone();
        self.viewing("working out a plan over tables", move |view| {
            plan::run(view.connection, view.is_filtered(), &plan)
        })
        .await
    }

    async fn run_sql(&self, sql: &str, limits: SqlLimits) -> Result<SqlRows, StoreError> {
        let (tables, admitted) = self
            .viewing("reading the tables of the base", |view| {
                let entries = entries(view.connection, view.is_filtered())
                    .context("reading the tables of the base")?;
                let viewed =
                    |entry: super::catalogue::Entry| Viewed { id: entry.id, table: entry.table };
                let tables: Vec<Viewed> = entries.into_iter().map(viewed).collect();
                Ok((tables, view.seen().filter(|_| view.is_filtered())))
            })
            .await?;
        let (inner, sql) = (self.inner.clone(), sql.to_owned());
        threads::reading("running a statement over tables", move || {
            statement::run(&inner, &tables, admitted.as_deref(), &sql, limits)
        })
        .await
    }
}

#[async_trait]
impl DataWriter for Base {
    async fn stale_tables(&self) -> Result<Vec<TableShape>, StoreError> {
        self.looking("reading which tables are stale", write::stale).await
    }

    async fn write_table(
        &self,
        shape: TableShape,
        mut reader: Box<dyn RowReader>,
    ) -> Result<u64, StoreError> {
        self.writing("writing a table", move |tx| write::write(tx, shape, reader.as_mut())).await
    }
}
