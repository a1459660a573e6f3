//! What can be asked of typed records, and what comes of it? A query that a rule or a model has written, the things
//! that the records tell of, and the table that an engine works out of both (PIKE-RAG §5.4: structuring, induction).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::records::{FieldType, Quantity, Value};

/// What is wanted of the things of one schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecordQuery {
    /// All of them hold for what is counted.
    #[serde(default)]
    #[schema(required)]
    pub conditions: Vec<Condition>,
    /// What is told apart; nothing for one figure about all. At most [`RecordQuery::MOST_GROUPS`].
    #[serde(default)]
    #[schema(required)]
    pub group: Vec<Group>,
    /// What is worked out for each group.
    #[serde(default)]
    #[schema(required)]
    pub measure: Measure,
    /// The order of the groups.
    #[serde(default)]
    #[schema(required)]
    pub order: Order,
    /// Groups at most, after the order; `None` for all. With an order by value, those as large as the last one stay too.
    #[serde(default)]
    #[schema(required)]
    pub limit: Option<usize>,
}

impl RecordQuery {
    /// Fields that one query may group by.
    pub const MOST_GROUPS: usize = 3;
}

/// What has to hold for a thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Condition {
    /// Name of the field.
    pub field: String,
    /// What has to hold for its value. A thing without a value never fulfils a condition.
    pub test: Test,
}

/// What has to hold for a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// A text of these very words, whatever their case and accents.
    Is(String),
    /// A text in which these words stand side by side.
    Holds(String),
    /// A date that lies wholly between two days, both included, as `2010-01-01`; open where one is missing.
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
    /// A number at least this large, in the unit that it comes with.
    AtLeast(Quantity),
    /// A number above this.
    Above(Quantity),
    /// A number at most this large.
    AtMost(Quantity),
    /// A number below this.
    Below(Quantity),
    /// A yes or a no.
    IsTrue(bool),
}

/// What tells groups apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Group {
    /// Name of the field.
    pub field: String,
    /// How finely; a date's period, else the value as it is.
    #[serde(default)]
    #[schema(required)]
    pub by: By,
}

/// How finely groups are told apart.
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

/// What is worked out for each group. A number is worked out apart for each unit, and of those that have one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// How many things.
    #[default]
    Count,
    /// How many different values of a field.
    Different(String),
    /// The sum of a number.
    Sum(String),
    /// Its mean.
    Mean(String),
    /// The least.
    Least(String),
    /// The greatest.
    Greatest(String),
}

impl Measure {
    /// The field that is measured; `None` where things are counted.
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
    /// By what tells them apart: dates in order of time, words by the alphabet.
    #[default]
    Key,
    /// The greatest value first, then by key.
    Greatest,
    /// The least value first, then by key.
    Least,
}

/// The things that the records of one schema tell of, as a table with typed columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The fields of the schema, in its order.
    pub columns: Vec<Column>,
    /// In the order of their first records.
    pub things: Vec<Thing>,
}

impl Frame {
    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// What a thing says under a column.
    pub fn cell(&self, thing: usize, column: &str) -> Option<&Cell> {
        self.things.get(thing)?.cells.get(self.column(column)?)?.as_ref()
    }
}

/// A field as a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Name of the field.
    pub name: String,
    /// What its values are.
    pub kind: FieldType,
}

/// One thing, whichever records tell of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thing {
    /// By column; `None` where no record says anything that can be read as the column's type.
    pub cells: Vec<Option<Cell>>,
    /// The records that tell of it, by their places in the list that the frame was made of, in order; at least one.
    pub records: Vec<usize>,
}

/// A value, and what it is compared by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// As the record has it; a number in the unit of the frame.
    pub value: Value,
    /// Its words without case and accents, a space between them.
    pub folded: String,
    /// The record that says so, by its place in the list that the frame was made of.
    #[serde(default)]
    pub record: usize,
}

/// What an engine worked out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// A row for each group, in the order asked for.
    pub rows: Vec<TableRow>,
    /// Things that fulfil all conditions.
    pub matched: usize,
    /// Those of them that have no value of the measured field, and so are in no figure.
    pub unmeasured: usize,
    /// Things that may or may not fulfil a condition: they say nothing of it, or not precisely enough (a year where a
    /// month is asked for). They are in no figure.
    pub undecided: usize,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// What tells it apart, in the order of [`RecordQuery::group`]; empty for things that say nothing of it.
    pub key: Vec<String>,
    /// The figure.
    pub value: f64,
    /// What it is measured in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The things it was worked out from, by their places in the frame, in order.
    pub things: Vec<usize>,
}

/// Why a query could not be worked out.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The query names a field that the frame does not have.
    #[error("the query names `{0}`, which is no field of these records")]
    NoField(String),
    /// A test or a measure does not suit the type of its field.
    #[error("`{field}` is of type {kind}, and cannot be {wanted}")]
    WrongType {
        /// Name of the field.
        field: String,
        /// Its type in settings.
        kind: &'static str,
        /// What was to be done with it: `summed`, `compared with a number`.
        wanted: &'static str,
    },
    /// More groups than can be read.
    #[error("a query groups by {most} fields at most", most = RecordQuery::MOST_GROUPS)]
    TooManyGroups,
    /// The engine failed.
    #[error("the records could not be worked out")]
    Engine(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Works queries out over frames.
pub trait QueryEngine: Send + Sync {
    /// The table of a query: equal frames and queries give equal tables.
    ///
    /// # Errors
    /// See [`QueryError`].
    fn tabulate(&self, frame: &Frame, query: &RecordQuery) -> Result<Table, QueryError>;
}
