//! Reads the sign of a comparison with a number as a range.

use pikerag_knowledge::data::NumberRange;
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
