//! Makes series from the rows of a plan that is grouped by time.

use std::collections::BTreeMap;

use pikerag_knowledge::Reason;
use pikerag_knowledge::data::{Aggregate, ColumnKind, DataTable, DataValue, PlanRows, TablePlan};
use pikerag_knowledge::tables::{Table, TableRow};
use pikerag_language::month_named;
use pikerag_records::series::{
    Covered, MOST_PERIODS, Period, Series, Step, days_of, series, without_partial,
};
use pikerag_tables::{SeriesReading, Target};

use super::super::lead::as_number;
use crate::pike::predict::{no_series, step as to_step};

/// In a series of levels, at most one period of this many may lack a figure.
const MOST_MISSING: usize = 3;

/// The series of a plan; `counted` has the count of rows of each group of `result`.
///
/// # Errors
/// The rows make no series.
pub(super) fn past(
    found: &SeriesReading,
    plan: &TablePlan,
    table: &DataTable,
    (result, counted): (&PlanRows, &PlanRows),
) -> Result<Past, Reason> {
    let is_count = matches!(found.function, Aggregate::Count | Aggregate::Distinct);
    // A sum over no rows is 0 too, a mean is unknown.
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
    let is_of_days = time.is_some_and(|time| time.kind == ColumnKind::Date);
    let days = time.filter(|_| is_of_days).and_then(|time| {
        Some((days_of(time.least.as_deref()?)?.0, days_of(time.greatest.as_deref()?)?.1))
    });
    // The table reaches this far, whatever a series holds, unless the question limits the time.
    let times = plan.group.iter().take(found.n_times).map(|group| &group.column);
    let is_limited = times.into_iter().any(|time| plan.filters.iter().any(|it| it.column == *time));
    let reach =
        days.filter(|_| !is_limited).map(|(_, last)| Period::holding(to_step(found.step), last));
    let (mut all, mut why_not) = (BTreeMap::new(), None);
    for (group, table) in by_group {
        let own = series(&table, has_zeros).map_err(|why| no_series(why, &field))?;
        let own = reaching(Series { is_count, ..own }, reach.filter(|_| has_zeros));
        let missing = own.values.iter().filter(|value| value.is_none()).count();
        if own.values.len() < MOST_MISSING * missing {
            why_not = Some(Reason::SeriesHasGaps { periods: own.values.len(), missing });
            continue;
        }
        let by_period =
            own.points().map(|(period, _)| rows.get(&period).copied().unwrap_or_default());
        let covered = Covered { days, rows: rows.values().sum(), by_period: by_period.collect() };
        all.insert(group, without_partial(own, &covered));
    }
    match (all.is_empty(), why_not) {
        (false, _) => Ok(Past { series: all, reach }),
        (true, Some(why)) => Err(why),
        (true, None) => Err(Reason::NoDates { field }),
    }
}

/// The series of a plan.
pub(super) struct Past {
    /// By the name of the group; the name is empty where there is one series.
    pub(super) series: BTreeMap<String, Series>,
    /// The last period of the table, where it has dates.
    pub(super) reach: Option<Period>,
}

/// Extends a series of sums or counts to a period: the periods after its last row have 0.
fn reaching(mut series: Series, reach: Option<Period>) -> Series {
    while reach.is_some_and(|reach| series.last() < reach) && series.values.len() < MOST_PERIODS {
        series.values.push(Some(0.0));
        series.things.push(Vec::new());
    }
    series
}

/// The figures of a result, each with its period and its group, without rows that have no period or no figure.
fn figures(
    found: &SeriesReading,
    result: &PlanRows,
) -> impl Iterator<Item = (Period, String, f64)> {
    let step = to_step(found.step);
    result.rows.iter().filter_map(move |row| {
        let (value, keys) = row.cells.split_last()?;
        let (times, group) = keys.split_at_checked(found.n_times)?;
        let group = group.first().map(ToString::to_string).unwrap_or_default();
        Some((period(times, step)?, group, as_number(value)?))
    })
}

/// The period of keys: a label, a year, or a year and a part of it.
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

impl Past {
    /// The latest period with any data.
    pub(super) fn latest(&self) -> Option<Period> {
        let known = |series: &Series| series.partial.iter().copied().chain([series.last()]).max();
        self.series.values().filter_map(known).chain(self.reach).max()
    }
}

/// The first and the last period that the question asks for, where `latest` is the last one with any data.
/// `None` where a name is no period.
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
        Target::Next { count, by } => {
            let count = i32::try_from(*count).unwrap_or(i32::MAX);
            let held = Period::holding(to_step(*by), latest.last_day());
            let (first, last) = (held.plus(1).first_day(), held.plus(count).last_day());
            Some((Period::holding(step, first), Period::holding(step, last)))
        }
        Target::MonthOfNextYear(month) => {
            let year = latest.first_day().year() + 1;
            let month = Period::of(&format!("{year}-{month:02}"))?;
            Some((month, month))
        }
    }
}
