//! Reads the sign of a comparison with a number as a range, and joins two ends.

use pikerag_knowledge::data::{NumberRange, TableFilter, TableTest};
use sqlparser::ast::BinaryOperator;

/// The range of numbers for `x op end`; if `is_turned`, for `end op x`. `None` for another operator.
pub(super) fn range_of(op: &BinaryOperator, end: f64, is_turned: bool) -> Option<NumberRange> {
    let above =
        |from_included| NumberRange { from: Some(end), from_included, ..NumberRange::default() };
    let below = |to_included| NumberRange { to: Some(end), to_included, ..NumberRange::default() };
    Some(match (op, is_turned) {
        (BinaryOperator::Eq, _) => NumberRange { to: Some(end), to_included: true, ..above(true) },
        (BinaryOperator::Gt, false) | (BinaryOperator::Lt, true) => above(false),
        (BinaryOperator::GtEq, false) | (BinaryOperator::LtEq, true) => above(true),
        (BinaryOperator::Lt, false) | (BinaryOperator::Gt, true) => below(false),
        (BinaryOperator::LtEq, false) | (BinaryOperator::GtEq, true) => below(true),
        _ => return None,
    })
}

/// The comparison operator of a sign.
pub(super) fn operator(sign: &str) -> Option<BinaryOperator> {
    match sign {
        ">=" => Some(BinaryOperator::GtEq),
        "<=" => Some(BinaryOperator::LtEq),
        _ => None,
    }
}

/// Joins a lower and an upper end into one range.
pub(super) fn between(low: TableFilter, high: TableFilter) -> Option<TableFilter> {
    let test = match (low.test, high.test) {
        (
            TableTest::Between { from, from_included, .. },
            TableTest::Between { to, to_included, .. },
        ) => TableTest::Between { from, from_included, to, to_included },
        (
            TableTest::Combined { with, range: above },
            TableTest::Combined { with: other, range: below },
        ) if with == other => {
            let range = NumberRange { to: below.to, to_included: below.to_included, ..above };
            TableTest::Combined { with, range }
        }
        (TableTest::InMonths(mut months), TableTest::InMonths(more)) => {
            months.retain(|month| more.contains(month));
            TableTest::InMonths(months)
        }
        _ => return None,
    };
    Some(TableFilter { column: low.column, test })
}
