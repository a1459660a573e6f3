//! The port to the typed tables of a base: their descriptions, and the results of plans and
//! statements.

use std::collections::BTreeSet;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::StoreError;
use crate::data::{ColumnRef, DataColumn, DataTable, DataValue, PlanRows, SqlRows, TablePlan};
use crate::id::content_id;
use crate::uri::file_part;

/// The typed tables. Reads return values that were stored at indexing; no chunk is read.
///
/// # Errors
/// The base cannot be read; [`StoreError::Data`] if a plan or a statement does not fit the tables.
///
/// # Cancel safety
/// Reads only; dropping a future leaves nothing behind.
#[async_trait]
pub trait DataTables: Send + Sync {
    /// All tables with at least one row, by name.
    async fn data_tables(&self) -> Result<Vec<DataTable>, StoreError>;

    /// The different values of a column with the number of their rows: at most `most`, the most
    /// frequent first, ties by value. Rows without a value are left out.
    async fn distinct(
        &self,
        column: &ColumnRef,
        most: usize,
    ) -> Result<Vec<(DataValue, u64)>, StoreError>;

    /// Runs a plan. The result has at most [`PlanRows::MOST`] rows if the plan sets no limit.
    async fn run_plan(&self, plan: &TablePlan) -> Result<PlanRows, StoreError>;

    /// Runs a `SELECT` over the tables by their names in SQL. It reads the newest state of the
    /// base, limited to what the caller may see. Rows beyond the limits are cut off
    /// ([`SqlRows::is_cut`]); a statement that takes too long is
    /// [`DataError::TooLong`](crate::data::DataError::TooLong).
    async fn run_sql(&self, statement: &str, limits: SqlLimits) -> Result<SqlRows, StoreError>;
}

/// The limits of a person's statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqlLimits {
    /// Rows of the result; further ones are cut off.
    pub rows: usize,
    /// Seconds until it is stopped.
    pub seconds: u64,
    /// Bytes of the result; further ones are cut off.
    pub bytes: usize,
}

impl Default for SqlLimits {
    fn default() -> Self {
        Self { rows: 1_000, seconds: 10, bytes: 8 << 20 }
    }
}

/// The property that rows of one table share; a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableShape(pub u64);

impl TableShape {
    /// The shape of rows below a header of these names, ignoring case and spaces; `None` if no
    /// column has a name.
    pub fn of_header(header: &[String]) -> Option<Self> {
        let fold =
            |name: &String| name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let folded: Vec<String> = header.iter().map(fold).collect();
        let parts: Vec<&[u8]> = folded.iter().map(String::as_bytes).collect();
        let is_named = folded.iter().any(|name| !name.is_empty());
        is_named.then(|| Self(content_id("table", &parts)))
    }

    /// The shape of the rows of a database's table, by the URI of its document: tables of a database
    /// are different relations even if their columns have the same names.
    pub fn of_relation(uri: &str) -> Self {
        Self(content_id("relation", &[uri.as_bytes()]))
    }

    /// The shape of documents of one file, by their metadata; `None` for a document that is a whole
    /// file.
    pub fn of_record(uri: &str) -> Option<Self> {
        let file = file_part(uri);
        (file != uri).then(|| Self(content_id("records of", &[file.as_bytes()])))
    }
}

/// The place of rows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowPlace<'a> {
    /// The file.
    pub file: &'a str,
    /// The headings above the table, the outermost first; in a workbook, the last one is the name of the sheet.
    pub headings: &'a [String],
    /// The text right above the table.
    pub caption: &'a str,
}

/// Converts rows of texts into rows of values: it sees all of them first, and then reads each.
pub trait RowReader: Send {
    /// Begins with the names of the columns.
    fn begin(&mut self, header: &[String]);

    /// Names the place of all rows that follow, until the next place is named.
    fn enter(&mut self, place: RowPlace<'_>);

    /// Takes a row into account. It has as many cells as the header.
    fn see(&mut self, row: &[String]);

    /// The columns, after all rows were seen. If rows come from several places, columns name the place. All counts are left
    /// empty.
    fn settle(&mut self) -> Vec<DataColumn>;

    /// Writes the values of a row into `values`, one for each column. A row with a value for each of several periods becomes
    /// several rows, whose values follow each other. Returns how many totals are left out: the row itself, or cells of it.
    fn read(&self, row: &[String], values: &mut Vec<DataValue>) -> u64;

    /// A name in SQL for a table with this title, different from the taken ones.
    fn name(&self, title: &str, taken: &BTreeSet<String>) -> String;
}

/// Writes typed tables for indexing. The rows are recorded by chunk
/// ([`ChunkResults::Shapes`](super::ChunkResults::Shapes)) and are removed with it.
///
/// # Errors
/// The base cannot be read or written.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
pub trait DataWriter: Send + Sync {
    /// The shapes whose chunks were added, changed or removed since their table was written, by
    /// shape.
    async fn stale_tables(&self) -> Result<Vec<TableShape>, StoreError>;

    /// Rewrites the table of a shape completely, or not at all, and returns the number of its rows.
    /// With fewer than two rows the table is removed.
    async fn write_table(
        &self,
        shape: TableShape,
        reader: Box<dyn RowReader>,
    ) -> Result<u64, StoreError>;
}
