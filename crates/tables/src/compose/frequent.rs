//! Composes groups by their number of rows: `machines with more than 3 repairs`, 维修超过3次的设备.

use std::ops::Range;

use pikerag_knowledge::data::{Aggregate, GroupFilter, NumberRange, TableMeasure, TablePlan};

use super::{Composed, Composer};
use crate::cues::{Bound, BoundTest, Goal};
use crate::reading::{Computation, Form};
use crate::scope::ColumnPlace;

/// Words behind a number that count rows, if something else of the question names the table.
const TIMES: [&str; 3] = ["time", "times", "次"];
/// Words that count things, if the name of the table is right before the bound: 订单超过2个.
const COUNTERS: [&str; 8] = ["个", "笔", "单", "张", "起", "条", "份", "件"];
/// The most pieces between `which` or `how many` and the things that are asked for.
const MOST_BEHIND: usize = 3;

impl Composer<'_> {
    /// Whether a bound counts rows: the words behind its number name the table, perhaps with values before that, or say `times`.
    pub(super) fn bounds_rows(&self, bound: &Bound) -> bool {
        let behind = bound.span.end;
        let is_value = |at: &usize| self.filters.iter().any(|filter| filter.span.contains(at));
        // `At least 3 delivered orders`: values between the number and the rows.
        let head = (behind..self.cues.pieces.len()).find(|at| !is_value(at)).unwrap_or(behind);
        let names_rows = self.links.topic.contains(&head);
        let word = self.cues.folded(behind);
        let is_times = TIMES.contains(&word) && !self.links.topic.is_empty();
        let before = bound.span.start.checked_sub(1);
        let is_counted =
            COUNTERS.contains(&word) && before.is_some_and(|at| self.links.topic.contains(&at));
        // `More than 3 passengers`: a column holds the number.
        let is_of_a_column = self.unclaimed.iter().any(|mention| {
            let touches = mention.span.start <= head && bound.span.start <= mention.span.end;
            touches && mention.columns.iter().any(|place| self.scope.is_number(*place))
        });
        (names_rows || is_times || is_counted) && !is_of_a_column
    }

    /// The things that have as many rows as a bound says, or their number.
    pub(super) fn frequent(&mut self) -> Option<Composed> {
        let bound = self.row_bound.take()?;
        let things = self.frequent_things();
        let is_plain = matches!(self.cues.goal, Goal::Count | Goal::Value)
            && self.cues.extremes.is_empty()
            && self.cues.each.is_none();
        let (Some((at, place)), Some(range), true) = (things, range(&bound), is_plain) else {
            self.n_unplaced += 1;
            return None;
        };
        self.claim(at);
        let behind = bound.span.end;
        if [&TIMES[..], &COUNTERS].concat().contains(&self.cues.folded(behind)) {
            self.mark_only(behind..behind + 1);
        }
        let having = vec![GroupFilter { measure: TableMeasure::default(), range }];
        let plan = TablePlan { having, ..self.grouped(Self::counted(self.plan()), place) };
        Some(match self.cues.goal {
            Goal::Count => {
                let plan = TablePlan { over: Some(Aggregate::Count), ..plan };
                (Computation::One(plan), Form::Figure)
            }
            _ => (Computation::One(plan), Form::Groups),
        })
    }

    /// The mention of the things that are asked for, with their column: behind `which` or `how many`, else the first one.
    fn frequent_things(&self) -> Option<(usize, ColumnPlace)> {
        let thing = |at: usize| {
            let mention = self.unclaimed.get(at)?;
            let is_thing = |place: &ColumnPlace| {
                !self.scope.is_measure(*place)
                    && !self.scope.is_unique(*place)
                    && !self.scope.kind(*place).is_time()
                    && !self.is_fixed(*place)
            };
            let mut fitting = mention.columns.iter().copied().filter(is_thing);
            match (fitting.next(), fitting.next()) {
                (Some(only), None) => Some((at, only)),
                _ => None,
            }
        };
        let is_behind = |asked: &Range<usize>, start: usize| {
            asked.start <= start && start <= asked.end + MOST_BEHIND
        };
        let asked = [&self.cues.which, &self.cues.count].into_iter().flatten();
        let near = asked.flat_map(|asked| {
            let mentions = self.unclaimed.iter().enumerate();
            mentions.filter(|(_, it)| is_behind(asked, it.span.start)).map(|(at, _)| at)
        });
        near.chain(0..self.unclaimed.len()).find_map(thing)
    }
}

/// The numbers of rows that a bound admits; `None` where they include 0, because a thing without a row is in no table.
fn range(bound: &Bound) -> Option<NumberRange> {
    let (from_included, to) = match bound.test {
        BoundTest::Above => (false, None),
        BoundTest::AtLeast => (true, None),
        BoundTest::Equal => (true, Some(bound.number)),
        BoundTest::Below | BoundTest::AtMost => return None,
    };
    let from = Some(bound.number).filter(|from| 0.0 < *from || !from_included)?;
    Some(NumberRange { from: Some(from), from_included, to, to_included: to.is_some() })
}
