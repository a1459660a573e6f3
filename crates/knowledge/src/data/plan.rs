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

/// A key of groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableGroup {
    /// The column.
    pub column: ColumnRef,
    /// The granularity; a date's period, else the value itself.
    pub by: By,
}

/// A figure to compute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableMeasure {
    /// The function.
    pub function: Aggregate,
    /// The column of the values; `None` counts rows.
    pub column: Option<ColumnRef>,
    /// The operation on each value before, such as a price times a quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<TableTerm>,
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
}

impl Arithmetic {
    /// Its sign.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "−",
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
