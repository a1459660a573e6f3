//! Compares, orders and aggregates values of tables by their definition.

use std::cmp::Ordering;

use pikerag_knowledge::tables::By;
use pikerag_knowledge::{Aggregate, ColumnKind, DataValue};

pub(super) fn figure(function: Aggregate, values: Vec<DataValue>) -> DataValue {
    let mut values: Vec<DataValue> =
        values.into_iter().filter(|value| *value != DataValue::Empty).collect();
    values.sort_by(order);
    let numbers: Vec<f64> = values.iter().filter_map(number).collect();
    let sum = numbers.iter().sum::<f64>();
    match function {
        Aggregate::Count => DataValue::Integer(values.len().try_into().unwrap()),
        Aggregate::Distinct => {
            values.dedup_by(|a, b| order(a, b).is_eq());
            DataValue::Integer(values.len().try_into().unwrap())
        }
        _ if values.is_empty() => DataValue::Empty,
        Aggregate::Sum => DataValue::Real(sum),
        Aggregate::Mean => DataValue::Real(sum / numbers.len() as f64),
        Aggregate::Median => {
            let middle = numbers.len() / 2;
            DataValue::Real(match numbers.len() % 2 {
                0 => f64::midpoint(numbers[middle - 1], numbers[middle]),
                _ => numbers[middle],
            })
        }
        Aggregate::Least => values.remove(0),
        Aggregate::Greatest => values.pop().unwrap(),
    }
}

/// The days since 1 March of the year 0, with the time as a part of a day; `None` where the value has no day.
pub(super) fn day(date: &DataValue) -> Option<f64> {
    let text = date.to_string();
    let part = |from: usize, to: usize| text.get(from..to)?.parse::<f64>().ok();
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (year, month) = if month < 3.0 { (year - 1.0, month + 9.0) } else { (year, month - 3.0) };
    let leap_days = (year / 4.0).floor() - (year / 100.0).floor() + (year / 400.0).floor();
    let days = 365.0 * year + leap_days + ((153.0 * month + 2.0) / 5.0).floor() + day;
    let time = |at: usize, of: f64| part(at, at + 2).unwrap_or_default() / of;
    Some(days + time(11, 24.0) + time(14, 1_440.0) + time(17, 86_400.0))
}

pub(super) fn number(value: &DataValue) -> Option<f64> {
    match value {
        DataValue::Integer(number) => Some(*number as f64),
        DataValue::Real(number) => Some(*number),
        DataValue::Empty | DataValue::Text(_) => None,
    }
}

pub(super) fn readable(kind: ColumnKind, value: DataValue) -> DataValue {
    let is_text = matches!(value, DataValue::Text(_));
    let is_read = match kind {
        ColumnKind::Date => {
            value.to_string().get(..4).is_some_and(|year| year.parse::<u16>().is_ok())
        }
        kind => !kind.is_numeric() || !is_text,
    };
    if is_read { value } else { DataValue::Empty }
}

/// The value as a column of this kind stores it.
pub(super) fn stored(kind: ColumnKind, value: &DataValue) -> DataValue {
    match (kind, value) {
        (ColumnKind::Year, DataValue::Text(text)) => {
            let year = text.get(..4).and_then(|year| year.parse().ok());
            year.map_or_else(|| value.clone(), DataValue::Integer)
        }
        (kind, DataValue::Integer(_) | DataValue::Real(_)) if !kind.is_numeric() => {
            DataValue::Text(value.to_string())
        }
        _ => value.clone(),
    }
}

/// Dates are compared at the precision of the less precise one.
pub(super) fn compare(kind: ColumnKind, a: &DataValue, b: &DataValue) -> Option<Ordering> {
    if *a == DataValue::Empty || *b == DataValue::Empty {
        return None;
    }
    if kind != ColumnKind::Date {
        return Some(order(a, b));
    }
    let (a, b) = (a.to_string(), b.to_string());
    let length = a.len().min(b.len());
    Some(a[..length].cmp(&b[..length]))
}

pub(super) fn key(by: By, kind: ColumnKind, date: &DataValue) -> DataValue {
    let text = date.to_string();
    let part = |length: usize| {
        text.get(..length).map_or(DataValue::Empty, |part| DataValue::Text(part.to_owned()))
    };
    match by {
        By::Value => date.clone(),
        By::Year if kind == ColumnKind::Year => date.clone(),
        By::Year => part(4),
        By::Month => part(7),
        By::Quarter => match text.get(5..7).and_then(|month| month.parse::<u8>().ok()) {
            Some(month) => DataValue::Text(format!("{}-Q{}", &text[..4], month.div_ceil(3))),
            None => DataValue::Empty,
        },
    }
}

/// Numbers before texts.
pub(super) fn order(a: &DataValue, b: &DataValue) -> Ordering {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (None, None) => a.to_string().cmp(&b.to_string()),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// Missing values come last in both directions.
pub(super) fn ranked(is_descending: bool, a: &DataValue, b: &DataValue) -> Ordering {
    let is_empty = |value: &DataValue| *value == DataValue::Empty;
    let by_value = if is_descending { order(b, a) } else { order(a, b) };
    is_empty(a).cmp(&is_empty(b)).then(by_value)
}
