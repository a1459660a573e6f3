//! Reads aggregates: the function, its column and its rows.

use pikerag_knowledge::data::{Aggregate, TableFilter, TableMeasure};
use sqlparser::ast::{BinaryOperator, CaseWhen, Expr};

use super::conditions::{Reader, is_condition};
use super::expressions::term;
use super::fault::{PlanFault, unsupported};
use super::syntax::{Call, bare, number, peeled, unrounded};

const MEASURES: [(&str, Aggregate); 9] = [
    ("count", Aggregate::Count),
    ("sum", Aggregate::Sum),
    ("total", Aggregate::Sum),
    ("avg", Aggregate::Mean),
    ("mean", Aggregate::Mean),
    ("median", Aggregate::Median),
    ("min", Aggregate::Least),
    ("max", Aggregate::Greatest),
    ("count_distinct", Aggregate::Distinct),
];

pub(super) const HINT: &str = "a figure is one aggregate of a column, a - b, (a - b) / b or a / b of two such figures, in percent with 100.0 * before it";

/// An aggregate.
pub(super) struct Measured {
    pub(super) measure: TableMeasure,
    /// Conditions on the aggregate's rows, besides `WHERE`.
    pub(super) filters: Vec<TableFilter>,
    /// Whether the figure is the share of these rows, not their number.
    pub(super) is_share: bool,
    /// Whether the statement gives the share in percent, not as a part of 1.
    pub(super) is_percent: bool,
}

/// Reads an expression as an aggregate; `None` if it is none.
///
/// # Errors
/// The input is no column, or it is a condition that no plan can hold.
pub(super) fn measured(
    reader: &Reader<'_, '_>,
    expression: &Expr,
) -> Result<Option<Measured>, PlanFault> {
    let Some(call) = Call::of(expression) else { return Ok(None) };
    let Some(mut function) = function_of(&call.name) else { return Ok(None) };
    let mut filters = reader.filters(call.filter)?;
    let input = match call.inputs.as_slice() {
        [] => None,
        [input] => Some(peeled(input)),
        _ => return Err(unsupported(expression, HINT)),
    };
    // `sum(CASE WHEN … THEN x END)` covers only the rows that fulfil the condition.
    let (input, mut is_share) = match input {
        Some(Expr::Case { operand: None, conditions, else_result, .. }) => {
            let [CaseWhen { condition, result }] = conditions.as_slice() else {
                return Err(unsupported(expression, HINT));
            };
            let is_zero = else_result.as_deref().is_some_and(|other| number(other) == Some(0.0));
            let is_nothing = else_result
                .as_deref()
                .is_none_or(|other| peeled(other).to_string().eq_ignore_ascii_case("null"));
            let is_right = match function {
                Aggregate::Sum => is_zero || is_nothing,
                Aggregate::Mean => is_nothing || (is_zero && number(result) == Some(1.0)),
                _ => is_nothing,
            };
            if !is_right {
                return Err(unsupported(expression, HINT));
            }
            filters.extend(reader.filters(Some(condition))?);
            (Some(peeled(result)), function == Aggregate::Mean && is_zero)
        }
        Some(condition) if is_condition(condition) => {
            filters.extend(reader.filters(Some(condition))?);
            (None, function == Aggregate::Mean)
        }
        other => (other, false),
    };
    let is_of_conditions = !filters.is_empty() && input.is_none_or(|it| number(it) == Some(1.0));
    if is_of_conditions && matches!(function, Aggregate::Sum | Aggregate::Mean) {
        function = Aggregate::Count;
    } else {
        is_share = false;
    }
    let (column, with) = match input {
        None => (None, None),
        Some(input) if number(input).is_some() => (None, None),
        Some(input) => match term(reader.scope, input) {
            Some((column, with)) => (Some(column.reference()), Some(with)),
            None => (Some(reader.scope.column(bare(input))?.reference()), None),
        },
    };
    if call.is_distinct {
        if function != Aggregate::Count {
            return Err(unsupported(expression, "DISTINCT is used in count only"));
        }
        function = Aggregate::Distinct;
    }
    if column.is_none() && function != Aggregate::Count {
        return Err(unsupported(expression, HINT));
    }
    let measure = TableMeasure { function, column, with, ..TableMeasure::default() };
    Ok(Some(Measured { measure, filters, is_share, is_percent: false }))
}

/// Reads an expression as a figure of a group's rows: an aggregate, or the share of some rows in percent. `None` if it
/// is neither.
///
/// # Errors
/// As [`measured`].
pub(super) fn figure_of_rows(
    reader: &Reader<'_, '_>,
    expression: &Expr,
) -> Result<Option<Measured>, PlanFault> {
    let expression = unrounded(expression);
    if let Some(measured) = measured(reader, expression)? {
        return Ok(Some(measured));
    }
    let mut factors = Factors { times: 1.0, above: Vec::new(), below: Vec::new() };
    if !factors.add(expression, false) {
        return Ok(None);
    }
    let is = |number: f64| (factors.times - number).abs() < 1e-9;
    let [part] = factors.above.as_slice() else { return Ok(None) };
    let Some(part) = measured(reader, part)?.filter(|_| is(1.0) || is(100.0)) else {
        return Ok(None);
    };
    let whole = match factors.below.as_slice() {
        [] => {
            let is_percent = is(100.0);
            return Ok(part.is_share.then_some(Measured { is_percent, ..part }));
        }
        [whole] => measured(reader, whole)?,
        _ => None,
    };
    let is_whole = |whole: &Measured| {
        part.measure == whole.measure && whole.filters.is_empty() && !part.is_share
    };
    let is_share = !part.filters.is_empty() && whole.as_ref().is_some_and(is_whole);
    Ok(is_share.then_some(Measured { is_share, is_percent: is(100.0), ..part }))
}

/// A product: its numbers, and the function calls among its factors and divisors.
struct Factors<'e> {
    times: f64,
    above: Vec<&'e Expr>,
    below: Vec<&'e Expr>,
}

impl<'e> Factors<'e> {
    /// Adds an expression; returns whether it is a product.
    fn add(&mut self, expression: &'e Expr, is_below: bool) -> bool {
        let expression = unrounded(expression);
        if let Some(number) = number(expression).filter(|number| *number != 0.0) {
            self.times *= if is_below { 1.0 / number } else { number };
            return true;
        }
        match expression {
            Expr::BinaryOp { left, op: BinaryOperator::Multiply, right } => {
                self.add(left, is_below) && self.add(right, is_below)
            }
            Expr::BinaryOp { left, op: BinaryOperator::Divide, right } => {
                self.add(left, is_below) && self.add(right, !is_below)
            }
            call @ Expr::Function(_) => {
                // `nullif(count(*), 0)`
                let inner = Call::of(call).filter(|call| call.name == "nullif");
                match inner.and_then(|call| call.inputs.first().copied()) {
                    Some(inner) => return self.add(inner, is_below),
                    None if is_below => self.below.push(call),
                    None => self.above.push(call),
                }
                true
            }
            _ => false,
        }
    }
}

impl Measured {
    /// The measure with its own conditions.
    pub(super) fn measure(self) -> TableMeasure {
        TableMeasure { only: self.filters, is_share: self.is_share, ..self.measure }
    }
}

/// The aggregate function of this name, which is in lower case.
pub(super) fn function_of(name: &str) -> Option<Aggregate> {
    MEASURES.iter().find(|it| it.0 == name).map(|it| it.1)
}
