//! Composes a figure for each period: `orders per month`, 每年的销售额.

use pikerag_knowledge::data::{Aggregate, ColumnKind, TableGroup, TablePlan};
use pikerag_knowledge::tables::By;

use super::{Composed, Composer};
use crate::cues::Goal;
use crate::reading::{Computation, Form};
use crate::scope::ColumnPlace;

impl Composer<'_> {
    /// A figure for each period, if the question asks for one and a column of dates or years gives the periods.
    ///
    /// `None` for the mean of an amount: the mean of the rows of a month and the mean of the months differ.
    pub(super) fn per_period(&mut self) -> Option<Composed> {
        self.or_undone(Self::figure_of_periods)
    }

    /// Composes, or leaves the words unused that the failed composition took.
    pub(super) fn or_undone(
        &mut self,
        compose: impl FnOnce(&mut Self) -> Option<Composed>,
    ) -> Option<Composed> {
        let before = (self.unclaimed.clone(), self.used.clone());
        let found = compose(self);
        if found.is_none() {
            (self.unclaimed, self.used) = before;
        }
        found
    }

    fn figure_of_periods(&mut self) -> Option<Composed> {
        let group = self.group_of_periods()?;
        let named = self.named_aggregate();
        let measure = self.take_measure(None, None);
        let plan = match (named, measure) {
            (Some(Aggregate::Mean | Aggregate::Median), Some(measure))
                if self.is_amount(measure) =>
            {
                return None;
            }
            (Some(function), Some(measure)) => self.measured(self.plan(), function, measure),
            (None, Some(measure)) if self.is_amount(measure) => {
                self.measured(self.plan(), Aggregate::Sum, measure)
            }
            (None, None) if self.cues.goal == Goal::Count && !self.is_over_periods() => {
                Self::counted(self.plan())
            }
            _ => return None,
        };
        let plan = TablePlan { group: vec![group], ..plan };
        Some((Computation::One(plan), Form::Groups))
    }

    /// The groups of periods that the question asks for; their words and the column are used then.
    pub(super) fn group_of_periods(&mut self) -> Option<TableGroup> {
        let (by, span) = self.cues.per_period.clone()?;
        if self.is_period_in_a_name() {
            return None;
        }
        let (time, by) = self.time_of_groups(by)?;
        let named = self.unclaimed.iter().position(|mention| mention.columns.contains(&time));
        if let Some(at) = named {
            self.claim(at);
        }
        self.mark(span);
        Some(TableGroup { column: self.scope.reference(time), by })
    }

    /// Whether the question asks for figures of periods, and the plan has none. In a table without times, `salary per
    /// year` may be the salary, but no count.
    pub(super) fn has_unplaced_periods(&self, computation: &Computation) -> bool {
        let Some((by, _)) = self.cues.per_period else { return false };
        let is_time = |group: &TableGroup| {
            let place = self.scope.place(&group.column);
            place.is_some_and(|place| self.scope.kind(place).is_time())
        };
        let is_placed = |plan: &&TablePlan| plan.group.iter().any(is_time);
        !self.is_period_in_a_name()
            && (self.has_times_of(by) || self.cues.goal == Goal::Count)
            && !computation.plans().iter().any(is_placed)
    }

    /// Whether the word for the period belongs to the name of a column: `Month`, `kWh per year`.
    fn is_period_in_a_name(&self) -> bool {
        let Some((_, span)) = &self.cues.per_period else { return false };
        let last = span.end.saturating_sub(1);
        self.links.columns.iter().any(|mention| {
            let mut spans = mention.further_spans.iter().chain([&mention.span]);
            spans.any(|span| span.contains(&last))
        })
    }

    fn has_times_of(&self, by: By) -> bool {
        let has = |kind| self.scope.first_of_kind(kind).is_some();
        has(ColumnKind::Date) || by == By::Year && has(ColumnKind::Year)
    }

    /// The column whose periods the groups are: the named date, or the only one; for years the only column of years.
    fn time_of_groups(&self, by: By) -> Option<(ColumnPlace, By)> {
        let of_kind = |kind| {
            let mut places = self
                .scope
                .columns()
                .filter(move |(place, column, _)| place.table == 0 && column.kind == kind);
            let first = places.next().map(|(place, ..)| place);
            (first, places.next().is_some())
        };
        match of_kind(ColumnKind::Date) {
            (Some(date), false) => Some((date, by)),
            (Some(_), true) => {
                let named = self.date_of_months()?;
                self.links
                    .columns
                    .iter()
                    .any(|mention| mention.columns == [named])
                    .then_some((named, by))
            }
            (None, _) => match of_kind(ColumnKind::Year) {
                (Some(year), false) if by == By::Year => Some((year, By::Value)),
                _ => None,
            },
        }
    }
}
