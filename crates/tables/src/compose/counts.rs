//! Composes counts: of rows, of different values, and totals that `how many` asks for.

use pikerag_knowledge::data::Aggregate;

use super::{Composed, Composer};
use crate::cues::Cue;
use crate::reading::{Form, Reckoning};
use crate::scope::ColumnPlace;

/// The greatest number of pieces between `how many` and what it counts.
const MOST_BEHIND: usize = 3;

impl Composer<'_> {
    /// The answer to `how many`.
    pub(super) fn count(&mut self) -> Option<Composed> {
        let count = self.cues.count.clone()?;
        let noun = self.unclaimed.iter().position(|mention| {
            let start = mention.span.start;
            count.end.saturating_sub(1) <= start && start <= count.end + MOST_BEHIND
        });
        if let Some(found) = noun.and_then(|noun| self.count_noun(noun)) {
            return Some(found);
        }
        if self.cues.has(Cue::Sum) && self.has_measure() {
            return self.aggregate(Aggregate::Sum);
        }
        let plan = Self::counted(self.plan());
        Some((Reckoning::One(plan), Form::Figure))
    }

    /// The answer by the noun behind `how many`; `None` where it names the rows.
    fn count_noun(&mut self, noun: usize) -> Option<Composed> {
        let mention = self.unclaimed.get(noun)?;
        let is_topic = mention.span.clone().all(|piece| self.links.topic.contains(&piece));
        let place = self.choose(mention, None)?;
        self.claim(noun);
        let is_time = self.is_time(place);
        if self.scope.is_measure(place) && !is_topic && !is_time {
            // `How many passengers`: the table holds the number.
            let plan = self.plan();
            return Some(match self.cues.has(Cue::Sum) {
                true => (Reckoning::One(self.measured(plan, Aggregate::Sum, place)), Form::Figure),
                false => (Reckoning::One(self.shown(plan, &[place])), Form::Things),
            });
        }
        let is_key = place.table == 0 && self.scope.is_unique(place);
        let is_row = is_topic || is_key || is_time;
        if is_row && !self.cues.has(Cue::Distinct) {
            return None;
        }
        let plan = self.measured(self.plan(), Aggregate::Distinct, place);
        Some((Reckoning::One(plan), Form::Figure))
    }

    fn is_time(&self, place: ColumnPlace) -> bool {
        self.scope.kind(place).is_time()
            || ["year", "quarter", "month", "day"]
                .iter()
                .any(|word| self.scope.has_meaning(place, word))
    }
}
