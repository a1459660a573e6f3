//! Defines plans: queries over typed tables as data.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ColumnRef, DataValue};
use crate::tables::By;

/// A query over typed tables. It contains no SQL: names are looked up, values are bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TablePlan {
    /// The table of the rows, by its name in SQL.
    pub table: String,
    /// The joined tables; each row has at most one of theirs.
    pub joins: Vec<TableJoin>,
    /// The filters; all must hold.
    pub filters: Vec<TableFilter>,
    /// The keys of groups.
    pub group: Vec<TableGroup>,
    /// The measures of each group, or of all rows; without any, rows are shown.
    pub measures: Vec<TableMeasure>,
    /// The conditions on the figures of a group; all must hold. Without groups and measures there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub having: Vec<GroupFilter>,
    /// One figure of the first measures of all groups, such as their mean, in place of the groups.
    /// Groups without a key have no part in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Aggregate>,
    /// The columns to show, if there is no measure.
    pub show: Vec<ColumnRef>,
    /// The order; without one, by groups or as in the documents.
    pub order: Option<TableOrder>,
    /// The largest number of rows or groups. With an order, those equal to the last one stay too.
    pub limit: Option<usize>,
}

/// Another table whose rows are joined to those of the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableJoin {
    /// A column of a table that is in the plan already.
    pub from: ColumnRef,
    /// The column of the joined table that has the same values; each value once.
    pub to: ColumnRef,
}

/// A condition on a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TableFilter {
    /// The column of the tested value.
    pub column: ColumnRef,
    /// The test.
    pub test: TableTest,
}

/// A test of a value. A row without a value passes only [`TableTest::IsEmpty`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TableTest {
    /// It is one of these.
    Is(Vec<DataValue>),
    /// It has a value, and the value is none of these.
    IsNot(Vec<DataValue>),
    /// It contains these words, in any case.
    Contains(String),
    /// It lies between two values; a missing value leaves that side open.
    Between {
        /// The lower end.
        from: Option<DataValue>,
        /// Whether the lower end is included.
        from_included: bool,
        /// The upper end.
        to: Option<DataValue>,
        /// Whether the upper end is included.
        to_included: bool,
    },
    /// A date within this period: `2013`, `2013-07`, `2013-07-05`.
    Within(String),
    /// A date in one of these months of any year, from 1 to 12, in this order.
    InMonths(Vec<u8>),
    /// It is greater than another column of the same row.
    MoreThan(ColumnRef),
    /// Together with another value of the same row it lies in a range, such as the days between two
    /// dates.
    Combined {
        /// The other value, and the operation.
        with: TableTerm,
        /// The range.
        range: NumberRange,
    },
    /// At least one of these holds; the first is of the same column as the test.
    AnyOf(Vec<TableFilter>),
    /// It is a value that a column of another table has, or does not have, in the rows that pass
    /// these filters.
    Among {
        /// The column of the other table.
        column: ColumnRef,
        /// The filters on its rows; their columns are of that table.
        filters: Vec<TableFilter>,
        /// Whether the value is one of these, or none of them.
        is_in: bool,
    },
    /// It is above or below the mean of its column.
    BesideMean {
        /// Above the mean.
        above: bool,
    },
    /// It has no value.
    IsEmpty,
    /// It has a value.
    IsFilled,
}

/// A condition on a figure of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GroupFilter {
    /// The figure.
    pub measure: TableMeasure,
    /// The range in which it lies. A group without the figure is not in it.
    pub range: NumberRange,
}

/// A range of numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NumberRange {
    /// The lower end; `None` for no such end.
    pub from: Option<f64>,
    /// Whether the lower end is included.
    pub from_included: bool,
    /// The upper end; `None` for no such end.
    pub to: Option<f64>,
    /// Whether the upper end is included.
    pub to_included: bool,
}

impl NumberRange {
    /// Whether the number lies in the range.
    pub fn contains(&self, number: f64) -> bool {
        let is_above = |end: f64| end < number || (self.from_included && end <= number);
        let is_below = |end: f64| number < end || (self.to_included && number <= end);
        self.from.is_none_or(is_above) && self.to.is_none_or(is_below)
    }
}

/// A key of groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableGroup {
    /// The column.
    pub column: ColumnRef,
    /// The granularity; a date's period, else the value itself.
    pub by: By,
}

/// A figure to compute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TableMeasure {
    /// The function.
    pub function: Aggregate,
    /// The column of the values; `None` counts rows.
    pub column: Option<ColumnRef>,
    /// The operation on each value before, such as a price times a quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<TableTerm>,
    /// The filters on the rows that it is computed from, beside those of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<TableFilter>,
    /// Whether it is given in percent of the same figure without `only`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_share: bool,
}

/// A second value of the same row that is combined with the first. A row without one of them has no
/// value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableTerm {
    /// The operation.
    pub by: Arithmetic,
    /// The column of the second value.
    pub column: ColumnRef,
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arithmetic {
    /// Their sum.
    Plus,
    /// The first minus the second.
    Minus,
    /// Their product.
    Times,
    /// The first divided by the second; no value if the second is 0.
    Over,
    /// The days from the second date to the first; no value if one of them has no day.
    DaysSince,
}

impl Arithmetic {
    /// Its sign.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus | Self::DaysSince => "−",
            Self::Times => "×",
            Self::Over => "/",
        }
    }
}

/// A function from values to one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    /// The number of rows; of a column: the number of values.
    #[default]
    Count,
    /// The number of different values.
    Distinct,
    /// The sum.
    Sum,
    /// The mean.
    Mean,
    /// The middle value; for an even number the mean of both.
    Median,
    /// The smallest value.
    Least,
    /// The largest value.
    Greatest,
}

/// The order of groups or rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableOrder {
    /// The sort key; rows or groups without it come last and never count as first.
    pub by: OrderBy,
    /// Largest first.
    pub descending: bool,
}

/// The sort key of groups or rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderBy {
    /// The first measure.
    Measure,
    /// A column of the row, or of the group.
    Column(ColumnRef),
}

impl TablePlan {
    /// All columns that it names, without those of its joins and of other tables that it looks
    /// values up in.
    pub fn columns(&self) -> impl Iterator<Item = &ColumnRef> {
        let filters = self.filters.iter().flat_map(TableFilter::columns);
        let order = self.order.iter().filter_map(|order| match &order.by {
            OrderBy::Column(column) => Some(column),
            OrderBy::Measure => None,
        });
        filters
            .chain(self.group.iter().map(|group| &group.column))
            .chain(self.measures.iter().flat_map(TableMeasure::columns))
            .chain(self.having.iter().flat_map(|filter| filter.measure.columns()))
            .chain(&self.show)
            .chain(order)
    }
}

impl TablePlan {
    /// The tables that its filters look values up in.
    pub fn looked_up(&self) -> impl Iterator<Item = &String> {
        self.filters.iter().filter_map(|filter| match &filter.test {
            TableTest::Among { column, .. } => Some(&column.table),
            _ => None,
        })
    }
}

impl TableFilter {
    /// The columns of its own table that it names.
    pub fn columns(&self) -> Vec<&ColumnRef> {
        match &self.test {
            TableTest::MoreThan(other) => vec![&self.column, other],
            TableTest::Combined { with, .. } => vec![&self.column, &with.column],
            TableTest::AnyOf(filters) => filters.iter().flat_map(Self::columns).collect(),
            _ => vec![&self.column],
        }
    }
}

impl TableMeasure {
    /// The columns of its values.
    pub fn columns(&self) -> impl Iterator<Item = &ColumnRef> {
        let only = self.only.iter().flat_map(TableFilter::columns);
        self.column.iter().chain(self.with.iter().map(|term| &term.column)).chain(only)
    }
}
