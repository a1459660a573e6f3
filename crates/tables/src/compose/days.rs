//! Composes the days between two dates of a row: `days from order to delivery`, 从下单到交货用了多少天.

use std::ops::Range;

use pikerag_knowledge::data::{
    Aggregate, Arithmetic, NumberRange, TableMeasure, TablePlan, TableTerm, TableTest,
};
use pikerag_language::pattern;

use super::{Composed, Composer, Filter};
use crate::cues::{Bound, BoundTest, Goal};
use crate::reading::{Computation, Form};
use crate::scope::ColumnPlace;
use crate::units::unit_of;

pattern!(DAYS, r"\bdays?\b|\bhow long\b|天|多久|多长时间");
pattern!(BEGIN, r"\b(?:between|from)\b|从|自");
pattern!(JOIN, r"\b(?:and|to|until|till)\b|[到至与和]");

/// Two columns of dates, the earlier first.
#[derive(Clone, Copy, Debug)]
pub(super) struct DayPair {
    first: ColumnPlace,
    second: ColumnPlace,
}

impl Composer<'_> {
    /// Finds the two dates whose distance the question speaks of, and takes a bound on it as a filter.
    pub(super) fn filter_by_days_between(&mut self) {
        let Some(pair) = self.take_day_pair() else { return };
        self.day_pair = Some(pair);
        let is_of_days = |bound: &&Bound| unit_of(self.cues.folded(bound.span.end)) == Some("d");
        let bounds: Vec<Bound> = self.cues.bounds.iter().filter(is_of_days).cloned().collect();
        for bound in bounds {
            let range = range(&bound);
            let test = TableTest::Combined { with: self.term(pair), range };
            self.mark_only(bound.span.end..bound.span.end + 1);
            let span = bound.span.clone();
            self.filters.push(Filter {
                place: pair.second,
                test,
                span: span.clone(),
                value: None,
                is_exact: true,
            });
            self.day_bounds.push(span);
        }
    }

    /// The days between two dates: of a row that is named, their mean, or the thing with the most or the fewest. `None` where
    /// they are a condition, or the question names no pair.
    pub(super) fn days_between(&mut self) -> Option<Composed> {
        let pair = self.day_pair.filter(|_| self.day_bounds.is_empty())?;
        let is_one_row = self.filters.iter().any(|filter| {
            matches!(filter.test, TableTest::Is(_)) && self.scope.is_unique(filter.place)
        });
        let function = match (self.cues.extremes.as_slice(), self.named_aggregate()) {
            ([], Some(function)) => function,
            // Of one row each function gives its days.
            ([], None) if is_one_row => Aggregate::Mean,
            ([extreme], None) if !extreme.is_comparative => {
                let function = match extreme.direction.is_descending() {
                    true => Aggregate::Greatest,
                    false => Aggregate::Least,
                };
                let (direction, measure) = (extreme.direction, self.days(pair, function));
                let limit = self.cues.limit.unwrap_or(1);
                self.mark_only(extreme.span.clone());
                // The order of `which order` is no date of an order.
                let asked = self.take_asked_column().filter(|place| !self.is_date(*place));
                let thing = asked.or_else(|| self.scope.name_column())?;
                let plan = TablePlan { measures: vec![measure], ..self.plan() };
                let plan = Self::ranked(self.grouped(plan, thing), direction, limit);
                return Some((Computation::One(plan), Form::Things));
            }
            _ => {
                self.n_unplaced += 1;
                return None;
            }
        };
        if !matches!(
            self.cues.goal,
            Goal::Mean | Goal::Median | Goal::Sum | Goal::Count | Goal::Value | Goal::Difference
        ) {
            self.n_unplaced += 1;
        }
        let plan = TablePlan { measures: vec![self.days(pair, function)], ..self.plan() };
        Some((Computation::One(plan), Form::Figure))
    }

    fn days(&self, pair: DayPair, function: Aggregate) -> TableMeasure {
        TableMeasure {
            function,
            column: Some(self.scope.reference(pair.second)),
            with: Some(self.term(pair)),
            ..TableMeasure::default()
        }
    }

    fn term(&self, pair: DayPair) -> TableTerm {
        TableTerm { by: Arithmetic::DaysSince, column: self.scope.reference(pair.first) }
    }

    /// Claims the two dates that stand behind `from` or `between`, with a word between them that joins them.
    fn take_day_pair(&mut self) -> Option<DayPair> {
        let text = &self.cues.text;
        let days: Vec<Range<usize>> =
            DAYS.find_iter(text).map(|found| self.cues.span(found.range())).collect();
        let begin = BEGIN.find(text)?;
        let begin = self.cues.span(begin.range());
        if days.is_empty() {
            return None;
        }
        let is_there = |words: &Range<usize>| begin.start <= words.start;
        let is_day = |place: &ColumnPlace| self.is_date(*place);
        let mut named: Vec<(Range<usize>, ColumnPlace)> =
            self.named_columns(&is_there, &is_day).collect();
        // The `order` of `from order to delivery` is the table, too, and its date; `days` may be a part of its name.
        for mention in &self.links.columns {
            let mut days = mention.columns.iter().copied().filter(is_day);
            let (Some(only), None) = (days.next(), days.next()) else { continue };
            let spans = std::iter::once(&mention.span).chain(&mention.further_spans);
            named.extend(spans.filter(|span| is_there(span)).map(|span| (span.clone(), only)));
        }
        named.sort_by_key(|(words, _)| words.start);
        let (one, first) = named.first().cloned()?;
        let (other, second) = named.iter().find(|(_, place)| *place != first).cloned()?;
        if named.iter().any(|(_, place)| ![first, second].contains(place)) {
            return None;
        }
        let between = self.cues.text_of(one.end..other.start);
        if first.table != second.table || !JOIN.is_match(between) {
            return None;
        }
        // `Between delivery and order`: the earlier date comes first, whatever the order of the words.
        let least = |place| self.scope.column(place).and_then(|column| column.least.clone());
        let is_turned = least(second) < least(first);
        let joint = one.end..other.start;
        self.claim_event(&one, first);
        self.claim_event(&other, second);
        for span in days.into_iter().chain([begin, joint]) {
            self.mark_only(span);
        }
        Some(match is_turned {
            true => DayPair { first: second, second: first },
            false => DayPair { first, second },
        })
    }
}

fn range(bound: &Bound) -> NumberRange {
    let (from, to, is_included) = match bound.test {
        BoundTest::Above => (Some(bound.number), None, false),
        BoundTest::AtLeast => (Some(bound.number), None, true),
        BoundTest::Below => (None, Some(bound.number), false),
        BoundTest::AtMost => (None, Some(bound.number), true),
        BoundTest::Equal => (Some(bound.number), Some(bound.number), true),
    };
    NumberRange { from, from_included: is_included, to, to_included: is_included }
}
