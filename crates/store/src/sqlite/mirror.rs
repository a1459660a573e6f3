//! Keeps typed tables of another store in SQLite in memory, where plans and statements over them
//! run. So both stores compute the same figures.

mod catalogue;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use pikerag_knowledge::{
    ColumnRef, DataTable, DataValue, PlanRows, SqlLimits, SqlRows, StoreError, TableFilter,
    TablePlan, TableTest,
};
use rusqlite::{Connection, OpenFlags};

use super::data::{self, Bound, Entry, functions};
use super::locks::locked;
use super::{rows, scope};
use crate::error::Context;

pub use catalogue::{Catalogue, CatalogueChunk, CataloguePart, CatalogueTable};

/// The typed tables of one state of a base. Their rows are loaded when they are needed.
///
/// SQLite limits such a database to 1 GiB.
pub struct TableMirror {
    address: String,
    /// Keeps the database, which goes with its last connection.
    writer: Mutex<Connection>,
    /// The tables whose rows are all there.
    loaded: Mutex<HashSet<i64>>,
    /// Held alone while rows are written, because readers would find the database locked.
    gate: RwLock<()>,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct MirroredRow {
    /// Its number in the table.
    pub number: i64,
    /// The chunk that holds it.
    pub chunk: i64,
    /// The beginning of its place in the document's text.
    pub start: i64,
    /// The end of its place.
    pub stop: i64,
    /// A value for each column.
    pub cells: Vec<DataValue>,
}

/// A question to the tables. It decides whose rows must be loaded.
#[derive(Clone, Copy, Debug)]
pub enum TableQuery<'a> {
    /// [`TableMirror::data_tables`]
    Catalogue,
    /// [`TableMirror::distinct`]
    Column(&'a ColumnRef),
    /// [`TableMirror::run_plan`]
    Plan(&'a TablePlan),
    /// [`TableMirror::run_sql`]
    Statement(&'a str),
}

/// The chunks whose rows are visible; `None` for all.
type Admitted<'a> = Option<&'a HashSet<u64>>;

const DOING: &str = "reading the tables of the base";
const FILLING: &str = "copying tables into memory";

/// The views of a filter, as in `scope.sql`.
const VIEWS: &str = "
    CREATE TEMP VIEW data_chunks AS SELECT * FROM main.data_chunks WHERE admitted(chunk);
    CREATE TEMP VIEW data_parts AS
        SELECT * FROM main.data_parts p
        WHERE NOT EXISTS (SELECT 1 FROM main.data_chunks d
            WHERE d.data = p.data AND d.source = p.source AND NOT admitted(d.chunk));";

impl TableMirror {
    /// Makes a mirror without rows.
    ///
    /// # Errors
    /// SQLite refuses a value of the catalogue.
    pub fn new(catalogue: &Catalogue) -> Result<Self, StoreError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // The connections of a process share a database of this kind by its name.
        let address = format!("file:/pikerag-tables-{number}?vfs=memdb");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let make = || {
            let mut writer = connection(&address, flags)?;
            let tx = writer.transaction()?;
            catalogue.fill(&tx)?;
            tx.commit()?;
            Ok::<_, rusqlite::Error>(writer)
        };
        let writer = Mutex::new(make().context(FILLING)?);
        Ok(Self { address, writer, loaded: Mutex::default(), gate: RwLock::default() })
    }

    /// The tables whose rows the query needs and that are not loaded, with their number of columns.
    ///
    /// # Errors
    /// The catalogue cannot be read.
    pub fn missing(
        &self,
        admitted: Admitted<'_>,
        query: TableQuery<'_>,
    ) -> Result<Vec<(i64, usize)>, StoreError> {
        let entries = self.entries(admitted)?;
        let needed: Vec<&Entry> = match query {
            TableQuery::Catalogue => entries.iter().filter(|entry| entry.needs_rows()).collect(),
            TableQuery::Column(column) => called(&entries, &BTreeSet::from([&*column.table])),
            TableQuery::Plan(plan) => called(&entries, &tables_of(plan)),
            TableQuery::Statement(statement) => data::named(&entries, statement),
        };
        let loaded = locked(&self.loaded);
        let missing = needed.into_iter().filter(|entry| !loaded.contains(&entry.id));
        Ok(missing.map(|entry| (entry.id, entry.table.columns.len())).collect())
    }

    /// Begins to load the rows of a table, without those of a load that did not end.
    ///
    /// # Errors
    /// SQLite refuses it.
    pub fn begin_rows(&self, table: i64, columns: usize) -> Result<(), StoreError> {
        let _alone = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        let columns: Vec<String> = (0..columns).map(|place| format!(", c{place}")).collect();
        let sql = format!(
            "DROP TABLE IF EXISTS data_{table};
             CREATE TABLE data_{table} (row INTEGER PRIMARY KEY, chunk INTEGER NOT NULL, start INTEGER NOT NULL,
             stop INTEGER NOT NULL{});",
            columns.concat()
        );
        locked(&self.writer).execute_batch(&sql).context(FILLING)
    }

    /// Adds rows to a table. Each has as many cells as the table has columns.
    ///
    /// # Errors
    /// SQLite refuses a row.
    pub fn add_rows(&self, table: i64, rows: &[MirroredRow]) -> Result<(), StoreError> {
        let Some(first) = rows.first() else { return Ok(()) };
        let _alone = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        let mut writer = locked(&self.writer);
        let sql = format!(
            "INSERT INTO data_{table} VALUES (?, ?, ?, ?{})",
            ", ?".repeat(first.cells.len())
        );
        let mut add = || {
            let tx = writer.transaction()?;
            {
                let mut insert = tx.prepare(&sql)?;
                for row in rows {
                    let numbers = [row.number, row.chunk, row.start, row.stop];
                    for (place, number) in (1..).zip(numbers) {
                        insert.raw_bind_parameter(place, number)?;
                    }
                    for (place, cell) in (5..).zip(&row.cells) {
                        insert.raw_bind_parameter(place, Bound(cell))?;
                    }
                    insert.raw_execute()?;
                }
            }
            tx.commit()
        };
        add().context(FILLING)
    }

    /// Declares that all rows of a table are there.
    pub fn end_rows(&self, table: i64) {
        locked(&self.loaded).insert(table);
    }

    /// All tables that have a visible row, by name.
    ///
    /// # Errors
    /// The tables cannot be read.
    pub fn data_tables(&self, admitted: Admitted<'_>) -> Result<Vec<DataTable>, StoreError> {
        let _reading = self.reading();
        let read = || -> rusqlite::Result<Vec<DataTable>> {
            let connection = self.view(admitted)?;
            let entries = data::entries(&connection, admitted.is_some())?;
            entries.into_iter().map(|entry| data::described(&connection, entry)).collect()
        };
        read().context(DOING)
    }

    /// The distinct visible values of a column: see
    /// [`DataTables::distinct`](pikerag_knowledge::DataTables::distinct).
    ///
    /// # Errors
    /// The tables cannot be read, or do not have the column.
    pub fn distinct(
        &self,
        admitted: Admitted<'_>,
        column: &ColumnRef,
        most: usize,
    ) -> Result<Vec<(DataValue, u64)>, StoreError> {
        let _reading = self.reading();
        let connection = self.view(admitted).context(DOING)?;
        data::distinct(&connection, admitted.is_some(), column, most)
    }

    /// Runs a plan: see [`DataTables::run_plan`](pikerag_knowledge::DataTables::run_plan).
    ///
    /// # Errors
    /// The tables cannot be read, or the plan does not fit them.
    pub fn run_plan(
        &self,
        admitted: Admitted<'_>,
        plan: &TablePlan,
    ) -> Result<PlanRows, StoreError> {
        let _reading = self.reading();
        let connection = self.view(admitted).context(DOING)?;
        data::run_plan(&connection, admitted.is_some(), plan)
    }

    /// Runs a statement of a person: see [`DataTables::run_sql`](pikerag_knowledge::DataTables::run_sql).
    ///
    /// # Errors
    /// The tables cannot be read, or the statement is not allowed.
    pub fn run_sql(
        &self,
        admitted: Admitted<'_>,
        statement: &str,
        limits: SqlLimits,
    ) -> Result<SqlRows, StoreError> {
        let entries = self.entries(admitted)?;
        let _reading = self.reading();
        let fresh = self.reader().context(DOING)?;
        data::run_statement(&fresh, &entries, admitted, statement, limits)
    }

    fn entries(&self, admitted: Admitted<'_>) -> Result<Vec<Entry>, StoreError> {
        let _reading = self.reading();
        let read = || data::entries(&self.view(admitted)?, admitted.is_some());
        read().context(DOING)
    }

    /// A connection on which a filter hides content.
    fn view(&self, admitted: Admitted<'_>) -> rusqlite::Result<Connection> {
        let connection = self.reader()?;
        let Some(admitted) = admitted else { return Ok(connection) };
        let mut of_tables = HashSet::new();
        {
            let mut chunks = connection.prepare("SELECT chunk FROM main.data_chunks")?;
            let mut chunks = chunks.query([])?;
            while let Some(row) = chunks.next()? {
                of_tables.insert(rows::id(row, 0)?);
            }
        }
        of_tables.retain(|chunk| admitted.contains(chunk));
        scope::define(&connection, "admitted", Arc::new(of_tables))?;
        connection.execute_batch(VIEWS)?;
        Ok(connection)
    }

    /// A connection that no other caller had or will have.
    fn reader(&self) -> rusqlite::Result<Connection> {
        connection(&self.address, OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    fn reading(&self) -> RwLockReadGuard<'_, ()> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn connection(address: &str, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let more = OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(address, flags | more)?;
    connection.busy_timeout(Duration::from_mins(1))?;
    functions::add(&connection)?;
    Ok(connection)
}

/// The tables with these names.
fn called<'a>(entries: &'a [Entry], names: &BTreeSet<&str>) -> Vec<&'a Entry> {
    entries.iter().filter(|entry| names.contains(&*entry.table.name)).collect()
}

/// The names of all tables whose rows a plan reads.
fn tables_of(plan: &TablePlan) -> BTreeSet<&str> {
    let mut names = BTreeSet::from([&*plan.table]);
    names.extend(plan.joins.iter().map(|join| &*join.to.table));
    looked_up(&plan.filters, &mut names);
    let measures = plan.measures.iter().chain(plan.having.iter().map(|filter| &filter.measure));
    for measure in measures {
        looked_up(&measure.only, &mut names);
    }
    names
}

/// Adds the tables that filters look values up in, and the filters on those.
fn looked_up<'a>(filters: &'a [TableFilter], names: &mut BTreeSet<&'a str>) {
    for filter in filters {
        match &filter.test {
            TableTest::AnyOf(filters) => looked_up(filters, names),
            TableTest::Among { column, filters, .. } => {
                names.insert(&column.table);
                looked_up(filters, names);
            }
            _ => {}
        }
    }
}
