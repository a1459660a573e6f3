//! Describes the typed tables of a base and the plans over them (PIKE-RAG §5.4: structuring).

mod misuse;
mod plan;

use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::document::Span;
use crate::id::{ChunkId, SourceId};

pub use misuse::DataError;
pub use plan::{
    Aggregate, Arithmetic, GroupFilter, NumberRange, OrderBy, TableFilter, TableGroup, TableJoin,
    TableMeasure, TableOrder, TablePlan, TableTerm, TableTest,
};

/// The tables of one shape in a base, as one typed table: each row is a row of a document, or a period of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DataTable {
    /// Its name in SQL, unique in the base: lower-case letters, digits, `_`.
    pub name: String,
    /// Its name for people: its caption or heading, else the name of its file without the
    /// extension.
    pub title: String,
    /// Further words for its subject: headings, captions, names of files.
    pub about: Vec<String>,
    /// In the order of the header; at least one.
    pub columns: Vec<DataColumn>,
    /// Rows, without those of `left_out`.
    pub rows: u64,
    /// Rows of totals, notes and repeated headers, and totals over the periods of a row, which no figure counts.
    pub left_out: u64,
    /// The documents that rows come from, by their names; at most [`DataTable::MOST_PARTS`].
    pub parts: Vec<DataPart>,
}

impl DataTable {
    /// The largest number of documents in [`DataTable::parts`].
    pub const MOST_PARTS: usize = 1_000;
    /// The largest number of columns; further columns are dropped.
    pub const MOST_COLUMNS: usize = 1_000;

    /// A column by its name in SQL.
    pub fn column(&self, sql: &str) -> Option<&DataColumn> {
        self.columns.iter().find(|column| column.sql == sql)
    }
}

/// The rows of one document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DataPart {
    /// The document.
    pub source: SourceId,
    /// Its name.
    pub uri: String,
    /// Rows of the table that it holds.
    pub rows: u64,
}

/// A column of a [`DataTable`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DataColumn {
    /// The header's text, without the unit.
    pub name: String,
    /// Its name in SQL, unique in its table.
    pub sql: String,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// The unit of its numbers, if the header or all cells name one.
    pub unit: Option<String>,
    /// Rows that have a value.
    pub filled: u64,
    /// Values that cannot be read as the kind: they are kept as text, and no figure counts them.
    pub unread: u64,
    /// The number of different values, up to [`DataColumn::MOST_DISTINCT`].
    pub distinct: u64,
    /// The smallest value as it is shown; dates by ISO 8601.
    pub least: Option<String>,
    /// The largest value.
    pub greatest: Option<String>,
    /// The most frequent values first; at most [`DataColumn::SAMPLES`].
    pub samples: Vec<String>,
}

impl DataColumn {
    /// The largest number of different values that are counted.
    pub const MOST_DISTINCT: u64 = 10_000;
    /// The largest number of values in [`DataColumn::samples`].
    pub const SAMPLES: usize = 12;
}

/// The kind of a column's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Whole numbers; stored as integers.
    Integer,
    /// Numbers; stored as reals.
    Real,
    /// Calendar years: whole numbers that are never summed.
    Year,
    /// Dates or periods by ISO 8601: `2013`, `2013-07`, `2013-07-05`, `2013-07-05 14:30:00`; stored as text.
    Date,
    /// Yes or no; stored as 1 and 0.
    Boolean,
    /// A name or code that identifies rows; stored as text.
    Identifier,
    /// Words that many rows share; stored as text.
    Category,
    /// Any other text.
    #[default]
    Text,
}

impl ColumnKind {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Real => "real",
            Self::Year => "year",
            Self::Date => "date",
            Self::Boolean => "boolean",
            Self::Identifier => "identifier",
            Self::Category => "category",
            Self::Text => "text",
        }
    }

    /// Whether values are stored as numbers.
    pub fn is_numeric(self) -> bool {
        matches!(self, Self::Integer | Self::Real | Self::Year | Self::Boolean)
    }

    /// Whether values can be summed and averaged.
    pub fn is_measure(self) -> bool {
        matches!(self, Self::Integer | Self::Real)
    }

    /// Whether values are ordered by time.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Date | Self::Year)
    }
}

/// A column of a table that a plan names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub struct ColumnRef {
    /// The table's name in SQL.
    pub table: String,
    /// The column's name in SQL.
    pub column: String,
}

/// A value of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DataValue {
    /// No value.
    #[default]
    Empty,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text, or a date.
    Text(String),
}

/// A number, a text or null. Whole numbers are numbers too, so a schema for each kind would match a
/// value twice.
impl PartialSchema for DataValue {
    fn schema() -> RefOr<Schema> {
        let kinds = [Type::Number, Type::String, Type::Null];
        ObjectBuilder::new().schema_type(SchemaType::from_iter(kinds)).into()
    }
}

impl ToSchema for DataValue {}

impl std::fmt::Display for DataValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => Ok(()),
            Self::Integer(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// The result of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanRows {
    /// The keys of the group and then its measures; or the shown columns. At most
    /// [`PlanRows::MOST`] rows.
    pub rows: Vec<PlanRow>,
    /// Rows of the table that pass the filters.
    pub matched: u64,
    /// Those among them without a value of the first measure's column.
    pub unmeasured: u64,
    /// The executed statement with its bound values inserted, for people.
    pub sql: String,
}

impl PlanRows {
    /// The largest number of rows of a result, if the plan sets no limit.
    pub const MOST: usize = 10_000;
    /// The limit of origins of all rows together.
    pub const MOST_ORIGINS: usize = 2_000;
}

/// One row of a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanRow {
    /// In the order of [`PlanRows::rows`].
    pub cells: Vec<DataValue>,
    /// The places of its source rows; at most [`PlanRow::MOST_ORIGINS`], in the order of the
    /// documents.
    pub origins: Vec<RowOrigin>,
}

impl PlanRow {
    /// The limit of origins of one row of a result.
    pub const MOST_ORIGINS: usize = 200;
}

/// The place of a row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RowOrigin {
    /// The chunk that holds it.
    pub chunk: ChunkId,
    /// Its span in the document's text.
    pub span: Span,
}

/// The result of a statement that a person wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SqlRows {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, up to the requested limit.
    pub rows: Vec<Vec<DataValue>>,
    /// Whether there are more rows.
    pub is_cut: bool,
}
