//! Holds what is said of the typed tables of a base, and the plans that are worked out over them (PIKE-RAG §5.4: structuring).

mod misuse;

use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::document::Span;
use crate::id::{ChunkId, SourceId};
use crate::tables::By;

pub use misuse::DataError;

/// The tables of one shape in a base, as one typed table: each row is a row of a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DataTable {
    /// Its name in SQL, unique in the base: lower-case letters, digits, `_`.
    pub name: String,
    /// What people call it: the caption or heading over it, else the name of its file without an ending.
    pub title: String,
    /// Further words for what it is about: headings, captions, names of files.
    pub about: Vec<String>,
    /// In the order of the header; at least one.
    pub columns: Vec<DataColumn>,
    /// Rows, without those of `left_out`.
    pub rows: u64,
    /// Rows of totals, notes and repeated headers, which no figure counts.
    pub left_out: u64,
    /// The documents that rows come from, by their names; at most [`DataTable::MOST_PARTS`].
    pub parts: Vec<DataPart>,
}

impl DataTable {
    /// Documents that a table lists.
    pub const MOST_PARTS: usize = 1_000;
    /// Columns of a table; what stands to the right of them is no column.
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
    /// As the header writes it, without its unit.
    pub name: String,
    /// Its name in SQL, unique in its table.
    pub sql: String,
    /// What its values are.
    pub kind: ColumnKind,
    /// The unit of its numbers, where the header or all cells name one.
    pub unit: Option<String>,
    /// Rows that have a value.
    pub filled: u64,
    /// Values that do not read as the kind: they are kept as they are written, and no figure counts them.
    pub unread: u64,
    /// Different values; counted to [`DataColumn::MOST_DISTINCT`].
    pub distinct: u64,
    /// The least value, as it is shown; dates by ISO 8601.
    pub least: Option<String>,
    /// The greatest.
    pub greatest: Option<String>,
    /// The most frequent values first; at most [`DataColumn::SAMPLES`].
    pub samples: Vec<String>,
}

impl DataColumn {
    /// Different values of a column are counted so far.
    pub const MOST_DISTINCT: u64 = 10_000;
    /// Values that a column is shown with.
    pub const SAMPLES: usize = 12;
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Whole numbers; stored as integers.
    Integer,
    /// Numbers; stored as reals.
    Real,
    /// Calendar years: whole numbers that nobody adds up.
    Year,
    /// Dates or periods by ISO 8601: `2013`, `2013-07`, `2013-07-05`, `2013-07-05 14:30:00`; stored as text.
    Date,
    /// Yes or no; stored as 1 and 0.
    Boolean,
    /// A name or code that tells rows apart; stored as text.
    Identifier,
    /// Words that many rows share; stored as text.
    Category,
    /// Any other text.
    #[default]
    Text,
}

impl ColumnKind {
    /// As it is written in JSON.
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

    /// Whether values are added up and averaged.
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

/// A query over typed tables. Nothing in it is SQL: names are looked up, values are bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TablePlan {
    /// The table that rows are taken from, by its name in SQL.
    pub table: String,
    /// Tables that are joined to it, each row with at most one of theirs.
    pub joins: Vec<TableJoin>,
    /// All of them hold for what is taken.
    pub filters: Vec<TableFilter>,
    /// What is told apart.
    pub group: Vec<TableGroup>,
    /// What is worked out for each group, or over all; where there is none, rows are shown.
    pub measures: Vec<TableMeasure>,
    /// The columns that rows are shown with, where there is no measure.
    pub show: Vec<ColumnRef>,
    /// The order; by groups or as in the documents, where there is none.
    pub order: Option<TableOrder>,
    /// Rows or groups at most. With an order, those as large as the last one stay too.
    pub limit: Option<usize>,
}

/// Another table whose rows are put beside those of the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableJoin {
    /// A column of a table that is in the plan already.
    pub from: ColumnRef,
    /// The column of the joined table that has the same values; each value once.
    pub to: ColumnRef,
}

/// What has to hold for a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TableFilter {
    /// Whose value is looked at.
    pub column: ColumnRef,
    /// What has to hold.
    pub test: TableTest,
}

/// What has to hold for a value. A row without a value fulfils [`TableTest::IsEmpty`] alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TableTest {
    /// It is one of these.
    Is(Vec<DataValue>),
    /// It has a value, and it is none of these.
    IsNot(Vec<DataValue>),
    /// These words stand in it, whatever their case.
    Contains(String),
    /// It lies between two values, both included where `included` says so; open where one is missing.
    Between {
        /// The lower end.
        from: Option<DataValue>,
        /// Whether the lower end itself is in.
        from_included: bool,
        /// The upper end.
        to: Option<DataValue>,
        /// Whether the upper end itself is in.
        to_included: bool,
    },
    /// A date within this period: `2013`, `2013-07`, `2013-07-05`.
    Within(String),
    /// A date in this month of any year, from 1 to 12.
    InMonth(u8),
    /// It is compared with another column of the same row.
    MoreThan(ColumnRef),
    /// It is above the mean of its column, or below.
    BesideMean {
        /// Above it.
        above: bool,
    },
    /// It has no value.
    IsEmpty,
    /// It has one.
    IsFilled,
}

/// What tells groups apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableGroup {
    /// The column.
    pub column: ColumnRef,
    /// How finely; a date's period, else the value as it is.
    pub by: By,
}

/// What is worked out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableMeasure {
    /// How.
    pub function: Aggregate,
    /// Of which values; `None` for the count of rows.
    pub column: Option<ColumnRef>,
}

/// How values become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    /// How many rows; of a column: how many have a value.
    #[default]
    Count,
    /// How many different values.
    Distinct,
    /// The sum.
    Sum,
    /// The mean.
    Mean,
    /// The value in the middle; of an even number the mean of both.
    Median,
    /// The least.
    Least,
    /// The greatest.
    Greatest,
}

/// The order of groups or rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableOrder {
    /// What they are ordered by; rows or groups without it come last, and are not the first of anything.
    pub by: OrderBy,
    /// The greatest first.
    pub descending: bool,
}

/// What groups or rows are ordered by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderBy {
    /// The first measure.
    Measure,
    /// A column of the row, or of the group.
    Column(ColumnRef),
}

/// A value of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DataValue {
    /// None.
    #[default]
    Empty,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text, or a date.
    Text(String),
}

/// A number, a text or nothing: a whole number is a number, too, and one schema for each kind would fit it twice.
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

/// What came of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanRows {
    /// The keys of the group and then its measures; or the columns that are shown. At most [`PlanRows::MOST`].
    pub rows: Vec<PlanRow>,
    /// Rows of the table that fulfil the filters.
    pub matched: u64,
    /// Of these, rows without a value of the first measure's column.
    pub unmeasured: u64,
    /// The statement that was run, with its bound values written in: for people.
    pub sql: String,
}

impl PlanRows {
    /// Rows of a result, where the plan names no limit.
    pub const MOST: usize = 10_000;
    /// Origins of all rows together, as far as each has one.
    pub const MOST_ORIGINS: usize = 2_000;
}

/// One row of a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanRow {
    /// In the order of [`PlanRows::rows`].
    pub cells: Vec<DataValue>,
    /// Where the rows that it rests on stand; at most [`PlanRow::MOST_ORIGINS`], in the order of the documents.
    pub origins: Vec<RowOrigin>,
}

impl PlanRow {
    /// Origins of one row of a result.
    pub const MOST_ORIGINS: usize = 200;
}

/// Where a row of a table stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RowOrigin {
    /// The chunk that holds it.
    pub chunk: ChunkId,
    /// Where in the document's text.
    pub span: Span,
}

/// What came of a statement that a person wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SqlRows {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, at most as many as were asked for.
    pub rows: Vec<Vec<DataValue>>,
    /// Whether there are more rows.
    pub is_cut: bool,
}

impl TablePlan {
    /// All columns that it names, without those of its joins.
    pub fn columns(&self) -> impl Iterator<Item = &ColumnRef> {
        let filters = self.filters.iter().flat_map(|filter| {
            let other = match &filter.test {
                TableTest::MoreThan(column) => Some(column),
                _ => None,
            };
            [Some(&filter.column), other].into_iter().flatten()
        });
        let order = self.order.iter().filter_map(|order| match &order.by {
            OrderBy::Column(column) => Some(column),
            OrderBy::Measure => None,
        });
        filters
            .chain(self.group.iter().map(|group| &group.column))
            .chain(self.measures.iter().filter_map(|measure| measure.column.as_ref()))
            .chain(&self.show)
            .chain(order)
    }
}
