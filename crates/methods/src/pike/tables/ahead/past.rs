//! Makes series of the rows of a plan that is grouped by time.

use std::collections::BTreeMap;

use pikerag_knowledge::Reason;
use pikerag_knowledge::data::{Aggregate, DataTable, DataValue, PlanRows, TablePlan};
use pikerag_knowledge::tables::{Table, TableRow};
use pikerag_language::month_named;
use pikerag_records::series::{Covered, Period, Series, Step, days_of, series, without_partial};
use pikerag_tables::{SeriesReading, Target};

use super::super::lead::as_number;
use crate::pike::predict::{no_series, step};

/// Of a series of levels, at most one period in so many may lack a figure.
const MOST_MISSING: usize = 3;

/// The series of a plan, by the name of the group; the name is empty where there is one series. `counted` has the count of rows
/// of each group of `result`.
///
/// # Errors
/// The rows make no series.
pub(super) fn past(
    found: &SeriesReading,
    plan: &TablePlan,
    table: &DataTable,
    (result, counted): (&PlanRows, &PlanRows),
) -> Result<BTreeMap<String, Series>, Reason> {
    let is_count = matches!(found.function, Aggregate::Count | Aggregate::Distinct);
    // A sum of nothing is 0 too, a mean of nothing is not known.
    let has_zeros = is_count || found.function == Aggregate::Sum;
    let measured = plan.measures.first().and_then(|measure| measure.column.as_ref());
    let measured = measured.filter(|_| !is_count).and_then(|column| table.column(&column.column));
    let unit = measured.and_then(|column| column.unit.clone());
    let time = plan.group.first().and_then(|group| table.column(&group.column.column));
    let field = time.map(|time| time.name.clone()).unwrap_or_default();
    let mut by_group: BTreeMap<String, Table> = BTreeMap::new();
    for (period, group, value) in figures(found, result) {
        let row = TableRow {
            key: vec![period.to_string()],
            value,
            unit: unit.clone(),
            things: Vec::new(),
        };
        by_group.entry(group).or_default().rows.push(row);
    }
    let rows: BTreeMap<Period, usize> =
        figures(found, counted).fold(BTreeMap::new(), |mut rows, (period, _, count)| {
            *rows.entry(period).or_default() += count as usize;
            rows
        });
    let days = time.and_then(|time| {
        Some((days_of(time.least.as_deref()?)?.0, days_of(time.greatest.as_deref()?)?.1))
    });
    let mut all = BTreeMap::new();
    for (group, table) in by_group {
        let own = series(&table, has_zeros).map_err(|why| no_series(why, &field))?;
        let missing = own.values.iter().filter(|value| value.is_none()).count();
        if own.values.len() < MOST_MISSING * missing {
            return Err(Reason::SeriesHasGaps { periods: own.values.len(), missing });
        }
        let own = Series { is_count, ..own };
        let by_period =
            own.points().map(|(period, _)| rows.get(&period).copied().unwrap_or_default());
        let covered = days.map(|days| Covered {
            days,
            rows: rows.values().sum(),
            by_period: by_period.collect(),
        });
        all.insert(
            group,
            match covered {
                Some(covered) => without_partial(own, &covered),
                None => own,
            },
        );
    }
    if all.is_empty() {
        return Err(Reason::NoDates { field });
    }
    Ok(all)
}

/// The figures of a result, each with its period and its group; without rows that name no period or have no figure.
fn figures(
    found: &SeriesReading,
    result: &PlanRows,
) -> impl Iterator<Item = (Period, String, f64)> {
    let step = step(found.step);
    result.rows.iter().filter_map(move |row| {
        let (value, keys) = row.cells.split_last()?;
        let (times, group) = keys.split_at_checked(found.n_times)?;
        let group = group.first().map(ToString::to_string).unwrap_or_default();
        Some((period(times, step)?, group, as_number(value)?))
    })
}

/// The period that keys tell: its label, its year, or its year and a part of it.
fn period(times: &[DataValue], step: Step) -> Option<Period> {
    match times {
        [label] => Period::of(&label.to_string()),
        [year, part] => {
            let part = match part {
                DataValue::Text(text) => month_named(text).or_else(|| digits(text))?,
                other => as_number(other).map(|number| number as u32)?,
            };
            Period::of(&match step {
                Step::Quarter => format!("{year}-Q{part}"),
                Step::Month | Step::Year => format!("{year}-{part:02}"),
            })
        }
        _ => None,
    }
}

/// The number within a text: 3 of `Q3`.
fn digits(text: &str) -> Option<u32> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The latest period of which anything is known in any of the series.
pub(super) fn latest<'a>(all: impl Iterator<Item = &'a Series>) -> Option<Period> {
    all.flat_map(|series| series.partial.iter().copied().chain([series.last()])).max()
}

/// The first and the last period that is asked for, where `latest` is the last one of which anything is known. `None` where a name
/// is no period.
pub(super) fn asked(latest: Period, target: &Target) -> Option<(Period, Period)> {
    let step = latest.step;
    match target {
        Target::Named { from, until } => {
            let from = match from {
                Some(from) => Period::holding(step, days_of(from)?.0),
                None => latest.plus(1),
            };
            Some((from, Period::holding(step, days_of(until)?.1)))
        }
        Target::Next(count) => {
            let count = i32::try_from(*count).unwrap_or(i32::MAX);
            Some((latest.plus(1), latest.plus(count)))
        }
        Target::MonthOfNextYear(month) => {
            let year = latest.first_day().year() + 1;
            let month = Period::of(&format!("{year}-{month:02}"))?;
            Some((month, month))
        }
    }
}
