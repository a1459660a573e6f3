//! Turns a table grouped by periods into a series with every period from the first to the last
//! (PIKE-RAG §5.4, knowledge induction).

use std::fmt;

use jiff::ToSpan;
use jiff::civil::Date;
use pikerag_knowledge::tables::{By, Table};
use serde::{Deserialize, Serialize};

/// The most periods of one series, so that one wrong date does not make it endless.
pub const MOST_PERIODS: usize = 2_000;

/// The length of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A calendar year.
    Year,
    /// A calendar quarter.
    Quarter,
    /// A calendar month.
    Month,
}

impl Step {
    /// The grouping of a table into periods of this length.
    pub fn by(self) -> By {
        match self {
            Self::Year => By::Year,
            Self::Quarter => By::Quarter,
            Self::Month => By::Month,
        }
    }

    /// The number of periods in a year.
    pub fn per_year(self) -> usize {
        self.in_a_year().unsigned_abs() as usize
    }

    fn in_a_year(self) -> i32 {
        match self {
            Self::Year => 1,
            Self::Quarter => 4,
            Self::Month => 12,
        }
    }
}

/// A year, quarter or month; shown as `2010`, `2010-Q3`, `2010-07`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Period {
    /// Its length.
    pub step: Step,
    /// Periods of that length since the beginning of the year 0.
    pub index: i32,
}

impl Period {
    /// The period that a label names.
    pub fn of(label: &str) -> Option<Self> {
        let year: i32 = label.get(..4)?.parse().ok()?;
        let rest = label.get(4..)?;
        if rest.is_empty() {
            return Some(Self { step: Step::Year, index: year });
        }
        if let Some(quarter) = rest.strip_prefix("-Q") {
            let quarter: i32 = quarter.parse().ok().filter(|quarter| (1..=4).contains(quarter))?;
            return Some(Self { step: Step::Quarter, index: year * 4 + quarter - 1 });
        }
        let month: i32 = rest.strip_prefix('-')?.parse().ok()?;
        let known = (1..=12).contains(&month);
        known.then_some(Self { step: Step::Month, index: year * 12 + month - 1 })
    }

    /// The period of this length that contains a day.
    pub fn holding(step: Step, day: Date) -> Self {
        let per_year = step.in_a_year();
        let within = (i32::from(day.month()) - 1) * per_year / 12;
        Self { step, index: i32::from(day.year()) * per_year + within }
    }

    /// The period that is `periods` later; earlier if negative.
    #[must_use]
    pub fn plus(self, periods: i32) -> Self {
        Self { index: self.index.saturating_add(periods), ..self }
    }

    /// Its position in the year, from 0.
    pub fn season(self) -> usize {
        self.index.rem_euclid(self.step.in_a_year()) as usize
    }

    /// Its first day; [`Date::MAX`] if its year is beyond the calendar.
    pub fn first_day(self) -> Date {
        let per_year = self.step.in_a_year();
        let year = i16::try_from(self.index.div_euclid(per_year)).unwrap_or(i16::MAX);
        let month = self.index.rem_euclid(per_year) * 12 / per_year + 1;
        let month = i8::try_from(month).unwrap_or(1);
        Date::new(year, month, 1).unwrap_or(Date::MAX)
    }

    /// Its last day.
    pub fn last_day(self) -> Date {
        self.plus(1).first_day().checked_sub(1.day()).unwrap_or(Date::MAX)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let year = self.index.div_euclid(self.step.in_a_year());
        match self.step {
            Step::Year => write!(f, "{year}"),
            Step::Quarter => write!(f, "{year}-Q{}", self.season() + 1),
            Step::Month => write!(f, "{year}-{:02}", self.season() + 1),
        }
    }
}

fn whole(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// A figure for each period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The first period.
    pub first: Period,
    /// By period, in order; `None` if nothing is known. A count is always known, even if it is 0.
    pub values: Vec<Option<f64>>,
    /// The things behind each figure, by their positions in the frame.
    pub things: Vec<Vec<usize>>,
    /// Whether the figures count things: whole numbers, not negative.
    pub is_count: bool,
    /// The unit of the figures; none for counts.
    pub unit: Option<String>,
    /// Periods at the beginning and the end that were left out because the records cover only a part
    /// of them.
    pub partial: Vec<Period>,
}

impl Series {
    /// The last period.
    pub fn last(&self) -> Period {
        self.first.plus(whole(self.values.len()) - 1)
    }

    /// The periods in order, each with its figure.
    pub fn points(&self) -> impl Iterator<Item = (Period, Option<f64>)> {
        self.values.iter().enumerate().map(|(place, value)| (self.first.plus(whole(place)), *value))
    }

    /// The series up to and including a period, as if nothing later were known.
    #[must_use]
    pub fn until(&self, last: Period) -> Self {
        let kept = usize::try_from(last.index - self.first.index + 1).unwrap_or(0);
        let mut cut = self.clone();
        cut.values.truncate(kept);
        cut.things.truncate(kept);
        cut.partial.retain(|period| *period <= last);
        cut
    }
}

/// Why there is no series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSeries {
    /// No group names a period.
    Nothing,
    /// The figures have different units.
    Units,
    /// There are more than [`MOST_PERIODS`] from the first to the last.
    TooLong,
}

/// The series of a table that is grouped by periods alone. If `is_count`, periods without a group have
/// the figure 0, else none.
///
/// # Errors
/// See [`NoSeries`].
pub fn series(table: &Table, is_count: bool) -> Result<Series, NoSeries> {
    let mut found: Vec<(Period, f64, &[usize])> = Vec::new();
    let mut units: Vec<&Option<String>> = Vec::new();
    for row in &table.rows {
        let Some(period) = row.key.first().and_then(|label| Period::of(label)) else { continue };
        if !units.contains(&&row.unit) {
            units.push(&row.unit);
        }
        found.push((period, row.value, &row.things));
    }
    found.sort_by_key(|(period, ..)| *period);
    let (Some((first, ..)), Some((last, ..))) = (found.first(), found.last()) else {
        return Err(NoSeries::Nothing);
    };
    if 1 < units.len() {
        return Err(NoSeries::Units);
    }
    let length = usize::try_from(last.index - first.index + 1).unwrap_or(usize::MAX);
    if MOST_PERIODS < length {
        return Err(NoSeries::TooLong);
    }
    let first = *first;
    let mut values = vec![is_count.then_some(0.0); length];
    let mut things = vec![Vec::new(); length];
    for (period, value, of) in found {
        let at = usize::try_from(period.index - first.index).unwrap_or(usize::MAX);
        if let (Some(held), Some(behind)) = (values.get_mut(at), things.get_mut(at)) {
            *held = Some(value);
            *behind = of.to_vec();
        }
    }
    let unit = units.first().and_then(|unit| (*unit).clone());
    Ok(Series { first, values, things, is_count, unit, partial: Vec::new() })
}

/// How the rows behind a series are spread over its periods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The first and the last day of the rows; `None` if the rows have no days.
    pub days: Option<(Date, Date)>,
    /// The number of rows.
    pub rows: usize,
    /// The number of rows in each period of the series, in order.
    pub by_period: Vec<usize>,
}

/// Periods are regular if their numbers of rows differ by at most this share, as days of months and
/// months of years do.
const ALIKE: f64 = 0.15;
/// A period is short if it has less than this share of the rows of every other period.
const WHOLE: f64 = 0.9;
/// The gap without rows from which a short period counts as partial, in multiples of the usual time
/// between rows.
const GAPS: f64 = 1.5;
/// A gap without rows is not chance if its probability is smaller than this.
const UNLIKELY: f64 = 0.01;

impl Covered {
    /// The coverage by days alone, without the rows of each period. `None` without days.
    pub fn of(days: &[Date]) -> Option<Self> {
        let days_of_rows = (*days.iter().min()?, *days.iter().max()?);
        Some(Self { days: Some(days_of_rows), rows: days.len(), by_period: Vec::new() })
    }

    /// Whether the rows cover only a part of the period `at`, which is the first or the last. `outer`
    /// gives the days from its outer end to the nearest row.
    fn is_partial(&self, outer: impl Fn((Date, Date)) -> f64, at: usize) -> bool {
        let inner = self.by_period.get(1..self.by_period.len().saturating_sub(1));
        let inner = inner.unwrap_or_default();
        let own = self.by_period.get(at).copied().unwrap_or_default() as f64;
        let (least, most) = (inner.iter().min(), inner.iter().max());
        let (least, most) = (*least.unwrap_or(&0) as f64, *most.unwrap_or(&0) as f64);
        let is_regular = 2 <= inner.len() && most - least <= ALIKE * most;
        let is_short = is_regular && own < WHOLE * least;
        let Some(days) = self.days else { return is_short };
        // The rows that are usual in as many days as lack them.
        let usual = self.rows as f64 / days_between(days.0, days.1).max(1.0) * outer(days);
        let mean = inner.iter().sum::<usize>() as f64 / inner.len().max(1) as f64;
        let has_fewer = inner.is_empty() || own < WHOLE * mean;
        // A Poisson process has no row at all with probability e^-usual.
        let is_unlikely = (-usual).exp() < UNLIKELY;
        (is_unlikely && has_fewer) || (GAPS < usual && is_short)
    }
}

fn days_between(from: Date, to: Date) -> f64 {
    f64::from(from.until(to).map_or(0, |span| span.get_days()))
}

/// Leaves out the first and the last period of a series if the rows seem to cover only a part of them.
/// At least two periods stay.
#[must_use]
pub fn without_partial(mut series: Series, covered: &Covered) -> Series {
    let at_end = series.values.len().saturating_sub(1);
    let (first_day, last_day) = (series.first.first_day(), series.last().last_day());
    let is_last_partial = covered.is_partial(|(_, latest)| days_between(latest, last_day), at_end);
    let is_first_partial = covered.is_partial(|(earliest, _)| days_between(first_day, earliest), 0);
    if 2 < series.values.len() && is_last_partial {
        series.partial.push(series.last());
        series.values.pop();
        series.things.pop();
    }
    if 2 < series.values.len() && is_first_partial {
        series.partial.insert(0, series.first);
        series.values.remove(0);
        series.things.remove(0);
        series.first = series.first.plus(1);
    }
    series
}

/// The first and the last day of a date such as `2013`, `2013-Q3`, `2013-07`, `2013-07-05` or
/// `2013-07-05 14:30`.
pub fn days_of(date: &str) -> Option<(Date, Date)> {
    if let Some(day) = date.get(..DAY).and_then(day) {
        return Some((day, day));
    }
    let period = Period::of(date)?;
    Some((period.first_day(), period.last_day()))
}

/// Bytes of a date that is precise to the day.
const DAY: usize = 10;

/// The day of a date that is precise to the day; else `None`.
pub fn day(iso: &str) -> Option<Date> {
    iso.parse().ok()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use pikerag_knowledge::tables::TableRow;
    use proptest::prelude::*;

    use super::*;

    fn table(rows: &[(&str, f64)]) -> Table {
        let row = |(place, (key, value)): (usize, &(&str, f64))| TableRow {
            key: vec![(*key).to_owned()],
            value: *value,
            unit: None,
            things: vec![place],
        };
        Table { rows: rows.iter().enumerate().map(row).collect(), ..Table::default() }
    }

    #[test]
    fn gaps_become_periods() {
        let quarters = table(&[("2010-Q4", 3.0), ("2011-Q2", 1.0), ("", 9.0)]);
        let counted = series(&quarters, true).unwrap();
        let shown: Vec<String> =
            counted.points().map(|(period, value)| format!("{period}: {value:?}")).collect();
        assert_eq!(shown, ["2010-Q4: Some(3.0)", "2011-Q1: Some(0.0)", "2011-Q2: Some(1.0)"]);
        assert_eq!(series(&quarters, false).unwrap().values, [Some(3.0), None, Some(1.0)]);
        assert_eq!(counted.until(Period::of("2011-Q1").unwrap()).values.len(), 2);
        assert_eq!(series(&table(&[("", 1.0)]), true), Err(NoSeries::Nothing));
        assert_eq!(series(&table(&[("0001", 1.0), ("9999", 1.0)]), true), Err(NoSeries::TooLong));
    }

    #[test]
    fn an_unfinished_year_is_left_out() {
        let years = series(&table(&[("2010", 12.0), ("2011", 12.0), ("2012", 5.0)]), true).unwrap();
        let monthly = |until: i8| {
            let before = (0..24).map(|n| date(2010 + n / 12, (n % 12 + 1) as i8, 15));
            before.chain((1..=until).map(|month| date(2012, month, 15))).collect::<Vec<_>>()
        };
        let without = |days: &[Date]| without_partial(years.clone(), &Covered::of(days).unwrap());
        let cut = without(&monthly(5));
        assert_eq!(cut.partial, [Period::of("2012").unwrap()]);
        assert_eq!(cut.values.len(), 2);
        assert_eq!(without(&monthly(11)).partial, []);
    }

    #[test]
    fn a_period_with_fewer_rows_than_every_other_is_left_out() {
        let years = table(&[("2010", 1.0), ("2011", 1.0), ("2012", 1.0), ("2013", 1.0)]);
        let years = series(&years, false).unwrap();
        let partial = |last: Date, months: usize| {
            let covered = Covered {
                days: Some((date(2010, 1, 1), last)),
                rows: 36 + months,
                by_period: vec![12, 12, 12, months],
            };
            without_partial(years.clone(), &covered).partial
        };
        assert_eq!(partial(date(2013, 9, 1), 9), [Period::of("2013").unwrap()]);
        // The last row covers all of December.
        assert_eq!(partial(date(2013, 12, 1), 12), []);
        // Many rows on the first day of each month: the last month is whole.
        let months: Vec<String> = (1..=12).map(|month| format!("2010-{month:02}")).collect();
        let months: Vec<(&str, f64)> = months.iter().map(|month| (month.as_str(), 1.0)).collect();
        let covered = Covered {
            days: Some((date(2010, 1, 1), date(2010, 12, 1))),
            rows: 108,
            by_period: vec![9; 12],
        };
        assert_eq!(without_partial(series(&table(&months), true).unwrap(), &covered).partial, []);
        // Without days, a period with as many rows as the others is whole.
        let covered = |last| Covered { days: None, rows: 45, by_period: vec![12, 12, 12, last] };
        assert_eq!(without_partial(years.clone(), &covered(9)).partial.len(), 1);
        assert_eq!(without_partial(years, &covered(12)).partial, []);
    }

    proptest! {
        #[test]
        fn labels_round_trip_and_periods_contain_their_days(
            year in 1..3000_i16, month in 1..13_i8, day in 1..29_i8,
            step in prop::sample::select(vec![Step::Year, Step::Quarter, Step::Month]),
        ) {
            let of = date(year, month, day);
            let period = Period::holding(step, of);
            let label = format!("{period:0>4}");
            if 1000 <= year {
                prop_assert_eq!(Period::of(&label), Some(period));
            }
            prop_assert!(period.first_day() <= of && of <= period.last_day());
            prop_assert_eq!(Period::holding(step, period.last_day()), period);
        }

        #[test]
        fn no_label_panics(label in "\\PC{0,12}") {
            let _ = Period::of(&label);
            let _ = day(&label);
        }
    }
}
