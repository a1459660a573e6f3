//! Filters rows by the periods that a question names.

use pikerag_knowledge::data::{ColumnKind, DataValue, TableTest};

use super::{Composer, Filter};
use crate::cues::Period;
use crate::pieces::pieces;
use crate::scope::ColumnPlace;
use pikerag_typing::{Grain, period_named};

/// The months of a quarter.
const MONTHS_OF_QUARTER: u32 = 3;

impl Composer<'_> {
    /// Filters by all periods that the question names.
    pub(super) fn filter_by_periods(&mut self) {
        // The years of quarters and months in separate columns. They stay together only with at most one year.
        let mut years: Vec<(ColumnPlace, TableTest)> = Vec::new();
        for period in &self.cues.periods {
            let is_column = self.links.columns.iter().any(|it| it.span == period.span)
                || self.is_in_a_name(period);
            if is_column {
                self.mark(period.span.clone());
                continue;
            }
            let tests = self.tests_of(period);
            let is_topic = period.span.clone().all(|at| self.links.topic.contains(&at));
            if tests.is_empty() && !is_topic {
                self.n_unplaced += 1;
            }
            if let [year, _] = tests.as_slice() {
                years.push(year.clone());
            }
            if let Some((words, place)) = self.event_near(&period.span)
                && tests.iter().any(|(filtered, _)| *filtered == place)
            {
                self.claim_event(&words, place);
            }
            for (place, test) in tests {
                let span = period.span.clone();
                self.filters.push(Filter { place, test, span, value: None, is_exact: true });
            }
        }
        self.has_period_gap = years.windows(2).any(|pair| pair.first() != pair.last());
        self.merge_periods();
        self.filter_by_parts_of_years();
    }

    /// The date column to which months of any year belong.
    pub(super) fn date_of_months(&self) -> Option<ColumnPlace> {
        let is_date = |place: &ColumnPlace| self.scope.kind(*place) == ColumnKind::Date;
        let named = self.event_near(&(0..0)).map(|(_, place)| place).or_else(|| self.named_time());
        named.filter(is_date).or_else(|| self.scope.first_of_kind(ColumnKind::Date))
    }

    /// Whether the period belongs to the name of a column in the question: `Population 2021`.
    fn is_in_a_name(&self, period: &Period) -> bool {
        let Some(wanted) = period.from.as_deref().filter(|_| period.from == period.to) else {
            return false;
        };
        let has_it = |place: &ColumnPlace| {
            self.scope.column(*place).is_some_and(|column| {
                pieces(&column.name).iter().any(|piece| piece.folded == wanted)
            })
        };
        self.links.columns.iter().any(|mention| {
            let mut spans = mention.further_spans.iter().chain([&mention.span]);
            spans.any(|span| span.start <= period.span.start && period.span.end <= span.end)
                && mention.columns.iter().all(has_it)
        })
    }

    /// Merges periods of one column that the question names one by one.
    fn merge_periods(&mut self) {
        let mut merged: Vec<Filter> = Vec::new();
        for filter in std::mem::take(&mut self.filters) {
            let is_earlier =
                |earlier: &&mut Filter| earlier.place == filter.place && earlier.value.is_none();
            let earlier = merged.iter_mut().find(is_earlier).filter(|_| filter.value.is_none());
            match earlier {
                Some(earlier) => self.has_period_gap |= !merge(&mut earlier.test, filter.test),
                None => merged.push(filter),
            }
        }
        self.filters = merged;
    }

    /// The tests for a row within a period; empty if no column can decide that.
    pub(super) fn tests_of(&self, period: &Period) -> Vec<(ColumnPlace, TableTest)> {
        let event = self.event_near(&period.span).map(|(_, place)| place);
        let named = event.or_else(|| self.named_time());
        let date = named.filter(|place| self.scope.kind(*place) == ColumnKind::Date);
        let first = || self.scope.first_of_kind(ColumnKind::Date).filter(|_| named.is_none());
        if let Some(place) = date.or_else(first) {
            return vec![(place, date_test(period))];
        }
        let Some(year) = named.or_else(|| self.scope.first_of_kind(ColumnKind::Year)) else {
            return self.month_tests(period);
        };
        let mut tests = vec![(year, year_test(period))];
        if !period.is_of_years() {
            let part =
                self.quarter_tests(period).into_iter().chain(self.month_tests(period)).next();
            let Some(part) = part else { return Vec::new() };
            tests.push(part);
        }
        tests
    }

    /// The time column that the question names, if the table has several: `built` of `Year Built`.
    fn named_time(&self) -> Option<ColumnPlace> {
        let is_time = |place: ColumnPlace| place.table == 0 && self.scope.kind(place).is_time();
        let n_times = self.scope.columns().filter(|(place, ..)| is_time(*place)).count();
        if n_times < 2 {
            return None;
        }
        self.links.only_column(is_time)
    }

    /// The tests for the quarters of a period within one year.
    fn quarter_tests(&self, period: &Period) -> Vec<(ColumnPlace, TableTest)> {
        let is_quarter = period.from.as_deref().is_some_and(|from| from.contains('Q'));
        let months = months_of(period);
        let (Some(place), true) = (self.scope.first_meaning("quarter"), is_quarter) else {
            return Vec::new();
        };
        let quarters: Vec<DataValue> = (1..=4)
            .filter(|quarter| months.contains(&(quarter * MONTHS_OF_QUARTER)))
            .map(|quarter| DataValue::Integer(i64::from(quarter)))
            .collect();
        if quarters.is_empty() { Vec::new() } else { vec![(place, TableTest::Is(quarters))] }
    }

    /// The tests for the months of a period within one year, by a column that names them.
    fn month_tests(&self, period: &Period) -> Vec<(ColumnPlace, TableTest)> {
        let months = months_of(period);
        let is_asked = |value: &&String| {
            let named = period_named(value).filter(|period| period.grain == Grain::Month);
            named.is_some_and(|period| months.contains(&u32::from(period.number)))
        };
        for (place, _, view) in self.scope.columns() {
            let named: Vec<DataValue> =
                view.values.iter().filter(is_asked).cloned().map(DataValue::Text).collect();
            if !months.is_empty() && named.len() == months.len() {
                return vec![(place, TableTest::Is(named))];
            }
        }
        let months: Vec<DataValue> =
            months.into_iter().map(|month| DataValue::Integer(i64::from(month))).collect();
        match self.column_of_months().filter(|_| !months.is_empty()) {
            Some(place) => vec![(place, TableTest::Is(months))],
            None => Vec::new(),
        }
    }

    /// The column of the first table that holds months by their numbers.
    fn column_of_months(&self) -> Option<ColumnPlace> {
        const MONTHS: std::ops::RangeInclusive<f64> = 1.0..=12.0;
        let is_month = |place: &ColumnPlace| {
            let range = self.scope.range(*place);
            place.table == 0
                && self.scope.kind(*place) == ColumnKind::Integer
                && self.scope.n_words(*place) == 1
                && self.scope.has_meaning(*place, "month")
                && range.is_some_and(|(from, to)| MONTHS.contains(&from) && MONTHS.contains(&to))
        };
        self.scope.columns().map(|(place, ..)| place).find(is_month)
    }
}

/// Extends a test to a further period. Returns false if one test cannot cover both periods without others between them.
fn merge(earlier: &mut TableTest, later: TableTest) -> bool {
    match (&mut *earlier, later) {
        (TableTest::Is(held), TableTest::Is(values)) => {
            for value in values {
                if !held.contains(&value) {
                    held.push(value);
                }
            }
            true
        }
        (TableTest::Within(first), TableTest::Within(second)) => {
            let (from, to) =
                if second < *first { (second, first.clone()) } else { (first.clone(), second) };
            let is_gapless = from == to || next_period(&from).as_deref() == Some(&to);
            if from != to {
                *earlier = closed_test(from, to);
            }
            is_gapless
        }
        // `Since 2013, 2013 included`.
        (
            TableTest::Between { from: Some(DataValue::Text(from)), to: None, .. },
            TableTest::Within(again),
        ) => *from == again,
        (TableTest::Between { to: Some(DataValue::Text(last)), .. }, TableTest::Within(next)) => {
            let is_gapless = next_period(last).as_deref() == Some(&next);
            if is_gapless {
                *last = next;
            }
            is_gapless
        }
        _ => false,
    }
}

/// The period of the same length right after one: `2014-01` after `2013-12`.
fn next_period(period: &str) -> Option<String> {
    let (year, rest) = match period.split_once('-') {
        Some((year, rest)) => (year, Some(rest)),
        None => (period, None),
    };
    let year: u32 = year.parse().ok()?;
    let Some(rest) = rest else { return Some(format!("{}", year + 1)) };
    if let Some(quarter) = rest.strip_prefix('Q') {
        let quarter: u32 = quarter.parse().ok()?;
        return Some(match quarter < 4 {
            true => format!("{year}-Q{}", quarter + 1),
            false => format!("{}-Q1", year + 1),
        });
    }
    let (month, day) = match rest.split_once('-') {
        Some((month, day)) => (month, Some(day)),
        None => (rest, None),
    };
    let month: u32 = month.parse().ok()?;
    let next_month = match month < 12 {
        true => format!("{year}-{:02}", month + 1),
        false => format!("{}-01", year + 1),
    };
    let Some(day) = day else { return Some(next_month) };
    let day: u32 = day.parse().ok()?;
    Some(match day < days_of(year, month) {
        true => format!("{year}-{month:02}-{:02}", day + 1),
        false => format!("{next_month}-01"),
    })
}

fn days_of(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn closed_test(from: String, to: String) -> TableTest {
    TableTest::Between {
        from: Some(DataValue::Text(from)),
        from_included: true,
        to: Some(DataValue::Text(to)),
        to_included: true,
    }
}

fn date_test(period: &Period) -> TableTest {
    match (&period.from, &period.to) {
        (Some(from), Some(to)) if from == to => TableTest::Within(from.clone()),
        (from, to) => TableTest::Between {
            from: from.clone().map(DataValue::Text),
            from_included: period.from_included,
            to: to.clone().map(DataValue::Text),
            to_included: period.to_included,
        },
    }
}

fn year_test(period: &Period) -> TableTest {
    let year = |day: &Option<String>| -> Option<i64> { day.as_deref()?.get(..4)?.parse().ok() };
    match (year(&period.from), year(&period.to)) {
        (Some(from), Some(to)) if from == to => TableTest::Is(vec![DataValue::Integer(from)]),
        (from, to) => TableTest::Between {
            from: from.map(DataValue::Integer),
            from_included: period.from_included,
            to: to.map(DataValue::Integer),
            to_included: period.to_included,
        },
    }
}

/// The months of a period within one year, from 1; empty if the period is open, longer, or made of days.
fn months_of(period: &Period) -> Vec<u32> {
    let (Some(from), Some(to)) = (&period.from, &period.to) else { return Vec::new() };
    let (Some((year, first)), Some((last_year, last))) = (from.split_once('-'), to.split_once('-'))
    else {
        return Vec::new();
    };
    let months = |grain: &str| -> Option<(u32, u32)> {
        match grain.strip_prefix('Q') {
            Some(quarter) => {
                let last = quarter.parse::<u32>().ok()?.checked_mul(MONTHS_OF_QUARTER)?;
                Some((last.saturating_sub(2), last))
            }
            None => grain.parse().ok().map(|month| (month, month)),
        }
    };
    match (months(first), months(last)) {
        (Some((first, _)), Some((_, last))) if year == last_year && last <= 12 => {
            (first..=last).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_periods_cross_years_and_leap_days() {
        for (period, next) in [
            ("2013", "2014"),
            ("2013-Q4", "2014-Q1"),
            ("2013-12", "2014-01"),
            ("2012-02-28", "2012-02-29"),
            ("1900-02-28", "1900-03-01"),
            ("2013-12-31", "2014-01-01"),
        ] {
            assert_eq!(next_period(period).as_deref(), Some(next));
        }
    }

    #[test]
    fn periods_with_a_gap_do_not_merge() {
        let within = |period: &str| TableTest::Within(period.to_owned());
        let mut test = within("2013-01");
        assert!(merge(&mut test, within("2013-02")));
        assert!(merge(&mut test, within("2013-03")));
        assert_eq!(test, closed_test("2013-01".into(), "2013-03".into()));
        assert!(!merge(&mut test, within("2013-05")));
        assert!(!merge(&mut within("2013-01"), within("2013-03")));
    }
}
