//! Filters rows by comparisons of values with numbers.

use std::ops::Range;

use pikerag_knowledge::data::{ColumnKind, DataValue, TableTest};

use super::{Composer, Filter};
use crate::catalog::stored_value;
use crate::cues::{Bound, BoundTest};
use crate::lexicon::meanings;
use crate::link::ColumnMention;
use crate::scope::ColumnPlace;
use crate::units::unit_of;

/// The greatest distance between a number and the name of its column; see [`distance`].
const MOST_DISTANCE: usize = 16;

/// A number above this multiple of the greatest value is in another unit.
const MOST_ABOVE: f64 = 20.0;

/// Units of time. A number in one of them is not a number in another.
pub(super) const TIMES: [&str; 5] = ["s", "min", "h", "d", "week"];

impl Composer<'_> {
    /// Filters by all bounds; one without a column stays unplaced.
    pub(super) fn filter_by_bounds(&mut self) {
        for bound in &self.cues.bounds {
            if self.day_bounds.contains(&bound.span) {
                continue;
            }
            if let Some((place, value)) = self.value_of_bound(bound) {
                let test = TableTest::Is(vec![stored_value(self.scope.kind(place), &value)]);
                let (span, value) = (bound.span.clone(), Some(value));
                self.filters.push(Filter { place, test, span, value, is_exact: true });
                continue;
            }
            if self.row_bound.is_none() && self.bounds_rows(bound) {
                self.row_bound = Some(bound.clone());
                continue;
            }
            let place = self.column_of_bound(bound).filter(|place| self.has_unit_of(*place, bound));
            let scaled = place.and_then(|place| Some((place, self.scaled(place, bound)?)));
            let Some((place, number)) = scaled else {
                self.n_unplaced += 1;
                continue;
            };
            let is_whole = matches!(self.scope.kind(place), ColumnKind::Integer | ColumnKind::Year);
            let value = match number.fract() == 0.0 && is_whole {
                true => DataValue::Integer(number as i64),
                false => DataValue::Real(number),
            };
            let test = test_of(bound.test, value);
            let span = bound.span.clone();
            self.filters.push(Filter { place, test, span, value: None, is_exact: true });
        }
    }

    /// The only value that the question writes as a number: `25岁以下` of an age group.
    fn value_of_bound(&self, bound: &Bound) -> Option<(ColumnPlace, String)> {
        let narrow = |text: &str| -> String {
            text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
        };
        let digits = |text: &str| -> String {
            text.chars().filter(|c| c.is_ascii_digit() || matches!(c, '-' | '.')).collect()
        };
        let words = narrow(self.cues.text_of(bound.span.clone()));
        let text = narrow(&self.cues.text);
        let is_meant = |value: &&String| {
            let value = narrow(value);
            text.contains(&value)
                && (value.contains(&words) || words.contains(&value))
                && digits(&value) == digits(&words)
                && value.chars().any(|c| !c.is_ascii_digit())
        };
        let mut found = self
            .scope
            .columns()
            .filter(|(place, column, _)| place.table == 0 && column.kind == ColumnKind::Category);
        let (place, value) = found.find_map(|(place, _, view)| {
            let longest = view.values.iter().filter(is_meant).max_by_key(|value| value.len());
            Some((place, longest?.clone()))
        })?;
        Some((place, value))
    }

    /// The number in the unit of the column: 10 000 for `10,000 billion` in a column of billions.
    fn scaled(&self, place: ColumnPlace, bound: &Bound) -> Option<f64> {
        let Some((_, greatest)) = self.scope.range(place) else { return Some(bound.number) };
        let fits = |number: &f64| number.abs() <= greatest.abs() * MOST_ABOVE;
        [bound.number, bound.bare].into_iter().find(fits)
    }

    /// The column of a bound: the nearest named one, else one with its unit, else the only measure.
    fn column_of_bound(&mut self, bound: &Bound) -> Option<ColumnPlace> {
        let fits =
            |place: &ColumnPlace| self.scope.is_number(*place) && self.is_in_range(*place, bound);
        let near = self
            .unclaimed
            .iter()
            .enumerate()
            .filter(|(_, mention)| mention.columns.iter().any(fits))
            .map(|(at, mention)| (distance(&mention.span, &bound.span), at))
            .min();
        if let Some((_, at)) = near.filter(|(distance, _)| *distance <= MOST_DISTANCE) {
            let mention = self.unclaimed.get(at)?;
            let fitting = ColumnMention {
                columns: mention.columns.iter().copied().filter(fits).collect(),
                ..mention.clone()
            };
            let is_clear = mention.columns.len() == 1 || mention.is_whole();
            let place = self.choose(&fitting, None)?;
            self.mark(fitting.span);
            if is_clear {
                self.unclaimed.remove(at);
            }
            return Some(place);
        }
        let only = || self.scope.only_measure().filter(|_| !self.is_of_an_age(bound));
        self.column_of_unit(bound).or_else(only)
    }

    /// Whether a bound without a name is an age: `are under 18`, 18岁以下.
    fn is_of_an_age(&self, bound: &Bound) -> bool {
        const BEFORE: [&str; 6] = ["are", "is", "were", "was", "aged", "people"];
        let span = &bound.span;
        let before = span.start.checked_sub(1).map(|at| self.cues.folded(at)).unwrap_or_default();
        let has_years =
            (span.start..span.end + 2).any(|at| ["岁", "years"].contains(&self.cues.folded(at)));
        let is_side =
            ["under", "over", "below", "above", "between"].contains(&self.cues.folded(span.start));
        has_years || (is_side && BEFORE.contains(&before))
    }

    /// Whether the unit after a number, if any, fits a column: `3 days` is no number of hours.
    fn has_unit_of(&self, place: ColumnPlace, bound: &Bound) -> bool {
        let own = self.scope.column(place).and_then(|column| column.unit.as_deref());
        let own = own.and_then(|unit| unit_of(&unit.to_lowercase()));
        let behind = unit_of(self.cues.folded(bound.span.end));
        match (own, behind) {
            (Some(own), Some(behind)) if TIMES.contains(&own) && TIMES.contains(&behind) => {
                own == behind
            }
            _ => true,
        }
    }

    /// Whether a number is in the range of a column, or outside by at most the width of the range.
    fn is_in_range(&self, place: ColumnPlace, bound: &Bound) -> bool {
        let Some((least, greatest)) = self.scope.range(place) else { return true };
        let width = (greatest - least).abs().max(1.0);
        let range = least - width..=greatest + width;
        range.contains(&bound.number) || range.contains(&bound.bare)
    }

    /// The first column with the unit after a number.
    fn column_of_unit(&self, bound: &Bound) -> Option<ColumnPlace> {
        let is_same = |word: &str, unit: &str| {
            word == unit
                || meanings(word).iter().any(|meaning| meanings(unit).contains(meaning))
                || unit_of(word).is_some_and(|own| unit_of(unit) == Some(own))
        };
        let mut columns = self.scope.columns();
        let (place, ..) = columns.find(|(_, column, _)| {
            let unit = column.unit.as_deref().map(str::to_lowercase);
            unit.is_some_and(|unit| {
                (bound.span.start..bound.span.end + 2)
                    .map(|at| self.cues.folded(at))
                    .any(|word| !word.is_empty() && is_same(word, &unit))
            })
        })?;
        Some(place)
    }
}

fn test_of(test: BoundTest, value: DataValue) -> TableTest {
    let (from, to, included) = match test {
        BoundTest::Equal => return TableTest::Is(vec![value]),
        BoundTest::Above => (Some(value), None, false),
        BoundTest::AtLeast => (Some(value), None, true),
        BoundTest::Below => (None, Some(value), false),
        BoundTest::AtMost => (None, Some(value), true),
    };
    let (from_included, to_included) = (from.is_some() && included, to.is_some() && included);
    TableTest::Between { from, from_included, to, to_included }
}

/// Twice the number of pieces between a name and a number. A name before the number is 1 farther than a name after it.
fn distance(name: &Range<usize>, number: &Range<usize>) -> usize {
    match number.start <= name.start {
        true => 2 * name.start.saturating_sub(number.end),
        false => 2 * number.start.saturating_sub(name.end) + 1,
    }
}
