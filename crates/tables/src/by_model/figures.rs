//! Reads the figure that a statement computes: an aggregate, or a combination of two.

use pikerag_knowledge::data::TablePlan;
use sqlparser::ast::{BinaryOperator, Expr, Query};

use super::aggregates::{HINT, Measured, function_of, measured};
use super::conditions::Reader;
use super::expressions::term;
use super::fault::{PlanFault, unsupported};
use super::names::Scope;
use super::query::Statement;
use super::syntax::{Call, Parts, number, only, unrounded};
use crate::reading::Computation;

/// A figure: its value times a number.
struct Figure {
    times: f64,
    made: Made,
}

/// The value of a figure.
#[derive(Clone)]
enum Made {
    /// Only the number.
    Number,
    Plan(Box<TablePlan>),
    /// The first minus the second.
    Minus(Box<(TablePlan, TablePlan)>),
    /// The first divided by the second.
    Over(Box<(TablePlan, TablePlan)>),
    /// The first minus the second, divided by the third.
    Change(Box<(TablePlan, TablePlan, TablePlan)>),
}

impl Statement<'_> {
    /// Reads the only column of a statement without groups as a figure; `None` if it is none.
    ///
    /// # Errors
    /// No plan can hold the figure.
    pub(super) fn computation(&self, parts: &Parts<'_>) -> Result<Option<Computation>, PlanFault> {
        let Some(expression) = only(&parts.select.projection) else { return Ok(None) };
        let Some(Figure { times, made }) = self.figure_of(parts)? else { return Ok(None) };
        let no = || unsupported(expression, HINT);
        let is = |number: f64| (times - number).abs() < 1e-9;
        Ok(Some(match made {
            Made::Plan(plan) if is(1.0) => Computation::One(*plan),
            Made::Minus(pair) if is(1.0) => Computation::Difference(pair.1, pair.0),
            Made::Minus(pair) if is(-1.0) => Computation::Difference(pair.0, pair.1),
            Made::Over(pair) if is(100.0) => Computation::Share(pair.0, pair.1),
            Made::Over(pair) if is(1.0) => Computation::Ratio(pair.0, pair.1),
            Made::Change(three) if three.1 == three.2 && (is(1.0) || is(100.0)) => {
                Computation::Growth(three.1, three.0)
            }
            _ => return Err(no()),
        }))
    }

    /// The figure in the only column of a statement.
    fn figure_of(&self, parts: &Parts<'_>) -> Result<Option<Figure>, PlanFault> {
        let Some(expression) = only(&parts.select.projection) else { return Ok(None) };
        if !parts.groups()?.is_empty() {
            return Ok(None);
        }
        if parts.select.from.is_empty() {
            return self.figure(None, expression);
        }
        if let Some(plan) = self.over_groups(parts)? {
            return Ok(Some(Figure { times: 1.0, made: Made::Plan(Box::new(plan)) }));
        }
        if parts.with.is_some() || parts.having.is_some() {
            return Ok(None);
        }
        let scope = Scope::of(&self.seen, &parts.select.from)?;
        let reader = Reader { seen: &self.seen, scope: &scope };
        // Two cells of one row also make a figure.
        let is_of_cells = term(&scope, expression).is_some() && parts.is_whole();
        if !is_of_cells && !holds_aggregate(expression) {
            return Ok(None);
        }
        let filters = reader.filters(parts.select.selection.as_ref())?;
        let mut plan = TablePlan { filters, ..scope.plan() };
        scope.require(&mut plan);
        self.figure(Some((&reader, &plan)), expression)
    }

    /// A figure over the rows of a plan; `rows` is `None` if the statement has no `FROM`.
    fn figure(
        &self,
        rows: Option<(&Reader<'_, '_>, &TablePlan)>,
        expression: &Expr,
    ) -> Result<Option<Figure>, PlanFault> {
        let expression = unrounded(expression);
        if let Some(times) = number(expression) {
            return Ok(Some(Figure { times, made: Made::Number }));
        }
        if let Some((reader, plan)) = rows
            && let Some(measured) = measured(reader, expression)?
        {
            return Ok(Some(over_rows(plan, measured)));
        }
        match expression {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                let Some((reader, plan)) = rows else { return Ok(None) };
                let show = vec![reader.scope.column(expression)?.reference()];
                let plan = TablePlan { show, ..plan.clone() };
                Ok(Some(Figure { times: 1.0, made: Made::Plan(Box::new(plan)) }))
            }
            Expr::Subquery(query) => self.subquery(query).map(Some),
            Expr::BinaryOp { left, op, right } => {
                let both = self.figure(rows, left)?.zip(self.figure(rows, right)?);
                let Some((left, right)) = both else { return Ok(None) };
                combined(left, op, right).map(Some).ok_or_else(|| unsupported(expression, HINT))
            }
            Expr::Function(_) => self.wrapped(rows, expression),
            _ => Err(unsupported(expression, HINT)),
        }
    }

    /// Reads the figure within `abs` or `nullif`. `abs` needs no part in the plan, because the two figures of a
    /// difference show its sign.
    fn wrapped(
        &self,
        rows: Option<(&Reader<'_, '_>, &TablePlan)>,
        expression: &Expr,
    ) -> Result<Option<Figure>, PlanFault> {
        let no = || unsupported(expression, HINT);
        let Call { name, inputs, .. } = Call::of(expression).ok_or_else(no)?;
        match (name.as_str(), inputs.as_slice()) {
            ("abs", [inner]) => match self.figure(rows, inner)? {
                Some(Figure { made: Made::Plan(_) | Made::Number, .. }) => Err(no()),
                figure => Ok(figure),
            },
            ("nullif", [inner, nothing]) if number(nothing) == Some(0.0) => {
                self.figure(rows, inner)
            }
            _ => Err(no()),
        }
    }

    /// Reads a subquery with one figure or one cell.
    fn subquery(&self, query: &Query) -> Result<Figure, PlanFault> {
        let parts = Parts::of(query)?;
        if let Some(figure) = self.figure_of(&parts)? {
            return Ok(figure);
        }
        let (plan, nth, _) = self.plan(&parts)?;
        match nth {
            None => Ok(Figure { times: 1.0, made: Made::Plan(Box::new(plan)) }),
            Some(_) => Err(unsupported(query, HINT)),
        }
    }
}

/// Whether an expression contains a figure over rows.
pub(super) fn holds_aggregate(expression: &Expr) -> bool {
    match unrounded(expression) {
        Expr::BinaryOp { left, right, .. } => holds_aggregate(left) || holds_aggregate(right),
        call @ Expr::Function(_) => Call::of(call).is_some_and(|call| {
            function_of(&call.name).is_some()
                || call.inputs.iter().any(|input| holds_aggregate(input))
        }),
        _ => false,
    }
}

/// An aggregate over the rows of a plan.
fn over_rows(plan: &TablePlan, measured: Measured) -> Figure {
    let Measured { measure, filters, is_share, .. } = measured;
    let whole = TablePlan { measures: vec![measure], ..plan.clone() };
    let mut part = whole.clone();
    part.filters.extend(filters);
    let made = match is_share {
        true => Made::Over(Box::new((part, whole))),
        false => Made::Plan(Box::new(part)),
    };
    Figure { times: 1.0, made }
}

/// Combines two figures; `None` if no plan can hold the result.
fn combined(left: Figure, op: &BinaryOperator, right: Figure) -> Option<Figure> {
    let (times, made) = match (op, left.made, right.made) {
        (BinaryOperator::Multiply, Made::Number, made)
        | (BinaryOperator::Multiply, made, Made::Number) => (left.times * right.times, made),
        (BinaryOperator::Divide, made, Made::Number) => (left.times / right.times, made),
        (BinaryOperator::Divide, Made::Plan(one), Made::Plan(other)) => {
            (left.times / right.times, Made::Over(Box::new((*one, *other))))
        }
        (BinaryOperator::Divide, Made::Minus(pair), Made::Plan(base)) => {
            (left.times / right.times, Made::Change(Box::new((pair.0, pair.1, *base))))
        }
        (BinaryOperator::Minus, Made::Plan(one), Made::Plan(other))
            if (left.times - right.times).abs() < f64::EPSILON =>
        {
            (left.times, Made::Minus(Box::new((*one, *other))))
        }
        // The growth, written as a / b - 1.
        (BinaryOperator::Minus, Made::Over(pair), Made::Number)
            if (left.times - right.times).abs() < f64::EPSILON =>
        {
            (left.times, Made::Change(Box::new((pair.0, pair.1.clone(), pair.1))))
        }
        _ => return None,
    };
    times.is_finite().then_some(Figure { times, made })
}
