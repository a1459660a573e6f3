//! Reads expressions over the tables of a statement: values, combinations of two columns, parts of dates.

use pikerag_knowledge::data::{Arithmetic, ColumnKind, TableTerm};
use sqlparser::ast::{BinaryOperator, DateTimeField, Expr, UnaryOperator, Value};

use super::fault::{PlanFault, unsupported};
use super::names::{Column, Scope};
use super::syntax::{Call, DatePart, bare, number};

/// Reads a written value as text. A name in double quotes is a value if no column has that name, as in SQLite.
pub(super) fn literal(scope: &Scope<'_>, expression: &Expr) -> Option<String> {
    match bare(expression) {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => Some(number.clone()),
            Value::Boolean(truth) => Some(truth.to_string()),
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Some(text.clone()),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
            number(expr)?;
            literal(scope, expr).map(|number| format!("-{number}"))
        }
        Expr::TypedString(typed) => typed.value.value.clone().into_string(),
        name @ Expr::Identifier(ident) if ident.quote_style.is_some() => {
            scope.column(name).is_err().then(|| ident.value.clone())
        }
        _ => None,
    }
}

/// Reads a combination of two columns: `price * quantity`, `julianday(end) - julianday(start)`.
pub(super) fn term<'a>(scope: &Scope<'a>, expression: &Expr) -> Option<(Column<'a>, TableTerm)> {
    let Expr::BinaryOp { left, op, right } = bare(expression) else { return None };
    let by = match op {
        BinaryOperator::Plus => Arithmetic::Plus,
        BinaryOperator::Minus => Arithmetic::Minus,
        BinaryOperator::Multiply => Arithmetic::Times,
        BinaryOperator::Divide => Arithmetic::Over,
        _ => return None,
    };
    if by == Arithmetic::Minus
        && let (Some(one), Some(other)) = (day(scope, left), day(scope, right))
    {
        return Some((one, TableTerm { by: Arithmetic::DaysSince, column: other.reference() }));
    }
    let number =
        |side: &Expr| scope.column(bare(side)).ok().filter(|column| column.data.kind.is_numeric());
    let (one, other) = (number(left)?, number(right)?);
    Some((one, TableTerm { by, column: other.reference() }))
}

/// The date column whose day the expression is.
fn day<'a>(scope: &Scope<'a>, expression: &Expr) -> Option<Column<'a>> {
    let inner = match Call::of(bare(expression)) {
        Some(Call { name, inputs, .. }) if name == "julianday" => bare(inputs.first()?),
        _ => bare(expression),
    };
    scope.column(inner).ok().filter(Column::is_date)
}

/// Reads an expression as a part of a date column; `None` if it takes no part.
///
/// # Errors
/// The expression takes a part of something other than a date column.
pub(super) fn date_part<'a>(
    scope: &Scope<'a>,
    expression: &Expr,
) -> Result<Option<(Column<'a>, DatePart)>, PlanFault> {
    let Some((inner, part)) = taken(scope, bare(expression)) else { return Ok(None) };
    let column = scope.column(bare(inner))?;
    match column.data.kind {
        ColumnKind::Date => Ok(Some((column, part))),
        ColumnKind::Year if part == DatePart::Year => Ok(Some((column, part))),
        _ => Err(unsupported(expression, "it takes a part of what is no date")),
    }
}

/// The expression inside a date function, and the part that the function takes.
fn taken<'e>(scope: &Scope<'_>, expression: &'e Expr) -> Option<(&'e Expr, DatePart)> {
    match expression {
        Expr::Extract { field, expr, .. } => match field {
            DateTimeField::Year => Some((expr, DatePart::Year)),
            DateTimeField::Month => Some((expr, DatePart::Month)),
            _ => None,
        },
        Expr::Substring { expr, substring_from, substring_for, .. } => {
            let [start, length] =
                [substring_from, substring_for].map(|it| it.as_deref().and_then(number));
            Some((expr, DatePart::of_place(start, length)?))
        }
        call @ Expr::Function(_) => {
            let Call { name, inputs, .. } = Call::of(call)?;
            match (name.as_str(), inputs.as_slice()) {
                ("year", [inner]) => Some((inner, DatePart::Year)),
                ("month", [inner]) => Some((inner, DatePart::Month)),
                ("strftime", [format, inner]) => {
                    Some((inner, DatePart::of_format(&literal(scope, format)?)?))
                }
                ("substr" | "substring", [inner, start, length]) => {
                    Some((inner, DatePart::of_place(number(start), number(length))?))
                }
                _ => None,
            }
        }
        _ => None,
    }
}
