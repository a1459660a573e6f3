//! Keeps typed tables of the latest states in SQLite in memory.

use std::collections::HashSet;
use std::sync::Arc;

use futures::StreamExt;
use pikerag_knowledge::{ColumnRef, StoreError, TablePlan};
use pikerag_store::shared::{MirroredRow, TableMirror, TableQuery};
use tokio::sync::Mutex;
use tokio_postgres::Row;

use crate::catalogue::catalogue;
use crate::fault::{Fault, Sql};
use crate::meta::{DATA_VERSION, counter};
use crate::rows;
use crate::tx::Tx;

/// The states whose tables are kept: the latest one, and one that a question may still read.
const MOST: usize = 2;
/// Rows that are copied at a time.
const BATCH: usize = 4_000;

const DOING: &str = "copying tables into memory";

/// The mirrors of a base, by the version of its tables. The one used last is at the end.
#[derive(Default)]
pub(crate) struct Mirrors {
    held: Mutex<Vec<(i64, Arc<Mirror>)>>,
}

/// The tables of one state.
pub(crate) struct Mirror {
    pub(crate) tables: TableMirror,
    /// Held while rows are copied, so that several callers copy them once.
    loading: Mutex<()>,
}

/// The chunks whose rows are visible; `None` for all.
pub(crate) type Admitted = Option<Arc<HashSet<u64>>>;

/// A query that needs rows of some tables.
#[derive(Clone, Debug)]
pub(crate) enum Query {
    Catalogue,
    Column(ColumnRef),
    Plan(TablePlan),
    Statement(String),
}

impl Query {
    fn borrowed(&self) -> TableQuery<'_> {
        match self {
            Self::Catalogue => TableQuery::Catalogue,
            Self::Column(column) => TableQuery::Column(column),
            Self::Plan(plan) => TableQuery::Plan(plan),
            Self::Statement(statement) => TableQuery::Statement(statement),
        }
    }
}

impl Mirrors {
    /// The mirror of a transaction's state.
    pub(crate) async fn of(&self, tx: &Tx) -> Sql<Arc<Mirror>> {
        let version = counter(tx, DATA_VERSION).await?;
        let mut held = self.held.lock().await;
        let (found, mirror) = match held.iter().position(|(of, _)| *of == version) {
            Some(place) => held.remove(place),
            None => {
                let catalogue = catalogue(tx).await?;
                let tables = on_a_thread(move || TableMirror::new(&catalogue)).await?;
                (version, Arc::new(Mirror { tables, loading: Mutex::default() }))
            }
        };
        held.push((found, Arc::clone(&mirror)));
        if MOST < held.len() {
            held.remove(0);
        }
        Ok(mirror)
    }
}

impl Mirror {
    /// Copies the rows that a query needs, unless they are there.
    pub(crate) async fn load(
        self: &Arc<Self>,
        tx: &Tx,
        admitted: &Admitted,
        query: &Arc<Query>,
    ) -> Sql<()> {
        if self.missing(admitted, query).await?.is_empty() {
            return Ok(());
        }
        let _loading = self.loading.lock().await;
        // Another caller may have copied them meanwhile.
        for (table, columns) in self.missing(admitted, query).await? {
            self.load_table(tx, table, columns).await?;
        }
        Ok(())
    }

    async fn missing(
        self: &Arc<Self>,
        admitted: &Admitted,
        query: &Arc<Query>,
    ) -> Sql<Vec<(i64, usize)>> {
        let (mirror, admitted, query) = (Arc::clone(self), admitted.clone(), Arc::clone(query));
        on_a_thread(move || mirror.tables.missing(admitted.as_deref(), query.borrowed())).await
    }

    async fn load_table(self: &Arc<Self>, tx: &Tx, table: i64, columns: usize) -> Sql<()> {
        let mirror = Arc::clone(self);
        on_a_thread(move || mirror.tables.begin_rows(table, columns)).await?;
        let sql = "SELECT number, chunk, start, stop, cells FROM pikerag_base.data_rows
             WHERE data = $1 ORDER BY number";
        let mut batches = tx.stream(sql, &[&table]).await?.chunks(BATCH);
        while let Some(batch) = batches.next().await {
            let mirror = Arc::clone(self);
            let add = move || {
                let rows = batch.into_iter().map(|row| mirrored(&row?, columns));
                let rows: Sql<Vec<MirroredRow>> = rows.collect();
                mirror.tables.add_rows(table, &rows.map_err(|fault| fault.in_words(DOING))?)
            };
            on_a_thread(add).await?;
        }
        self.tables.end_rows(table);
        Ok(())
    }
}

fn mirrored(row: &Row, columns: usize) -> Sql<MirroredRow> {
    let mut cells: Vec<_> = rows::json(row, 4)?;
    cells.resize_with(columns, Default::default);
    Ok(MirroredRow {
        number: row.try_get(0)?,
        chunk: row.try_get(1)?,
        start: row.try_get(2)?,
        stop: row.try_get(3)?,
        cells,
    })
}

/// SQLite blocks its thread.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Sql<T> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(Fault::content)??)
}
