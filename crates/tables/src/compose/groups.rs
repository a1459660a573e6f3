//! Composes figures for each group: `for each species`, `各国`, or two named values.

use pikerag_knowledge::data::{Aggregate, TableGroup, TablePlan};
use pikerag_language::pattern;

use super::{Composed, Composer, Filter};
use crate::cues::Extreme;
use crate::reading::{Computation, Form};
use crate::scope::ColumnPlace;

/// The most pieces between `each` and the column of the groups.
const MOST_BEHIND: usize = 3;

pattern!(WHICH_ONE, r"\b(?:which|who)\b|哪|谁");

impl Composer<'_> {
    /// A figure for each group, if the question has `each`.
    pub(super) fn per_group(&mut self) -> Option<Composed> {
        let each = self.cues.each.clone()?;
        let named = self.column_of_named_groups();
        let function = self.named_aggregate();
        // `各国的平均` and `各国加起来` mean one figure over all groups.
        let has_one_figure = match function {
            Some(Aggregate::Sum) => self.cues.text.contains("加起来"),
            Some(_) => true,
            None => false,
        };
        let begins_with_all = self.cues.text_of(each.clone()).starts_with('各');
        if named.is_none() && begins_with_all && has_one_figure {
            return None;
        }
        let place = match named {
            Some(place) => place,
            None => self.take_group(each.end)?,
        };
        let measure = function.and_then(|_| self.take_measure(None, None));
        // If each project has one row, the mean per project is the mean of all rows.
        if let (Some(Aggregate::Mean), Some(measure), true) =
            (function, measure, self.scope.is_unique(place) && named.is_none())
            && !begins_with_all
        {
            let plan = self.measured(self.plan(), Aggregate::Mean, measure);
            return Some((Computation::One(plan), Form::Figure));
        }
        if function.is_some() && measure.is_none() {
            return None;
        }
        let plan = match function.zip(measure) {
            Some((function, measure)) => self.measured(self.plan(), function, measure),
            None => Self::counted(self.plan()),
        };
        Some((Computation::One(self.grouped(plan, place)), Form::Groups))
    }

    /// The greatest or least value of each group: `the largest amount for each region`. `Which region has …` asks for
    /// one of them.
    pub(super) fn extreme_per_group(&mut self, extreme: &Extreme) -> Option<Composed> {
        let each = self.cues.each.clone().filter(|_| !WHICH_ONE.is_match(&self.cues.text))?;
        self.or_undone(|composer| {
            let group = match composer.group_of_periods() {
                Some(group) => group,
                None => {
                    let place = composer.take_group(each.end)?;
                    let column = composer.scope.reference(place);
                    TableGroup { column, by: composer.grain_of(place) }
                }
            };
            let measure = composer.take_measure(Some(&extreme.span), Some(extreme.direction))?;
            composer.mark(extreme.span.clone());
            let function = extreme.direction.aggregate();
            let plan = composer.measured(composer.plan(), function, measure);
            let plan = TablePlan { group: vec![group], ..plan };
            Some((Computation::One(plan), Form::Groups))
        })
    }

    /// The last column with two named values.
    fn column_of_named_groups(&self) -> Option<ColumnPlace> {
        let n_values = |place: ColumnPlace| {
            let is_value = |it: &&Filter| it.place == place && it.value.is_some();
            self.filters.iter().filter(is_value).count()
        };
        self.filters.iter().map(|it| it.place).rfind(|place| 2 <= n_values(*place))
    }

    /// Claims the column after `each`.
    fn take_group(&mut self, end: usize) -> Option<ColumnPlace> {
        let at = self.unclaimed.iter().position(|mention| {
            let start = mention.span.start;
            end <= start && start <= end + MOST_BEHIND
        })?;
        let columns = self.unclaimed.get(at)?.columns.clone();
        self.claim(at);
        columns.into_iter().find(|place| !self.scope.is_measure(*place))
    }
}
