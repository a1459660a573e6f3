//! Reads conditions on groups (`HAVING`).

use pikerag_knowledge::data::{GroupFilter, NumberRange, TableMeasure};
use sqlparser::ast::{BinaryOperator, Expr};

use super::aggregates::{Measured, figure_of_rows};
use super::conditions::Reader;
use super::fault::{PlanFault, unsupported};
use super::ranges::range_of;
use super::syntax::{Parts, number, peeled};

const HAVING: &str = "HAVING compares aggregates with numbers, joined by AND";

/// Reads the conditions of a `HAVING`.
///
/// # Errors
/// The condition is more than comparisons of aggregates with numbers.
pub(super) fn having(
    parts: &Parts<'_>,
    reader: &Reader<'_, '_>,
) -> Result<Vec<GroupFilter>, PlanFault> {
    let Some(condition) = parts.having else { return Ok(Vec::new()) };
    let mut fault = None;
    let filters = group_filters(condition, &mut |expression: &Expr| {
        match figure_of_rows(reader, parts.resolved(expression)) {
            // A plan holds shares in percent.
            Ok(found) => found.filter(|it| !it.is_share || it.is_percent).map(Measured::measure),
            Err(error) => {
                fault = Some(error);
                None
            }
        }
    });
    match fault {
        Some(fault) => Err(fault),
        None => filters,
    }
}

/// Comparisons of figures with numbers; all must hold.
pub(super) fn group_filters(
    condition: &Expr,
    figure: &mut dyn FnMut(&Expr) -> Option<TableMeasure>,
) -> Result<Vec<GroupFilter>, PlanFault> {
    let no = || unsupported(condition, HAVING);
    match peeled(condition) {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            let mut filters = group_filters(left, figure)?;
            filters.extend(group_filters(right, figure)?);
            Ok(filters)
        }
        Expr::Between { expr, negated: false, low, high } => {
            let (from, to) = number(low).zip(number(high)).ok_or_else(no)?;
            let range = NumberRange {
                from: Some(from),
                from_included: true,
                to: Some(to),
                to_included: true,
            };
            let measure = figure(expr).ok_or_else(no)?;
            Ok(vec![GroupFilter { measure, range }])
        }
        Expr::BinaryOp { left, op, right } => {
            let (of, end, is_turned) = match (number(left), number(right)) {
                (None, Some(end)) => (left, end, false),
                (Some(end), None) => (right, end, true),
                _ => return Err(no()),
            };
            let range = range_of(op, end, is_turned).ok_or_else(no)?;
            let measure = figure(of).ok_or_else(no)?;
            Ok(vec![GroupFilter { measure, range }])
        }
        _ => Err(no()),
    }
}
