//! The port to the typed tables of a base: which tables there are, and what plans and statements over them give.

use std::collections::BTreeSet;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::StoreError;
use crate::data::{ColumnRef, DataColumn, DataTable, DataValue, PlanRows, SqlRows, TablePlan};
use crate::id::content_id;
use crate::uri::file_part;

/// The typed tables. What is read of them are values that were stored at indexing: no chunk is read.
///
/// # Errors
/// The base cannot be read; [`StoreError::Data`] where a plan or a statement does not fit the tables.
///
/// # Cancel safety
/// Reads only; dropping a future leaves nothing behind.
#[async_trait]
pub trait DataTables: Send + Sync {
    /// All tables that hold a row, by name.
    async fn data_tables(&self) -> Result<Vec<DataTable>, StoreError>;

    /// The different values of a column with the number of their rows: at most `most`, the most frequent first, equally
    /// frequent ones by value. Rows without a value are left out.
    async fn distinct(
        &self,
        column: &ColumnRef,
        most: usize,
    ) -> Result<Vec<(DataValue, u64)>, StoreError>;

    /// Works out a plan.
    async fn run_plan(&self, plan: &TablePlan) -> Result<PlanRows, StoreError>;

    /// Runs a `SELECT` over the tables by their names in SQL. It reads the newest state of the base, and of it what the
    /// caller may see.
    async fn run_sql(&self, statement: &str, limits: SqlLimits) -> Result<SqlRows, StoreError>;
}

/// What a statement of a person may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqlLimits {
    /// Rows of the result; more of them are cut off.
    pub rows: usize,
    /// Seconds until it is stopped.
    pub seconds: u64,
    /// Bytes of the result; more of them are cut off.
    pub bytes: usize,
}

impl Default for SqlLimits {
    fn default() -> Self {
        Self { rows: 1_000, seconds: 10, bytes: 8 << 20 }
    }
}

/// What rows have to share to be rows of one table; a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableShape(pub u64);

impl TableShape {
    /// Rows below a header of these names, whatever their case and spaces; `None` where no column has a name.
    pub fn of_header(header: &[String]) -> Option<Self> {
        let fold =
            |name: &String| name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let folded: Vec<String> = header.iter().map(fold).collect();
        let parts: Vec<&[u8]> = folded.iter().map(String::as_bytes).collect();
        let is_named = folded.iter().any(|name| !name.is_empty());
        is_named.then(|| Self(content_id("table", &parts)))
    }

    /// Documents of one file, each with what it says of itself; `None` for a document that is a whole file.
    pub fn of_record(uri: &str) -> Option<Self> {
        let file = file_part(uri);
        (file != uri).then(|| Self(content_id("records of", &[file.as_bytes()])))
    }
}

/// Where rows of a table stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowPlace<'a> {
    /// The file.
    pub file: &'a str,
    /// The headings above the table, the outermost first; in a workbook, the last one is the name of the sheet.
    pub headings: &'a [String],
    /// The text right above the table.
    pub caption: &'a str,
}

/// Reads rows of texts as rows of values: it sees all of them first, and then reads each.
pub trait RowReader: Send {
    /// Begins with the names of the columns.
    fn begin(&mut self, header: &[String]);

    /// Names the place of all rows that follow, until the next place is named.
    fn enter(&mut self, place: RowPlace<'_>);

    /// Takes a row into account. It has as many cells as the header.
    fn see(&mut self, row: &[String]);

    /// What the columns are, after all rows were seen. Where rows come from several places, columns tell these apart. All
    /// that is counted is left empty.
    fn settle(&mut self) -> Vec<DataColumn>;

    /// Puts the values of a row into `values`, one for each column. A row with a value for each of several periods becomes
    /// several rows, whose values follow each other. Returns how many totals are left out: the row itself, or cells of it.
    fn read(&self, row: &[String], values: &mut Vec<DataValue>) -> u64;

    /// A name in SQL for a table that people call so, which is none of those taken.
    fn name(&self, title: &str, taken: &BTreeSet<String>) -> String;
}

/// What indexing writes of typed tables. Which rows there are is noted chunk by chunk
/// ([`ChunkResults::Shapes`](super::ChunkResults::Shapes)); the rows go with their chunk.
#[async_trait]
pub trait DataWriter: Send + Sync {
    /// The shapes of which chunks came, changed or went since their table was written, by shape.
    async fn stale_tables(&self) -> Result<Vec<TableShape>, StoreError>;

    /// Writes the table of a shape again as a whole, or nothing; its rows. Fewer than two rows are no table, and there is
    /// none then.
    async fn write_table(
        &self,
        shape: TableShape,
        reader: Box<dyn RowReader>,
    ) -> Result<u64, StoreError>;
}
