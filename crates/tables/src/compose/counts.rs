//! Composes counts of rows and of different values, and totals for `how many`.

use std::ops::Range;

use pikerag_knowledge::data::Aggregate;

use super::{Composed, Composer};
use crate::cues::Cue;
use crate::link::ColumnMention;
use crate::reading::{Computation, Form};
use crate::scope::ColumnPlace;

/// The most pieces between `how many` and its noun.
const MOST_BEHIND: usize = 3;

/// The most pieces between a noun and the count after it: `一共有`.
const MOST_BEFORE: usize = 3;

impl Composer<'_> {
    /// The answer to `how many`.
    pub(super) fn count(&mut self) -> Option<Composed> {
        let count = self.cues.count.clone()?;
        let behind = self.unclaimed.iter().position(|mention| {
            let start = mention.span.start;
            count.end.saturating_sub(1) <= start
                && start <= count.end + MOST_BEHIND
                && !self.labels_a_value(mention)
        });
        let noun = behind.or_else(|| self.noun_before(&count));
        // `How many donations` in a table of donors may mean rows or the numbers of a column.
        let is_of_both = noun.and_then(|at| self.unclaimed.get(at)).is_some_and(|mention| {
            let stem = self.cues.pieces.get(mention.span.start).map(|piece| piece.stem.as_str());
            let has_stem = |place: &ColumnPlace| {
                let words = self.scope.view(*place).map(|view| view.words(place.column));
                words.unwrap_or_default().iter().any(|word| Some(word.stem.as_str()) == stem)
            };
            let is_amount = |place: &ColumnPlace| {
                self.is_amount(*place) && !self.is_time(*place) && has_stem(place)
            };
            mention.is_whole()
                && mention.columns.iter().any(is_amount)
                && mention.span.clone().all(|at| self.links.topic.contains(&at))
        });
        if let Some(found) = noun.and_then(|noun| self.count_noun(noun)) {
            return Some(found);
        }
        if let Some(found) = self.count_people(&count) {
            return Some(found);
        }
        if self.cues.has(Cue::Sum) && self.has_measure() {
            return self.aggregate(Aggregate::Sum);
        }
        // A row of a table over periods holds a number of things.
        if self.number_over_periods().is_some_and(|number| self.is_amount(number)) {
            return self.aggregate(Aggregate::Sum);
        }
        self.n_unplaced += usize::from(is_of_both);
        let plan = Self::counted(self.plan());
        Some((Computation::One(plan), Form::Figure))
    }

    /// Whether a mention is not the counted noun: an adjective, or the column of a value next to it, as the grade of
    /// `grade A`.
    fn labels_a_value(&self, mention: &ColumnMention) -> bool {
        // `Organic harvests` has an adjective of the rows.
        let is_adjective = self.links.topic.contains(&mention.span.end)
            && self.cues.pieces.get(mention.span.end).is_some_and(|piece| !piece.is_han)
            && !mention.span.clone().any(|at| self.links.topic.contains(&at));
        is_adjective
            || self.filters.iter().any(|filter| {
                filter.value.is_some()
                    && mention.columns.contains(&filter.place)
                    && (filter.span.start == mention.span.end
                        || filter.span.end == mention.span.start)
            })
    }

    /// The noun before a Chinese count: `超过100的年份有多少个`. It begins the sentence, or follows its conditions or values.
    fn noun_before(&self, count: &Range<usize>) -> Option<usize> {
        let is_noun = |mention: &ColumnMention| {
            let span = &mention.span;
            let is_value = |at: usize| self.filters.iter().any(|it| it.span.contains(&at));
            let follows = span
                .start
                .checked_sub(1)
                .is_none_or(|at| self.cues.folded(at) == "的" || is_value(at));
            follows && span.end <= count.start && self.is_near(span, count, MOST_BEFORE)
        };
        self.unclaimed.iter().position(is_noun)
    }

    /// The sum of a column of people, if the question counts people and says which: `死于地震的有多少人`.
    fn count_people(&mut self, count: &Range<usize>) -> Option<Composed> {
        const PEOPLE: [&str; 5] = ["people", "persons", "victims", "deaths", "人"];
        let asks = (count.start..count.end + 2).any(|at| PEOPLE.contains(&self.cues.folded(at)));
        let place = if asks { self.people_column()? } else { return None };
        let plan = self.measured(self.plan(), Aggregate::Sum, place);
        Some((Computation::One(plan), Form::Figure))
    }

    /// The column that counts the question's people, also if the whole table is about them.
    pub(super) fn people_column(&mut self) -> Option<ColumnPlace> {
        let counts_people = |place: &ColumnPlace| {
            self.scope.is_measure(*place)
                && ["population", "mortality"]
                    .iter()
                    .any(|word| self.scope.has_meaning(*place, word))
        };
        let mention = self.links.columns.iter().find(|it| it.columns.iter().any(counts_people))?;
        let span = mention.span.clone();
        let place = self.choose(mention, None).filter(counts_people)?;
        self.unclaimed.retain(|mention| mention.span != span);
        self.mark(span);
        Some(place)
    }

    /// The answer by the noun after `how many`; `None` if the noun names the rows.
    fn count_noun(&mut self, noun: usize) -> Option<Composed> {
        let mention = self.unclaimed.get(noun)?;
        let is_topic = mention.span.clone().all(|piece| self.links.topic.contains(&piece));
        let place = self.choose(mention, None)?;
        self.claim(noun);
        let is_time = self.is_time(place);
        if self.scope.is_measure(place) && !is_topic && !is_time {
            // `How many passengers` asks for a number in the table.
            let plan = self.plan();
            let is_sum = self.cues.has(Cue::Sum) || self.is_amount(place);
            return Some(match is_sum {
                true => {
                    (Computation::One(self.measured(plan, Aggregate::Sum, place)), Form::Figure)
                }
                false => (Computation::One(self.shown(plan, &[place])), Form::Things),
            });
        }
        let is_key = place.table == 0 && self.scope.is_unique(place);
        // For example, a plant has a row for each month.
        let is_row = (is_topic && !self.has_rows_of_periods(place)) || is_key || is_time;
        if is_row && !self.cues.has(Cue::Distinct) {
            return None;
        }
        let plan = self.measured(self.plan(), Aggregate::Distinct, place);
        Some((Computation::One(plan), Form::Figure))
    }

    fn is_time(&self, place: ColumnPlace) -> bool {
        self.scope.kind(place).is_time()
            || ["year", "quarter", "month", "day"]
                .iter()
                .any(|word| self.scope.has_meaning(place, word))
    }
}
