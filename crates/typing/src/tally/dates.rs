//! Counts the cells that are dates, in either order of day and month.

use super::extremes::Extremes;
use crate::date::{DateOrder, Moment, SlashedDate, WrittenDate};

/// The cells that are dates.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DateTally {
    /// The number of dates with one reading.
    pub fixed: u64,
    /// The number of years: `2019` and `2019年`.
    pub years: u64,
    /// The number of these with a mark: `2019年`.
    pub marked_years: u64,
    /// The number of dates of plain digits: `20190305`.
    pub compact: u64,
    /// The number of dates that read with the day first, and with the month first.
    pub day_first: u64,
    pub month_first: u64,
    dotted: u64,
    /// Whether one place is not always 1.
    first_varies: bool,
    second_varies: bool,
    /// Whether some time of day is not midnight.
    pub has_time: bool,
    fixed_extremes: Extremes<Moment>,
    /// The least and greatest of the plain years.
    pub year_extremes: Extremes<Moment>,
    day_first_extremes: Extremes<Moment>,
    month_first_extremes: Extremes<Moment>,
}

impl DateTally {
    pub(super) fn add(&mut self, date: WrittenDate) {
        let before = |left: Moment, right: Moment| left < right;
        match date {
            WrittenDate::Fixed(moment) => {
                self.fixed += 1;
                self.has_time |= moment.second.is_some_and(|second| 0 < second);
                self.fixed_extremes.add(moment, before);
            }
            WrittenDate::Compact(moment) => {
                self.compact += 1;
                self.fixed_extremes.add(moment, before);
            }
            WrittenDate::Year(year) | WrittenDate::MarkedYear(year) => {
                self.years += 1;
                self.marked_years += u64::from(matches!(date, WrittenDate::MarkedYear(_)));
                self.year_extremes.add(Moment::of_year(year), before);
            }
            WrittenDate::Slashed(date) => self.add_slashed(date),
        }
    }

    fn add_slashed(&mut self, date: SlashedDate) {
        let before = |left: Moment, right: Moment| left < right;
        self.dotted += u64::from(date.is_dotted);
        self.first_varies |= date.first != 1;
        self.second_varies |= date.second != 1;
        self.has_time |= date.time.is_some_and(|second| 0 < second);
        if let Some(moment) = date.moment(DateOrder::DayFirst) {
            self.day_first += 1;
            self.day_first_extremes.add(moment, before);
        }
        if let Some(moment) = date.moment(DateOrder::MonthFirst) {
            self.month_first += 1;
            self.month_first_extremes.add(moment, before);
        }
    }

    /// The order of day and month, from all cells.
    ///
    /// If every date reads in both orders: with full stops, the day is first; a place that is always 1 is the day of monthly
    /// figures; else the month is first.
    pub(crate) fn order(&self) -> DateOrder {
        let by_place = self.second_varies && !self.first_varies && 3 <= self.day_first;
        let is_day_first = match self.day_first.cmp(&self.month_first) {
            std::cmp::Ordering::Equal => 0 < self.dotted || by_place,
            order => order.is_gt(),
        };
        if is_day_first { DateOrder::DayFirst } else { DateOrder::MonthFirst }
    }

    /// Dates that are more than a year or a number.
    pub(crate) fn structured(&self) -> u64 {
        self.fixed + self.day_first.max(self.month_first)
    }

    pub(crate) fn extremes(&self) -> Extremes<Moment> {
        let slashed = match self.order() {
            DateOrder::DayFirst => self.day_first_extremes,
            DateOrder::MonthFirst => self.month_first_extremes,
        };
        let before = |left: Moment, right: Moment| left < right;
        self.fixed_extremes.with(self.year_extremes, before).with(slashed, before)
    }
}
