//! Composes superlatives: the heaviest thing, the highest figure, the most frequent value.

use std::ops::Range;

use pikerag_knowledge::data::{Aggregate, ColumnKind};

use pikerag_knowledge::tables::By;

use super::redundant::COUNTS;
use super::{Composed, Composer};
use crate::cues::{Cue, Extreme, Goal, Ranked};
use crate::link::ColumnMention;
use crate::reading::{Computation, Form};
use crate::scope::ColumnPlace;

impl Composer<'_> {
    /// The answer to a superlative.
    pub(super) fn extreme(&mut self, extreme: &Extreme) -> Option<Composed> {
        let by_time = self.by_time(extreme);
        let extreme = match by_time {
            Some((_, direction)) => &Extreme { direction, ..extreme.clone() },
            None => extreme,
        };
        let asked = self.take_asked_column().or_else(|| match () {
            () if self.cues.has(Cue::When) => {
                let event = self.only_event().map(|(_, place)| place);
                event.or_else(|| self.scope.time_column())
            }
            () if self.cues.has(Cue::Where) => self.scope.location_column(),
            () => None,
        });
        let count = self.count_before(extreme);
        if let Some(span) = &count {
            self.mark_only(span.clone());
        }
        let named = match by_time {
            Some((place, _)) => Some(place),
            None if count.is_some() || self.counts_rows(extreme) => None,
            None => self
                .take_measure(Some(&extreme.span), Some(extreme.direction))
                .or_else(|| self.dimension(extreme)),
        };
        let measure = match named {
            None if extreme.can_count() => self.people_column(),
            named => named,
        };
        let limit = self.cues.limit.or(self.cues.nth).unwrap_or(1);
        let measure = match measure {
            None if extreme.can_count() && !self.is_over_periods() => {
                return self.most_rows(extreme, asked, limit);
            }
            None => self.only_measure_of(extreme)?,
            Some(measure) => measure,
        };
        let thing = asked.or_else(|| self.take_thing().filter(|thing| *thing != measure));
        if self.asks_figure(asked, thing) {
            let plan = self.measured(self.plan(), extreme.direction.aggregate(), measure);
            return Some((Computation::One(plan), Form::Figure));
        }
        let thing =
            thing.or_else(|| self.scope.name_column()).or_else(|| self.scope.time_column())?;
        let sums = self.sums_over_periods(thing, measure);
        let function = self.named_aggregate().filter(|_| self.is_repeated(thing) || sums);
        let plan = match function.or_else(|| sums.then_some(Aggregate::Sum)) {
            Some(function) => {
                let plan = self.measured(self.plan(), function, measure);
                Self::ranked(self.grouped(plan, thing), extreme.direction, limit)
            }
            None => {
                let plan = self.shown(self.plan(), &[thing, measure]);
                self.ordered(plan, measure, extreme.direction, limit)
            }
        };
        Some((Computation::One(plan), Form::Things))
    }

    /// A word for the count of rows before the extreme, unless it is a column's name: `款数最多`.
    fn count_before(&self, extreme: &Extreme) -> Option<Range<usize>> {
        let end = extreme.span.start;
        let span = end.checked_sub(2)?..end;
        let is_column = |mention: &ColumnMention| mention.is_whole() && mention.span.end == end;
        let is_count = COUNTS.contains(&self.cues.text_of(span.clone()))
            && extreme.can_count()
            && !self.links.columns.iter().any(is_column);
        is_count.then_some(span)
    }

    /// Whether the extreme ranks by the count of rows: `most common`, or `the most flights` in a table of flights.
    fn counts_rows(&self, extreme: &Extreme) -> bool {
        let end = extreme.span.end;
        let is_topic = self.links.topic.contains(&end)
            && self.unclaimed.iter().any(|mention| mention.span.start == end);
        extreme.ranked == Ranked::Rows
            || (extreme.can_count() && is_topic && !self.is_over_periods())
    }

    /// The values with the most rows.
    fn most_rows(
        &mut self,
        extreme: &Extreme,
        asked: Option<ColumnPlace>,
        limit: usize,
    ) -> Option<Composed> {
        let thing = asked.or_else(|| self.take_thing())?;
        if self.scope.is_unique(thing) && self.grain_of(thing) == By::Value {
            return None;
        }
        let plan = self.grouped(Self::counted(self.plan()), thing);
        let plan = Self::ranked(plan, extreme.direction, limit);
        Some((Computation::One(plan), Form::Things))
    }

    /// Whether the question asks for the figure itself: `What was the longest delay?`
    fn asks_figure(&self, asked: Option<ColumnPlace>, thing: Option<ColumnPlace>) -> bool {
        let asks_where = self.cues.has(Cue::Where);
        let asks_how_much = self.cues.has(Cue::HowMuch) || self.cues.goal == Goal::Count;
        let asks_thing =
            (self.cues.which.is_some() && !asks_how_much) || self.cues.has(Cue::When) || asks_where;
        let asks_value = asks_how_much || self.asks_what_is();
        let is_figure =
            asks_how_much || (asked.is_none() && !asks_where && self.asks_what_is()) || !asks_thing;
        is_figure && (thing.is_none() || asks_value) && self.cues.limit.or(self.cues.nth).is_none()
    }

    /// `What is the highest …`, `…是多少`.
    fn asks_what_is(&self) -> bool {
        let text = self.cues.text.to_lowercase();
        ["what was the", "what is the", "what did"].iter().any(|start| text.starts_with(start))
            || self.cues.has(Cue::HowMuch)
    }

    /// Whether several rows share a value of a column of texts.
    fn is_repeated(&self, place: ColumnPlace) -> bool {
        let is_text = matches!(
            self.scope.kind(place),
            ColumnKind::Category | ColumnKind::Text | ColumnKind::Identifier
        );
        is_text && !self.scope.is_unique(place)
    }
}
