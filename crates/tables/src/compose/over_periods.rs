//! Sums amounts of tables with a row for each thing and period: the electricity of a plant in a year of twelve months.

use pikerag_knowledge::data::{ColumnKind, TableTest};
use pikerag_knowledge::tables::By;

use super::{Composer, DAY};
use crate::cues::Cue;
use crate::scope::ColumnPlace;
use pikerag_typing::period_named;

impl Composer<'_> {
    /// Whether the measure adds up over several rows of a thing: one for each period. For a period, the rows are one
    /// for each thing. The question must not select a single one of them.
    pub(super) fn sums_over_periods(&self, thing: ColumnPlace, measure: ColumnPlace) -> bool {
        let Some(period) = self.period_column() else { return false };
        if !self.is_amount(measure) {
            return false;
        }
        if thing != period {
            return self.is_dense(thing, period) && !self.names_one(period);
        }
        // For example, the quarters of months.
        let least = self.scope.column(period).and_then(|column| column.least.as_deref());
        let is_longer = least.is_some_and(|least| match self.grain_of(period) {
            By::Year => 4 < least.len(),
            By::Quarter => 4 < least.len() && !least.contains('Q'),
            _ => false,
        });
        let mut keys = self.scope.columns().map(|(place, ..)| place);
        is_longer || keys.any(|key| self.is_dense(key, period) && !self.names_one(key))
    }

    /// Whether `how much` asks for the sum of an amount over the periods of things.
    pub(super) fn asks_for_a_sum_over_periods(&self, measure: ColumnPlace) -> bool {
        let Some(period) = self.period_column() else { return false };
        let mut keys = self.scope.columns().map(|(place, ..)| place);
        self.cues.has(Cue::HowMuch)
            && self.is_amount(measure)
            && keys.any(|key| self.is_dense(key, period))
            && !self.names_one(period)
    }

    /// Whether the table has a row for each thing and period. A count of its rows means nothing.
    pub(super) fn is_over_periods(&self) -> bool {
        let mut places = self.scope.columns().map(|(place, ..)| place);
        places.any(|place| self.has_rows_of_periods(place))
    }

    /// The only measure of a table over periods, if no condition limits it. The table's rows are no countable things.
    pub(super) fn number_over_periods(&self) -> Option<ColumnPlace> {
        let only = self.scope.only_measure().filter(|_| self.is_over_periods())?;
        (!self.filters.iter().any(|filter| filter.place == only)).then_some(only)
    }

    /// Whether the question names the period of things, or the thing of periods. Then each has one row.
    pub(super) fn has_one_row_each(&self, thing: ColumnPlace) -> bool {
        let Some(period) = self.period_column() else { return false };
        let mut keys = self.scope.columns().map(|(place, ..)| place);
        match thing == period {
            true => keys.any(|key| self.is_dense(key, period) && self.names_one(key)),
            false => self.is_dense(thing, period) && self.names_one(period),
        }
    }

    /// Whether each value of this column has a row for each period.
    pub(super) fn has_rows_of_periods(&self, place: ColumnPlace) -> bool {
        self.period_column().is_some_and(|period| self.is_dense(place, period))
    }

    /// The column of periods longer than days.
    fn period_column(&self) -> Option<ColumnPlace> {
        let names_periods = || {
            let found = self.scope.columns().find(|(place, column, view)| {
                let is_period = |value: &String| period_named(value).is_some();
                place.table == 0
                    && column.kind == ColumnKind::Category
                    && !view.values.is_empty()
                    && view.values.iter().all(is_period)
            });
            found.map(|(place, ..)| place)
        };
        let time = self.scope.time_column().filter(|time| time.table == 0);
        let place = time.or_else(names_periods)?;
        let greatest = self.scope.column(place)?.greatest.as_ref();
        greatest.is_none_or(|greatest| greatest.len() < DAY).then_some(place)
    }

    /// Whether most values of a column of texts have a row for each period.
    fn is_dense(&self, key: ColumnPlace, period: ColumnPlace) -> bool {
        let (Some(thing), Some(time)) = (self.scope.column(key), self.scope.column(period)) else {
            return false;
        };
        let Some(view) = self.scope.view(key) else { return false };
        let is_text = matches!(thing.kind, ColumnKind::Category | ColumnKind::Identifier);
        let rows = view.table.rows;
        is_text
            && key.table == 0
            && key != period
            && thing.distinct < rows
            && 1 < time.distinct
            && thing.distinct.saturating_mul(time.distinct) < rows.saturating_mul(2)
    }

    /// Whether the filters leave one value of a column.
    fn names_one(&self, place: ColumnPlace) -> bool {
        let least = self.scope.column(place).and_then(|column| column.least.as_deref());
        let greatest = self.scope.column(place).and_then(|column| column.greatest.as_deref());
        let year = |date: Option<&str>| date.and_then(|date| date.get(..4)).map(str::to_owned);
        let is_one_year = year(least) == year(greatest);
        self.filters.iter().any(|filter| {
            filter.place == place
                && match &filter.test {
                    TableTest::Is(values) => values.len() == 1,
                    TableTest::Within(period) => {
                        least.is_some_and(|least| least.len() <= period.len())
                    }
                    TableTest::InMonths(months) => months.len() == 1 && is_one_year,
                    _ => false,
                }
        })
    }
}
