//! Reads the conditions of a statement as filters. All filters hold together; a condition that no plan can hold is a
//! fault.

use pikerag_knowledge::data::{ColumnRef, TableFilter, TableTest};
use sqlparser::ast::{BinaryOperator, Expr, InTarget, Query, UnaryOperator};

use super::expressions::{date_part, literal, term};
use super::fault::{PlanFault, unsupported};
use super::names::{Scope, Seen};
use super::patterns::fitting;
use super::ranges::{between, operator, range_of};
use super::syntax::{Call, DatePart, Parts, bare, number, only, peeled};
use super::value::{months, test};

const HINT: &str = "a condition compares one column with values, by = != > >= < <= BETWEEN IN LIKE IS NULL; conditions are joined by AND";
const NO_OR: &str = "OR joins single conditions";

/// The conditions of a `WHERE`.
#[derive(Default)]
pub(super) struct Conditions {
    pub(super) filters: Vec<TableFilter>,
    /// Set if the statement asks for the rows with the greatest or least value of a column.
    pub(super) extreme: Option<Extreme>,
}

/// `x = (SELECT max(x) FROM t WHERE …)`.
pub(super) struct Extreme {
    pub(super) column: ColumnRef,
    pub(super) is_greatest: bool,
    /// The rows among which the value is the greatest or least.
    pub(super) filters: Vec<TableFilter>,
}

/// One condition.
enum Condition {
    Filter(TableFilter),
    Extreme(Extreme),
    /// A condition that always holds.
    Nothing,
}

/// Reads conditions, with the tables that subqueries may name.
pub(super) struct Reader<'s, 'a> {
    pub(super) seen: &'s [Seen<'a>],
    pub(super) scope: &'s Scope<'a>,
}

impl Reader<'_, '_> {
    /// # Errors
    /// No plan can hold a condition.
    pub(super) fn conditions(&self, holds: Option<&Expr>) -> Result<Conditions, PlanFault> {
        let mut conditions = Conditions::default();
        let mut left: Vec<&Expr> = holds.into_iter().collect();
        while let Some(next) = left.pop() {
            if let Expr::BinaryOp { left: one, op: BinaryOperator::And, right } = peeled(next) {
                left.extend([right.as_ref(), one.as_ref()]);
                continue;
            }
            match self.condition(peeled(next))? {
                Condition::Filter(filter) => add(&mut conditions.filters, filter),
                Condition::Extreme(extreme) if conditions.extreme.is_none() => {
                    conditions.extreme = Some(extreme);
                }
                Condition::Extreme(_) => return Err(unsupported(next, HINT)),
                Condition::Nothing => {}
            }
        }
        Ok(conditions)
    }

    /// Reads filters where an extreme is not allowed.
    ///
    /// # Errors
    /// As [`Reader::conditions`].
    pub(super) fn filters(&self, holds: Option<&Expr>) -> Result<Vec<TableFilter>, PlanFault> {
        let Conditions { filters, extreme } = self.conditions(holds)?;
        match (extreme, holds) {
            (Some(_), Some(holds)) => {
                Err(unsupported(holds, "a figure over the rows of an extreme cannot be worked out"))
            }
            _ => Ok(filters),
        }
    }

    fn condition(&self, expression: &Expr) -> Result<Condition, PlanFault> {
        let filter = match expression {
            Expr::IsNull(of) => self.filter(of, "empty", &[])?,
            Expr::IsNotNull(of) => self.filter(of, "filled", &[])?,
            Expr::IsTrue(of) | Expr::IsNotFalse(of) => self.filter(of, "=", &["true"])?,
            Expr::IsFalse(of) | Expr::IsNotTrue(of) => self.filter(of, "=", &["false"])?,
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => self.negated(expr)?,
            Expr::In { expr, target: InTarget::List(list), negated, .. } => {
                let values: Option<Vec<String>> =
                    list.iter().map(|value| literal(self.scope, value)).collect();
                let values = values.ok_or_else(|| unsupported(expression, HINT))?;
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                match self.scope.column(bare(expr)) {
                    Ok(column) if column.is_date() && !*negated && 1 < values.len() => {
                        self.in_periods(expr, &values)?
                    }
                    _ => self.filter(expr, if *negated { "!=" } else { "=" }, &values)?,
                }
            }
            Expr::Between { expr, negated: false, low, high } => {
                let ends = literal(self.scope, low).zip(literal(self.scope, high));
                let (low, high) = ends.ok_or_else(|| unsupported(expression, HINT))?;
                between(self.filter(expr, ">=", &[&low])?, self.filter(expr, "<=", &[&high])?)
                    .ok_or_else(|| unsupported(expression, HINT))?
            }
            Expr::Like { negated, expr, pattern, escape_char: None, any: false }
            | Expr::ILike { negated, expr, pattern, escape_char: None, any: false } => {
                let pattern =
                    literal(self.scope, pattern).ok_or_else(|| unsupported(expression, HINT))?;
                self.like(expr, &pattern, *negated)?
            }
            Expr::In { expr, target: InTarget::Subquery(query), negated, .. } => {
                self.among(expr, query, !*negated)?
            }
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => self.either(left, right)?,
            Expr::BinaryOp { left, op, right } => {
                return self.compared(expression, left, op, right);
            }
            Expr::Value(_) if literal(self.scope, expression).as_deref() == Some("true") => {
                return Ok(Condition::Nothing);
            }
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                self.filter(expression, "=", &["true"])?
            }
            _ => return Err(unsupported(expression, HINT)),
        };
        Ok(Condition::Filter(filter))
    }

    fn compared(
        &self,
        whole: &Expr,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
    ) -> Result<Condition, PlanFault> {
        let (sign, turned) = match op {
            BinaryOperator::Eq => ("=", "="),
            BinaryOperator::NotEq => ("!=", "!="),
            BinaryOperator::Gt => (">", "<"),
            BinaryOperator::GtEq => (">=", "<="),
            BinaryOperator::Lt => ("<", ">"),
            BinaryOperator::LtEq => ("<=", ">="),
            _ => return Err(unsupported(whole, HINT)),
        };
        for (side, end, is_turned) in [(left, right, false), (right, left, true)] {
            if let (Some((column, with)), Some(end)) = (term(self.scope, side), number(end))
                && let Some(range) = range_of(op, end, is_turned)
            {
                let test = TableTest::Combined { with, range };
                return Ok(Condition::Filter(TableFilter { column: column.reference(), test }));
            }
        }
        match (literal(self.scope, left), literal(self.scope, right)) {
            (Some(one), Some(other)) if one == other && sign == "=" => Ok(Condition::Nothing),
            (None, Some(value)) => Ok(Condition::Filter(self.filter(left, sign, &[&value])?)),
            (Some(value), None) => Ok(Condition::Filter(self.filter(right, turned, &[&value])?)),
            (Some(_), Some(_)) => Err(unsupported(whole, HINT)),
            (None, None) => match (peeled(left), peeled(right)) {
                (_, Expr::Subquery(query)) => self.beside(whole, left, sign, query),
                (Expr::Subquery(query), _) => self.beside(whole, right, turned, query),
                _ => {
                    let (one, other) =
                        (self.scope.column(bare(left))?, self.scope.column(bare(right))?);
                    let (more, less) = match sign {
                        ">" => (one, other),
                        "<" => (other, one),
                        _ => return Err(unsupported(whole, "two columns are compared by > or <")),
                    };
                    let test = TableTest::MoreThan(less.reference());
                    Ok(Condition::Filter(TableFilter { column: more.reference(), test }))
                }
            },
        }
    }

    /// Compares a column with its own mean, greatest or least value: `x > (SELECT avg(x) FROM t)`.
    fn beside(
        &self,
        whole: &Expr,
        side: &Expr,
        sign: &str,
        query: &Query,
    ) -> Result<Condition, PlanFault> {
        const HINT: &str = "a column is compared with its own mean, greatest or least value: x > (SELECT avg(x) FROM t)";
        let no = || unsupported(whole, HINT);
        let column = self.scope.column(bare(side))?;
        let parts = Parts::of(query)?;
        let inner = Scope::of(self.seen, &parts.select.from)?;
        let call = only(&parts.select.projection).map(bare).and_then(Call::of).ok_or_else(no)?;
        let of = inner.column(bare(call.inputs.first().ok_or_else(no)?))?;
        let is_own = of.reference() == column.reference();
        let filters =
            Reader { seen: self.seen, scope: &inner }.filters(parts.select.selection.as_ref())?;
        let is_greatest = call.name == "max";
        match (call.name.as_str(), sign) {
            _ if !is_own || call.is_distinct || call.filter.is_some() => Err(no()),
            ("avg", ">" | "<") if filters.is_empty() => {
                let test = TableTest::BesideMean { above: sign == ">" };
                Ok(Condition::Filter(TableFilter { column: column.reference(), test }))
            }
            ("max" | "min", "=") => {
                let column = column.reference();
                Ok(Condition::Extreme(Extreme { column, is_greatest, filters }))
            }
            _ => Err(no()),
        }
    }

    /// Tests whether a value is among those of a column in some rows: `x IN (SELECT y FROM t WHERE …)`.
    fn among(&self, of: &Expr, query: &Query, is_in: bool) -> Result<TableFilter, PlanFault> {
        let no = || unsupported(query, "IN takes one column: x IN (SELECT y FROM t WHERE …)");
        let column = self.scope.column(bare(of))?;
        let parts = Parts::of(query)?;
        let is_plain = parts.is_whole()
            && parts.with.is_none()
            && parts.having.is_none()
            && parts.groups()?.is_empty();
        let inner = Scope::of(self.seen, &parts.select.from)?;
        if !is_plain || inner.tables.len() != 1 {
            return Err(no());
        }
        let reader = Reader { seen: self.seen, scope: &inner };
        let of = inner.column(bare(only(&parts.select.projection).ok_or_else(no)?))?;
        let filters = reader.filters(parts.select.selection.as_ref())?;
        let test = TableTest::Among { column: of.reference(), filters, is_in };
        Ok(TableFilter { column: column.reference(), test })
    }

    /// Reads conditions joined by `OR`; values of one column make one condition.
    fn either(&self, one: &Expr, other: &Expr) -> Result<TableFilter, PlanFault> {
        let no = || unsupported(one, NO_OR);
        let mut filters: Vec<TableFilter> = Vec::new();
        let mut left = vec![other, one];
        while let Some(next) = left.pop() {
            if let Expr::BinaryOp { left: one, op: BinaryOperator::Or, right } = peeled(next) {
                left.extend([right.as_ref(), one.as_ref()]);
                continue;
            }
            let Condition::Filter(filter) = self.condition(peeled(next))? else {
                return Err(no());
            };
            match (filters.last_mut(), filter) {
                (
                    Some(TableFilter { column, test: TableTest::Is(values) }),
                    TableFilter { column: of, test: TableTest::Is(more) },
                ) if *column == of => values.extend(more),
                (_, filter) => filters.push(filter),
            }
        }
        match filters.as_slice() {
            [one] => Ok(one.clone()),
            [first, ..] => {
                Ok(TableFilter { column: first.column.clone(), test: TableTest::AnyOf(filters) })
            }
            [] => Err(no()),
        }
    }

    fn negated(&self, expression: &Expr) -> Result<TableFilter, PlanFault> {
        let no = || {
            unsupported(expression, "NOT is used with values only: x != 'a', x NOT IN ('a', 'b')")
        };
        let Condition::Filter(TableFilter { column, test }) = self.condition(peeled(expression))?
        else {
            return Err(no());
        };
        let test = match test {
            TableTest::Is(values) => TableTest::IsNot(values),
            TableTest::IsNot(values) => TableTest::Is(values),
            TableTest::IsEmpty => TableTest::IsFilled,
            TableTest::IsFilled => TableTest::IsEmpty,
            TableTest::Among { column, filters, is_in } => {
                TableTest::Among { column, filters, is_in: !is_in }
            }
            _ => return Err(no()),
        };
        Ok(TableFilter { column, test })
    }

    /// A test of a column, or of a part of its dates.
    fn filter(&self, of: &Expr, is: &str, values: &[&str]) -> Result<TableFilter, PlanFault> {
        if let (Some((column, with)), [end]) = (term(self.scope, of), values)
            && let (Ok(end), Some(op)) = (end.parse::<f64>(), operator(is))
            && let Some(range) = range_of(&op, end, false)
        {
            let test = TableTest::Combined { with, range };
            return Ok(TableFilter { column: column.reference(), test });
        }
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        let (column, part) = match date_part(self.scope, of)? {
            Some((column, part)) => (column, Some(part)),
            None => (self.scope.column(bare(of))?, None),
        };
        let test = match part {
            Some(DatePart::Month) => months(&column, is, &values)?,
            _ => test(&column, is, &values)?,
        };
        Ok(TableFilter { column: column.reference(), test })
    }

    /// A date within one of several periods.
    fn in_periods(&self, of: &Expr, periods: &[&str]) -> Result<TableFilter, PlanFault> {
        let filters = periods.iter().map(|period| self.filter(of, "=", &[period]));
        let filters = filters.collect::<Result<Vec<_>, _>>()?;
        let column = self.scope.column(bare(of))?.reference();
        Ok(TableFilter { column, test: TableTest::AnyOf(filters) })
    }

    /// Reads `LIKE` as the matching values, if all values of the column are known.
    fn like(&self, of: &Expr, pattern: &str, is_negated: bool) -> Result<TableFilter, PlanFault> {
        let column = self.scope.column(bare(of))?;
        let reference = column.reference();
        let inner = pattern.trim_matches('%');
        let is_plain = !inner.contains(['%', '_']);
        if is_plain && !is_negated && column.is_date() && !pattern.starts_with('%') {
            let test = test(&column, "=", &[inner.trim_end_matches('-').to_owned()])?;
            return Ok(TableFilter { column: reference, test });
        }
        if let Some(values) = fitting(&column, pattern) {
            let test = match is_negated {
                true => TableTest::IsNot(values),
                false => TableTest::Is(values),
            };
            return Ok(TableFilter { column: reference, test });
        }
        let test = match (is_plain && !is_negated, pattern.starts_with('%'), pattern.ends_with('%'))
        {
            (true, true, true) => test(&column, "contains", &[inner.to_owned()])?,
            (true, false, false) => test(&column, "=", &[inner.to_owned()])?,
            _ => return Err(unsupported(of, "this column is searched by LIKE '%words%' only")),
        };
        Ok(TableFilter { column: reference, test })
    }
}

/// Adds a condition to the others. Two conditions on months keep only the months that both have.
fn add(filters: &mut Vec<TableFilter>, filter: TableFilter) {
    let of_column = filters.iter_mut().filter(|other| other.column == filter.column);
    for other in of_column {
        if let (TableTest::InMonths(months), TableTest::InMonths(more)) =
            (&mut other.test, &filter.test)
        {
            months.retain(|month| more.contains(month));
            return;
        }
    }
    filters.push(filter);
}

/// Whether an expression is a condition, not a value.
pub(super) fn is_condition(expression: &Expr) -> bool {
    match peeled(expression) {
        Expr::BinaryOp { op, .. } => matches!(
            op,
            BinaryOperator::Eq
                | BinaryOperator::NotEq
                | BinaryOperator::Gt
                | BinaryOperator::GtEq
                | BinaryOperator::Lt
                | BinaryOperator::LtEq
                | BinaryOperator::And
        ),
        Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsFalse(_)
        | Expr::In { .. }
        | Expr::Between { .. }
        | Expr::Like { .. } => true,
        _ => false,
    }
}
