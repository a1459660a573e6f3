//! Defines queries over typed records, the things that records describe, and the tables that an
//! engine computes (PIKE-RAG §5.4: structuring, induction).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::records::{FieldType, Quantity, Value};

/// A query over the things of one schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordQuery {
    /// The conditions; all must hold.
    #[serde(default)]
    #[schema(required)]
    pub conditions: Vec<Condition>,
    /// The grouping; empty for one figure about all. At most [`RecordQuery::MOST_GROUPS`].
    #[serde(default)]
    #[schema(required)]
    pub group: Vec<Group>,
    /// The measure of each group.
    #[serde(default)]
    #[schema(required)]
    pub measure: Measure,
    /// The order of the groups.
    #[serde(default)]
    #[schema(required)]
    pub order: Order,
    /// The largest number of groups, after the order; `None` for all. With an order by value, those
    /// equal to the last one stay too.
    #[serde(default)]
    #[schema(required)]
    pub limit: Option<usize>,
}

impl RecordQuery {
    /// The largest number of grouping fields.
    pub const MOST_GROUPS: usize = 3;
}

/// A condition on a thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Condition {
    /// Name of the field.
    pub field: String,
    /// The test of its value. A thing without a value never passes.
    pub test: Test,
}

/// A test of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// A text of exactly these words, ignoring case and accents.
    Is(String),
    /// A text that contains these words in sequence.
    Holds(String),
    /// A date that lies wholly between two days, both included, as `2010-01-01`; a missing day
    /// leaves that side open.
    Between {
        /// The first day.
        #[serde(default)]
        #[schema(required)]
        from: Option<String>,
        /// The last day.
        #[serde(default)]
        #[schema(required)]
        to: Option<String>,
    },
    /// A number at least this large, in its unit.
    AtLeast(Quantity),
    /// A number above this.
    Above(Quantity),
    /// A number at most this large.
    AtMost(Quantity),
    /// A number below this.
    Below(Quantity),
    /// Yes or no.
    IsTrue(bool),
}

/// A key of groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Group {
    /// Name of the field.
    pub field: String,
    /// The granularity; a date's period, else the value itself.
    #[serde(default)]
    #[schema(required)]
    pub by: By,
}

/// The granularity of groups.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
)]
#[schema(as = GroupBy)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// By the value.
    #[default]
    Value,
    /// By the year of a date: `2010`.
    Year,
    /// By its quarter: `2010-Q3`.
    Quarter,
    /// By its month: `2010-07`.
    Month,
}

/// The figure to compute for each group. Numbers are computed separately for each unit, from the
/// things that have one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The number of things.
    #[default]
    Count,
    /// The number of different values of a field.
    Different(String),
    /// The sum of a number.
    Sum(String),
    /// Its mean.
    Mean(String),
    /// The smallest value.
    Least(String),
    /// The largest value.
    Greatest(String),
}

impl Measure {
    /// The measured field; `None` if things are counted.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Count => None,
            Self::Different(field)
            | Self::Sum(field)
            | Self::Mean(field)
            | Self::Least(field)
            | Self::Greatest(field) => Some(field),
        }
    }
}

/// The order of groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By key: dates in order of time, words by the alphabet.
    #[default]
    Key,
    /// The largest value first, then by key.
    Greatest,
    /// The smallest value first, then by key.
    Least,
}

/// The things that the records of one schema describe, as a table with typed columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The fields of the schema, in its order.
    pub columns: Vec<Column>,
    /// In the order of their first records.
    pub things: Vec<Thing>,
}

impl Frame {
    /// The position of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// A thing's value of a column.
    pub fn cell(&self, thing: usize, column: &str) -> Option<&Cell> {
        self.things.get(thing)?.cells.get(self.column(column)?)?.as_ref()
    }
}

/// A field as a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Name of the field.
    pub name: String,
    /// The type of its values.
    pub kind: FieldType,
}

/// One thing, with all records about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thing {
    /// By column; `None` if no record has a readable value.
    pub cells: Vec<Option<Cell>>,
    /// The records about it, by their positions in the source list, in order; at least one.
    pub records: Vec<usize>,
}

/// A value with its comparison key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The record's value; a number in the unit of the frame.
    pub value: Value,
    /// Its words without case and accents, separated by a space.
    pub folded: String,
    /// The record with the value, by its position in the source list.
    #[serde(default)]
    pub record: usize,
}

/// The result of a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// A row for each group, in the requested order.
    pub rows: Vec<TableRow>,
    /// Things that fulfil all conditions.
    pub matched: usize,
    /// Those of them without a value of the measured field, which no figure includes.
    pub unmeasured: usize,
    /// Things that may or may not fulfil a condition: their value is missing or not precise enough
    /// (a year instead of a month). No figure includes them.
    pub undecided: usize,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// Its key, in the order of [`RecordQuery::group`]; empty for things without a value.
    pub key: Vec<String>,
    /// The figure.
    pub value: f64,
    /// Its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The things behind it, by their positions in the frame, in order.
    pub things: Vec<usize>,
}

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The query names an unknown field.
    #[error("the query names `{0}`, which is no field of these records")]
    NoField(String),
    /// A test or a measure does not suit the type of its field.
    #[error("`{field}` is of type {kind}, and cannot be {wanted}")]
    WrongType {
        /// Name of the field.
        field: String,
        /// Its type in settings.
        kind: &'static str,
        /// The unsupported operation: `summed`, `compared with a number`.
        wanted: &'static str,
    },
    /// Too many grouping fields.
    #[error("a query groups by {most} fields at most", most = RecordQuery::MOST_GROUPS)]
    TooManyGroups,
    /// The engine failed.
    #[error("the records could not be worked out")]
    Engine(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Runs queries over frames.
pub trait QueryEngine: Send + Sync {
    /// The table of a query: equal frames and queries give equal tables.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn tabulate(&self, frame: &Frame, query: &RecordQuery) -> Result<Table, QueryError>;
}
