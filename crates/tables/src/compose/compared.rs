//! Filters rows by a comparison of two of their columns: `delivered later than due`, 实际金额超过预算.

use std::ops::Range;

use pikerag_knowledge::data::{ColumnKind, TableTest};
use pikerag_language::pattern;

use super::events::EventTime;
use super::{Composer, Filter};
use crate::cues::Goal;
use crate::scope::ColumnPlace;

pattern!(
    MORE,
    r"\b(?:later than|more than|higher than|greater than|larger than|longer than|exceed(?:s|ed|ing)?|after|above|over)\b|超过了?|高于|大于|多于|晚于|超出了?|长于"
);
pattern!(
    LESS,
    r"\b(?:earlier than|less than|lower than|smaller than|shorter than|fewer than|before|below|under)\b|低于|小于|少于|早于|短于"
);

// `Late 2013` is a period.
pattern!(
    LATE,
    r"\b(?:paid|delivered|shipped|arrived|returned|finished|completed|submitted|closed|settled|installed) (?:too )?late\b|\b(?:was|were|are|is|been|being|too) late\b|\blate (?:payments?|deliver(?:y|ies)|orders?|invoices?|returns?|shipments?|arrivals?|projects?)\b|\boverdue\b"
);
pattern!(ON_TIME, r"\bon time\b|\bin time\b|按时|准时|按期|如期");
/// Words in names of columns for a due date.
const TERMS: [&str; 7] = ["due", "deadlin", "promis", "到期", "截止", "应付", "应交"];

/// The most pieces between a comparison and the second column, as in `later than the`, and between the first column and
/// a comparison.
const MOST_BEHIND: usize = 3;
const MOST_BEFORE: usize = 4;

/// Words in names of columns for actual values, and for planned values.
const ACTUAL: [&str; 8] = ["actual", "cost", "spent", "spend", "expens", "实际", "支出", "花费"];
const BUDGETS: [&str; 6] = ["budget", "plan", "target", "预算", "计划", "目标"];

impl Composer<'_> {
    /// Filters by the comparisons of two columns.
    pub(super) fn filter_by_compared_columns(&mut self) {
        for (pattern, is_more) in [(&*MORE, true), (&*LESS, false)] {
            let spans: Vec<Range<usize>> =
                pattern.find_iter(&self.cues.text).map(|it| self.cues.span(it.range())).collect();
            for span in spans {
                if let Some([first, second]) = self.compared_columns(&span) {
                    let (greater, lesser) = match is_more {
                        true => (first.1, second.1),
                        false => (second.1, first.1),
                    };
                    for (words, place) in [first, second] {
                        self.claim_event(&words, place);
                    }
                    self.mark_only(span.clone());
                    self.check_comparison(&span);
                    let test = TableTest::MoreThan(self.scope.reference(lesser));
                    let place = greater;
                    let filter =
                        Filter { place, test, span: span.clone(), value: None, is_exact: true };
                    self.filters.push(filter);
                    self.compared.push(span);
                }
            }
        }
    }

    /// Filters by events after their due date: `paid late`, if the table has a due date.
    pub(super) fn filter_by_late_events(&mut self) {
        let Some(late) = LATE.find(&self.cues.text).map(|it| self.cues.span(it.range())) else {
            return;
        };
        let is_within = |span: &Range<usize>| late.start <= span.start && span.end <= late.end;
        let Some(first) = self.events().find(|it| is_within(&it.span)).cloned() else { return };
        let terms: Vec<ColumnPlace> = self
            .times()
            .filter(|place| self.is_date(*place) && self.has_word_of(*place, &TERMS))
            .collect();
        let (EventTime::One(place), [term], None) =
            (self.time_of_event(&first), terms.as_slice(), &first.denied)
        else {
            return;
        };
        let term = *term;
        if place == term || !self.is_date(place) {
            return;
        }
        self.claim_event(&first.span, place);
        self.mark_only(late.clone());
        self.check_comparison(&late);
        let test = TableTest::MoreThan(self.scope.reference(term));
        let span = late.clone();
        self.filters.push(Filter { place, test, span, value: None, is_exact: true });
        self.compared.push(late);
    }

    /// Whether the question asks for late events, but no condition covers that.
    pub(super) fn is_late_without_a_term(&self) -> bool {
        let is_value = |span: &Range<usize>| {
            self.filters.iter().any(|it| it.value.is_some() && it.span.contains(&span.start))
        };
        let on_time = ON_TIME.find(&self.cues.text).map(|it| self.cues.span(it.range()));
        if on_time.is_some_and(|span| !is_value(&span)) {
            return true;
        }
        let Some(late) = LATE.find(&self.cues.text).map(|it| self.cues.span(it.range())) else {
            return false;
        };
        let overlaps = |span: &Range<usize>| span.start < late.end && late.start < span.end;
        let is_condition = |filter: &Filter| {
            filter.value.is_some()
                || !matches!(filter.test, TableTest::IsFilled | TableTest::IsEmpty)
        };
        !self.filters.iter().any(|filter| overlaps(&filter.span) && is_condition(filter))
            && !self.links.columns.iter().any(|mention| {
                let names_late = self.cues.text_of(mention.span.clone()).contains("late");
                overlaps(&mention.span) && names_late
            })
    }

    /// Counts a part of the comparison that a filter cannot hold: a figure of its rows, a distance or a negation.
    fn check_comparison(&mut self, span: &Range<usize>) {
        const DENIALS: &str = "未没有不";
        let before = span.start.checked_sub(1).map(|at| self.cues.folded(at)).unwrap_or_default();
        let is_denied = !before.is_empty() && DENIALS.contains(before);
        let is_figure = !matches!(self.cues.goal, Goal::Count | Goal::Value | Goal::Share);
        let has_distance = !self.cues.bounds.is_empty();
        self.n_unplaced += usize::from(is_denied || is_figure || has_distance);
    }

    /// The words on both sides of a comparison, each with its one column. Both columns are of one kind.
    fn compared_columns(&self, span: &Range<usize>) -> Option<[(Range<usize>, ColumnPlace); 2]> {
        let has_number = self.cues.bounds.iter().map(|bound| &bound.span);
        let mut taken = has_number.chain(self.cues.periods.iter().map(|period| &period.span));
        if taken.any(|taken| taken.start < span.end && span.start < taken.end) {
            return None;
        }
        let second = self.column_behind(span)?;
        let first = match self.column_before(span, second.1) {
            Some(first) => first,
            None => (span.clone(), self.actual_of(second.1)?),
        };
        Some([first, second])
    }

    fn column_behind(&self, span: &Range<usize>) -> Option<(Range<usize>, ColumnPlace)> {
        let is_behind = |words: &Range<usize>| {
            span.end <= words.start && self.is_near(span, words, MOST_BEHIND)
        };
        let is_comparable =
            |place: &ColumnPlace| self.scope.is_measure(*place) || self.is_date(*place);
        self.named_columns(&is_behind, &is_comparable).min_by_key(|(words, _)| words.start)
    }

    fn column_before(
        &self,
        span: &Range<usize>,
        second: ColumnPlace,
    ) -> Option<(Range<usize>, ColumnPlace)> {
        let is_before =
            |words: &Range<usize>| words.end <= span.start && span.start - words.end <= MOST_BEFORE;
        let fits = |place: &ColumnPlace| *place != second && self.is_alike(*place, second);
        self.named_columns(&is_before, &fits).max_by_key(|(words, _)| words.end)
    }

    /// The columns that mentions and events name at a place of the question.
    pub(super) fn named_columns(
        &self,
        is_there: &dyn Fn(&Range<usize>) -> bool,
        fits: &dyn Fn(&ColumnPlace) -> bool,
    ) -> impl Iterator<Item = (Range<usize>, ColumnPlace)> {
        let mentions = self.unclaimed.iter().filter(|it| is_there(&it.span)).filter_map(|it| {
            let fitting: Vec<ColumnPlace> = it.columns.iter().copied().filter(fits).collect();
            match fitting.as_slice() {
                [only] => Some((it.span.clone(), *only)),
                _ => None,
            }
        });
        let events = self.events().filter(|it| is_there(&it.span) && it.denied.is_none());
        let events = events.filter_map(|it| match self.time_of_event(it) {
            EventTime::One(place) if fits(&place) => Some((it.span.clone(), place)),
            _ => None,
        });
        mentions.chain(events).collect::<Vec<_>>().into_iter()
    }

    /// The column of actual spending that belongs to a budget.
    fn actual_of(&self, budget: ColumnPlace) -> Option<ColumnPlace> {
        if !self.has_word_of(budget, &BUDGETS) {
            return None;
        }
        let mut found = self.scope.columns().map(|(place, ..)| place).filter(|place| {
            *place != budget
                && self.is_alike(*place, budget)
                && self.has_word_of(*place, &ACTUAL)
                && !self.has_word_of(*place, &BUDGETS)
        });
        found.next().filter(|_| found.next().is_none())
    }

    pub(super) fn is_date(&self, place: ColumnPlace) -> bool {
        self.scope.kind(place) == ColumnKind::Date
    }

    /// Whether values of two columns of the first table can be compared: both dates, or both numbers in the same unit.
    fn is_alike(&self, one: ColumnPlace, other: ColumnPlace) -> bool {
        let unit = |place| self.scope.column(place).and_then(|column| column.unit.clone());
        let is_of_one_table = one.table == other.table;
        let are_numbers = self.scope.is_measure(one) && self.scope.is_measure(other);
        is_of_one_table
            && ((self.is_date(one) && self.is_date(other))
                || (are_numbers && unit(one) == unit(other)))
    }
}
