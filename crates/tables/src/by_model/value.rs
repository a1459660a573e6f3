//! Converts the values of a filter to the form that the column stores.

use pikerag_knowledge::data::{ColumnKind, DataColumn, DataValue, TableTest};
use pikerag_language::fold::fold;

use super::fault::PlanFault;
use super::names::Column;
use crate::catalog::stored_value;
use crate::pieces::pieces;

/// The most values in a fault.
const NEAR: usize = 8;

/// The test for a column's values.
pub(super) fn test(
    column: &Column<'_>,
    is: &str,
    values: &[String],
) -> Result<TableTest, PlanFault> {
    let first = || values.first().map(String::as_str).unwrap_or_default();
    let between = |from: Option<DataValue>, to: Option<DataValue>, included: bool| {
        let (from_included, to_included) = (from.is_some() && included, to.is_some() && included);
        TableTest::Between { from, from_included, to, to_included }
    };
    Ok(match is {
        "=" => equal(column, values)?,
        "!=" => match equal(column, values)? {
            TableTest::Is(values) => TableTest::IsNot(values),
            _ => return Err(wrong(column, first())),
        },
        ">" => between(Some(end(column, first())?), None, false),
        ">=" => between(Some(end(column, first())?), None, true),
        "<" => between(None, Some(end(column, first())?), false),
        "<=" => between(None, Some(end(column, first())?), true),
        "contains" if !column.data.kind.is_numeric() && !first().is_empty() => {
            TableTest::Contains(first().to_owned())
        }
        "empty" => TableTest::IsEmpty,
        "filled" => TableTest::IsFilled,
        _ => return Err(wrong(column, first())),
    })
}

/// Tests for one of these values. A part of a date is a period.
fn equal(column: &Column<'_>, values: &[String]) -> Result<TableTest, PlanFault> {
    match (column.data.kind, values) {
        (_, []) => Err(wrong(column, "")),
        (ColumnKind::Date, [period]) => {
            let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            let is_quarter = |part: &str| matches!(part, "Q1" | "Q2" | "Q3" | "Q4");
            let is_period = matches!(period.len(), 4 | 7 | 10)
                && period.split('-').all(|part| is_number(part) || is_quarter(part));
            match is_period {
                true => Ok(TableTest::Within(period.clone())),
                false => Err(wrong(column, period)),
            }
        }
        (ColumnKind::Date, [first, ..]) => Err(wrong(column, first)),
        _ => {
            let values = values.iter().map(|value| one(column, value));
            Ok(TableTest::Is(values.collect::<Result<_, _>>()?))
        }
    }
}

/// Finds a stored value. If a column has more values than are known, any text is allowed.
fn one(column: &Column<'_>, value: &str) -> Result<DataValue, PlanFault> {
    let data = column.data;
    if data.kind.is_numeric() {
        return number(column, value);
    }
    let known = column.table.view.values(column.place);
    let wanted = fold(value);
    if let Some(found) = known.iter().find(|it| *it == value) {
        return Ok(DataValue::Text(found.clone()));
    }
    if let Some(found) = known.iter().find(|it| fold(it) == wanted) {
        return Ok(DataValue::Text(found.clone()));
    }
    if (known.len() as u64) < data.distinct {
        return Ok(DataValue::Text(value.to_owned()));
    }
    let words: Vec<String> = pieces(value).into_iter().map(|piece| piece.stem).collect();
    let shares = |it: &&String| pieces(it).iter().any(|piece| words.contains(&piece.stem));
    let alike: Vec<String> = known.iter().filter(shares).take(NEAR).cloned().collect();
    let near = if alike.is_empty() { known.iter().take(NEAR).cloned().collect() } else { alike };
    Err(PlanFault::NoValue { column: data.sql.clone(), value: value.to_owned(), near })
}

/// A number as the column stores it; yes and no are 1 and 0.
fn number(column: &Column<'_>, value: &str) -> Result<DataValue, PlanFault> {
    let bare: String = value.chars().filter(|c| !matches!(c, ',' | '_' | ' ')).collect();
    let kind = column.data.kind;
    let truth = match fold(value).as_str() {
        "yes" | "true" | "y" | "是" => Some(1),
        "no" | "false" | "n" | "否" => Some(0),
        _ => None,
    };
    match stored_value(kind, &bare) {
        _ if kind == ColumnKind::Boolean => {
            let written = bare.parse().ok().filter(|it| matches!(it, 0 | 1));
            truth.or(written).map(DataValue::Integer).ok_or_else(|| wrong(column, value))
        }
        DataValue::Text(_) | DataValue::Empty => Err(wrong(column, value)),
        DataValue::Real(real) if !real.is_finite() => Err(wrong(column, value)),
        number => Ok(number),
    }
}

/// One end of a range: a number, a date of any precision, or a time of day.
fn end(column: &Column<'_>, value: &str) -> Result<DataValue, PlanFault> {
    match column.data.kind {
        ColumnKind::Date if value.starts_with(|c: char| c.is_ascii_digit()) => {
            Ok(DataValue::Text(value.to_owned()))
        }
        // The year of a full date.
        ColumnKind::Year => number(column, value.get(..4).unwrap_or(value)),
        kind if kind.is_numeric() => number(column, value),
        _ if is_time(value) && column.data.samples.iter().all(|sample| is_time(sample)) => {
            Ok(DataValue::Text(value.to_owned()))
        }
        _ => Err(wrong(column, value)),
    }
}

/// Whether a text is a time of day such as `08:30` or `20:00:00`. With two digits each, times sort as texts.
fn is_time(text: &str) -> bool {
    let is_part = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(text.len(), 5 | 8) && text.split(':').all(is_part)
}

fn wrong(column: &Column<'_>, value: &str) -> PlanFault {
    let DataColumn { sql, kind, .. } = column.data;
    PlanFault::WrongValue { column: sql.clone(), value: value.to_owned(), kind: kind.as_str() }
}

/// The months of any year that fulfil a comparison; `values` are written months, `7` or `07`.
pub(super) fn months(
    column: &Column<'_>,
    is: &str,
    values: &[String],
) -> Result<TableTest, PlanFault> {
    let read = |value: &String| -> Result<u8, PlanFault> {
        let month = value.parse().ok().filter(|month| (1..=12).contains(month));
        month.ok_or_else(|| wrong(column, value))
    };
    let values = values.iter().map(read).collect::<Result<Vec<u8>, _>>()?;
    let holds = |month: &u8| match is {
        ">" => values.iter().all(|value| month > value),
        ">=" => values.iter().all(|value| month >= value),
        "<" => values.iter().all(|value| month < value),
        "<=" => values.iter().all(|value| month <= value),
        "!=" => !values.contains(month),
        _ => values.contains(month),
    };
    Ok(TableTest::InMonths((1..=12).filter(holds).collect()))
}
