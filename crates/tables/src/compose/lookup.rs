//! Composes lookups: a value of a named row, a first time, whether something exists.

use pikerag_knowledge::data::Aggregate;

use super::{Composed, Composer};
use crate::cues::{Cue, Direction, Occurrence};
use crate::reading::{Computation, Form};
use crate::scope::ColumnPlace;

/// The most pieces between `what` and the requested measure.
const MOST_BEHIND: usize = 2;

impl Composer<'_> {
    /// Whether any row fulfils the filters.
    pub(super) fn exists(&self) -> Option<Composed> {
        let plan = Self::counted(self.plan());
        (!self.filters.is_empty()).then_some((Computation::One(plan), Form::Exists))
    }

    /// The cells of the rows that fulfil the filters.
    pub(super) fn lookup(&mut self) -> Option<Composed> {
        if self.filters.is_empty() {
            return None;
        }
        let place = self.looked_up_column()?;
        if self.asks_for_a_sum_of(place) || self.asks_for_a_sum_over_periods(place) {
            let plan = self.measured(self.plan(), Aggregate::Sum, place);
            return Some((Computation::One(plan), Form::Figure));
        }
        let plan = self.shown(self.plan(), &[place]);
        Some((Computation::One(plan), Form::Things))
    }

    fn looked_up_column(&mut self) -> Option<ColumnPlace> {
        // `How much did Acme pay` needs a measure.
        let how_much = self.cues.text.to_lowercase().contains("how much") && !self.has_measure();
        let only = self.scope.only_measure().filter(|_| how_much);
        let named = only
            .or_else(|| self.take_asked_column())
            .or_else(|| self.take_measure(None, None))
            .or_else(|| self.take_thing().filter(|place| !self.is_fixed(*place)));
        let is_filtered = |place: &ColumnPlace| self.filters.iter().any(|it| it.place == *place);
        named
            .or_else(|| {
                let event = self.only_event().map(|(_, place)| place);
                event.or_else(|| self.scope.time_column()).filter(|_| self.cues.has(Cue::When))
            })
            .or_else(|| self.named_thing().filter(|place| !is_filtered(place)))
            .or_else(|| self.scope.only_measure().filter(|_| self.cues.has(Cue::HowMuch)))
    }

    /// The names of rows, unless the question asks for a measure that is also the table's topic: the price in a table
    /// of costs.
    fn named_thing(&self) -> Option<ColumnPlace> {
        let which = self.cues.which.as_ref().map_or(0, |which| which.end);
        let asked = self.links.columns.iter().find(|mention| which <= mention.span.start);
        let is_measure = asked.is_some_and(|mention| {
            mention.span.start <= which + MOST_BEHIND
                && self.has_measure_in(mention)
                && mention.span.clone().all(|at| self.links.topic.contains(&at))
        });
        self.scope.name_column().filter(|_| !is_measure)
    }

    /// The first or last time at which a row fulfils the filters, or the thing of that time.
    pub(super) fn first_time(&mut self, occurrence: Occurrence) -> Option<Composed> {
        let event = self.only_event();
        if let Some((words, place)) = &event {
            self.claim_event(words, *place);
        }
        let asked = self.take_asked_column();
        let event = event.map(|(_, place)| place);
        let time = event.or_else(|| self.scope.time_column())?;
        if self.filters.is_empty() && event.is_none() {
            return None;
        }
        // `Who was hired first` asks for the name of the row.
        let named =
            || self.scope.name_column().filter(|_| event.is_some() && self.cues.which.is_some());
        let shown = asked.or_else(named).filter(|_| !self.cues.has(Cue::When)).unwrap_or(time);
        while let Some(at) = self.unclaimed.iter().position(|it| it.columns.contains(&time)) {
            self.claim(at);
        }
        let direction = match occurrence {
            Occurrence::First => Direction::Least,
            Occurrence::Last => Direction::Greatest,
        };
        let columns: &[ColumnPlace] =
            if event.is_some() && shown != time { &[shown, time] } else { &[shown] };
        let plan = self.shown(self.plan(), columns);
        let plan = self.ordered(plan, time, direction, 1);
        Some((Computation::One(plan), Form::Things))
    }
}
