//! Finds the columns that hold the times of events: the hire date for `hired`, 到货日期 for 到货.

use std::ops::Range;

use pikerag_knowledge::data::{ColumnKind, ColumnRef, TablePlan, TableTest};

use super::{Composer, Filter};
use crate::cues::{EventMention, Goal, is_of_a_beginning, is_of_an_event};
use crate::reading::Computation;
use crate::scope::ColumnPlace;

/// Words in names of columns with planned times, not actual ones.
const PLANNED: [&str; 12] = [
    "plan", "planned", "schedul", "expect", "estim", "target", "due", "forecast", "计划", "预计",
    "预定", "应",
];

/// The time columns that a table has for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventTime {
    One(ColumnPlace),
    /// Several columns; the question names none of them.
    Several,
    Unknown,
}

impl Composer<'_> {
    /// The column with the time of an event. If there is a planned and an actual time, the question means the actual
    /// one.
    pub(super) fn time_of_event(&self, mention: &EventMention) -> EventTime {
        let mut times: Vec<ColumnPlace> =
            self.times().filter(|place| self.is_time_of(*place, mention)).collect();
        if 1 < times.len() {
            let is_planned = |place: &ColumnPlace| self.has_word_of(*place, &PLANNED);
            let says_planned = PLANNED.iter().any(|word| self.cues.text.contains(word));
            times.retain(|place| is_planned(place) == says_planned);
        }
        match times.as_slice() {
            [only] => EventTime::One(*only),
            [] => EventTime::Unknown,
            _ => EventTime::Several,
        }
    }

    /// The time columns of the first table.
    pub(super) fn times(&self) -> impl Iterator<Item = ColumnPlace> {
        self.scope
            .columns()
            .filter(|(place, column, _)| place.table == 0 && column.kind.is_time())
            .map(|(place, ..)| place)
    }

    fn stems(&self, place: ColumnPlace) -> Vec<&str> {
        let words = self.scope.view(place).map(|view| view.words(place.column));
        words.unwrap_or_default().iter().map(|word| word.stem.as_str()).collect()
    }

    pub(super) fn is_time_of(&self, place: ColumnPlace, mention: &EventMention) -> bool {
        self.scope
            .column(place)
            .is_some_and(|column| mention.event.is_time_of(&column.name, &self.stems(place)))
    }

    pub(super) fn has_word_of(&self, place: ColumnPlace, words: &[&str]) -> bool {
        let stems = self.stems(place);
        self.scope.column(place).is_some_and(|column| {
            words.iter().any(|word| {
                stems.contains(word) || (!word.is_ascii() && column.name.contains(word))
            })
        })
    }

    /// The event nearest to a span, with its column, if the table has exactly one time of that event.
    pub(super) fn event_near(&self, span: &Range<usize>) -> Option<(Range<usize>, ColumnPlace)> {
        let distance = |mention: &&EventMention| match mention.span.end <= span.start {
            true => span.start - mention.span.end,
            false => mention.span.start.saturating_sub(span.end),
        };
        let mention = self.events().min_by_key(distance)?;
        match self.time_of_event(mention) {
            EventTime::One(place) => Some((mention.span.clone(), place)),
            _ => None,
        }
    }

    /// The question's events outside the names of other columns; the delivery of `delivery cost` is none.
    pub(super) fn events(&self) -> impl Iterator<Item = &EventMention> {
        self.cues.events.iter().filter(|event| {
            !self.links.columns.iter().any(|mention| {
                2 <= mention.n_matched
                    && mention.span.start <= event.span.start
                    && event.span.end <= mention.span.end
                    && !mention.columns.iter().any(|place| self.scope.kind(*place).is_time())
            })
        })
    }

    /// The question's only event with its column, if the table has exactly one time of that event.
    pub(super) fn only_event(&self) -> Option<(Range<usize>, ColumnPlace)> {
        let mut events = self.events().filter(|event| event.denied.is_none());
        let first = events.next()?;
        let EventTime::One(place) = self.time_of_event(first) else { return None };
        let is_same = |other: &EventMention| self.time_of_event(other) == EventTime::One(place);
        events.all(is_same).then(|| (first.span.clone(), place))
    }

    /// Marks an event as used, with the mentions of its column.
    pub(super) fn claim_event(&mut self, span: &Range<usize>, place: ColumnPlace) {
        self.mark_only(span.clone());
        let overlaps = |mention: &crate::link::ColumnMention| {
            mention.span.start < span.end
                && span.start < mention.span.end
                && mention.columns.contains(&place)
        };
        while let Some(at) = self.unclaimed.iter().position(overlaps) {
            self.claim(at);
        }
    }

    /// Filters by events that have or have not happened: their columns are filled or empty.
    pub(super) fn filter_by_events(&mut self) {
        let events: Vec<EventMention> = self.events().cloned().collect();
        for mention in events {
            let is_free = !self
                .filters
                .iter()
                .any(|it| it.value.is_some() && it.span.contains(&mention.span.start));
            let is_status = self.has_status_of(&mention);
            let (EventTime::One(place), true) = (self.time_of_event(&mention), is_free) else {
                continue;
            };
            if self.is_name_of_a_date(&mention.span) {
                continue;
            }
            let is_used = self.filters.iter().any(|filter| filter.place == place);
            let has_gaps = self.has_gaps(place);
            if let Some(denied) = &mention.denied {
                // A status may record the event too, with a different result.
                if is_used || is_status || !has_gaps || !mention.event.is_past() {
                    self.n_unplaced += 1;
                    continue;
                }
                self.mark_only(denied.clone());
                self.denials.push(denied.clone());
                self.mark_words(&["yet", "still"]);
                self.push_event(&mention, place, TableTest::IsEmpty);
            } else if self.asks_what_happened(&mention)
                && !is_used
                && !is_status
                && has_gaps
                && mention.event.is_past()
            {
                self.mark_words(&["already"]);
                self.push_event(&mention, place, TableTest::IsFilled);
            }
        }
    }

    /// Whether a word is a part of a column's name: the delivery of `delivery date`, 到货 of 到货日期.
    fn is_name_of_a_date(&self, span: &Range<usize>) -> bool {
        let behind = self.cues.text_of(span.end..span.end + 2);
        let behind = if behind.is_empty() { self.cues.folded(span.end) } else { behind };
        ["date", "dates", "day", "time"].contains(&self.cues.folded(span.end))
            || ["日期", "时间", "日"].iter().any(|word| behind.starts_with(word))
    }

    fn mark_words(&mut self, words: &[&str]) {
        for at in 0..self.cues.pieces.len() {
            if words.contains(&self.cues.folded(at)) {
                self.mark_only(at..at + 1);
            }
        }
    }

    fn push_event(&mut self, mention: &EventMention, place: ColumnPlace, test: TableTest) {
        self.claim_event(&mention.span, place);
        let span = mention.span.clone();
        self.filters.push(Filter { place, test, span, value: None, is_exact: true });
    }

    /// Whether the question counts events that have happened at any time.
    fn asks_what_happened(&self, mention: &EventMention) -> bool {
        let extremes = self.cues.extremes.is_empty() && self.cues.occurrence.is_none();
        self.cues.goal == Goal::Count
            && extremes
            && self.cues.relative.is_none()
            && self.cues.empty.is_none()
            && self.cues.filled.is_none()
            && self.cues.not.is_none()
            && self.compared.is_empty()
            && !self
                .unclaimed
                .iter()
                .any(|it| it.is_whole() && 2 <= it.n_words && it.span.contains(&mention.span.start))
    }

    pub(super) fn has_gaps(&self, place: ColumnPlace) -> bool {
        self.scope
            .view(place)
            .zip(self.scope.column(place))
            .is_some_and(|(view, column)| column.filled < view.table.rows)
    }

    /// Whether a category has a value with a word for the event: `paid` of a status.
    pub(super) fn has_status_of(&self, mention: &EventMention) -> bool {
        self.scope.columns().any(|(_, column, view)| {
            column.kind == ColumnKind::Category
                && view.values.iter().any(|value| mention.event.is_in(value))
        })
    }

    /// Whether a plan uses the time of an event that the question does not name: a beginning for an end.
    pub(super) fn is_of_another_event(&self, plan: &TablePlan) -> bool {
        let is_compared = |column: &ColumnRef| {
            plan.filters.iter().any(|filter| match &filter.test {
                TableTest::MoreThan(other) => filter.column == *column || other == column,
                _ => false,
            })
        };
        let times: Vec<ColumnPlace> = plan
            .columns()
            .filter(|column| !is_compared(column))
            .filter_map(|column| self.scope.place(column))
            .filter(|place| self.scope.kind(*place).is_time())
            .collect();
        let is_whole = |place: ColumnPlace| {
            self.links
                .columns
                .iter()
                .any(|it| it.is_whole() && it.columns == [place] && 2 <= it.n_words)
        };
        times.iter().any(|place| {
            let name = self.scope.column(*place).map(|it| it.name.as_str()).unwrap_or_default();
            let stems = self.stems(*place);
            let is_own = |mention: &EventMention| {
                mention.event.is_time_of(name, &stems) || mention.event.is_traded_at(name, &stems)
            };
            if is_whole(*place) || self.events().any(is_own) {
                return false;
            }
            let is_neutral = !is_of_an_event(name, &stems);
            self.events().any(|mention| match self.time_of_event(mention) {
                EventTime::Unknown => !is_neutral || mention.event.is_end(),
                EventTime::One(_) | EventTime::Several => true,
            })
        })
    }

    /// Whether the plan uses the time of an event.
    pub(super) fn has_used_event(&self) -> bool {
        self.events().any(|mention| {
            matches!(self.time_of_event(mention), EventTime::One(_))
                && mention.span.clone().all(|at| self.is_used(at))
                && !self.cues.is_used(mention.span.start)
        })
    }

    /// Whether the plan counts things by a period of a beginning that the question does not name: the employees of 2021
    /// are not those hired in 2021. An amount belongs to the day of its row: the revenue of tickets in 2025.
    pub(super) fn is_of_an_unnamed_beginning(&self, plan: &TablePlan) -> bool {
        let is_of_amounts = !plan.measures.is_empty()
            && plan.measures.iter().all(|measure| {
                let place = measure.column.as_ref().and_then(|column| self.scope.place(column));
                place.is_some_and(|place| self.is_amount(place))
            });
        !is_of_amounts
            && plan.filters.iter().any(|filter| {
                let is_period = matches!(
                    filter.test,
                    TableTest::Within(_) | TableTest::Between { .. } | TableTest::InMonths(_)
                );
                let Some(place) = self.scope.place(&filter.column).filter(|_| is_period) else {
                    return false;
                };
                let is_date = self.scope.kind(place) == ColumnKind::Date;
                let name = self.scope.column(place).map(|it| it.name.as_str()).unwrap_or_default();
                let stems = self.stems(place);
                let is_named = self.events().any(|it| it.event.is_time_of(name, &stems))
                    || self.links.columns.iter().any(|it| it.columns.contains(&place));
                is_date && !is_named && is_of_a_beginning(name, &stems)
            })
    }

    /// Whether the question names an event whose time no plan uses: projects that started and ended in a year.
    pub(super) fn leaves_an_event_out(&self, computation: &Computation) -> bool {
        let plans = computation.plans();
        let times: Vec<ColumnPlace> = plans
            .iter()
            .flat_map(|plan| {
                let compared = plan.filters.iter().filter_map(|filter| match &filter.test {
                    TableTest::MoreThan(other) => Some(other),
                    _ => None,
                });
                plan.columns().chain(compared)
            })
            .filter_map(|column| self.scope.place(column))
            .collect();
        self.events().any(|mention| match self.time_of_event(mention) {
            EventTime::One(place) => {
                let is_status = self.filters.iter().any(|filter| {
                    filter.value.is_some() && filter.span.contains(&mention.span.start)
                });
                !times.contains(&place) && !is_status
            }
            _ => false,
        })
    }

    /// Marks the events whose times the plans use.
    pub(super) fn mark_events(&mut self, computation: &Computation) {
        let plans = computation.plans();
        let times: Vec<ColumnPlace> = plans
            .iter()
            .flat_map(|plan| plan.columns())
            .filter_map(|column| self.scope.place(column))
            .collect();
        let used: Vec<(Range<usize>, ColumnPlace)> = self
            .events()
            .filter_map(|mention| match self.time_of_event(mention) {
                EventTime::One(place) if times.contains(&place) && mention.denied.is_none() => {
                    Some((mention.span.clone(), place))
                }
                _ => None,
            })
            .collect();
        for (span, place) in used {
            self.claim_event(&span, place);
        }
    }
}
