//! Holds plans: queries over typed tables, as data.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ColumnRef, DataValue};
use crate::tables::By;

/// A query over typed tables. Nothing in it is SQL: names are looked up, values are bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TablePlan {
    /// The table that rows are taken from, by its name in SQL.
    pub table: String,
    /// Tables that are joined to it, each row with at most one of theirs.
    pub joins: Vec<TableJoin>,
    /// All of them hold for what is taken.
    pub filters: Vec<TableFilter>,
    /// The keys of groups.
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
    /// It contains these words, whatever their case.
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
    /// A date in one of these months of any year, from 1 to 12, in this order.
    InMonths(Vec<u8>),
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableMeasure {
    /// How.
    pub function: Aggregate,
    /// Of which values; `None` for the count of rows.
    pub column: Option<ColumnRef>,
    /// What each value is put together with first, such as a price with a quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<TableTerm>,
}

/// A value of the same row that a value is put together with. A row that lacks one of both has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableTerm {
    /// How.
    pub by: Arithmetic,
    /// Whose numbers.
    pub column: ColumnRef,
}

/// How two numbers become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arithmetic {
    /// Their sum.
    Plus,
    /// The first minus the second.
    Minus,
    /// Their product.
    Times,
    /// The first divided by the second; nothing where the second is 0.
    Over,
}

impl Arithmetic {
    /// As people write it.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "−",
            Self::Times => "×",
            Self::Over => "/",
        }
    }
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
            .chain(self.measures.iter().filter_map(|measure| Some(&measure.with.as_ref()?.column)))
            .chain(&self.show)
            .chain(order)
    }
}
