//! Filters rows by months and quarters of any year: `in March`, `第三季度`.

use pikerag_knowledge::data::{ColumnKind, DataColumn, DataValue, TableTest};

use super::{Composer, Filter};
use crate::scope::ColumnPlace;
use pikerag_typing::{Grain, period_named};

impl Composer<'_> {
    /// Filters by a month or quarter of any year. Several may be one condition or two sides, so they stay unplaced.
    pub(super) fn filter_by_parts_of_years(&mut self) {
        let found = match (self.cues.months.as_slice(), self.cues.quarters.as_slice()) {
            ([], []) => return,
            ([month], []) => self.test_of_part(Grain::Month, *month),
            ([], [(quarter, _)]) => self.test_of_part(Grain::Quarter, *quarter),
            _ => None,
        };
        let Some((place, test)) = found else {
            self.n_unplaced += 1;
            return;
        };
        // The question may name the value of a cell.
        if !self.filters.iter().any(|held| held.place == place && held.test == test) {
            self.filters.push(Filter { place, test, span: 0..0, value: None, is_exact: true });
        }
    }

    fn test_of_part(&self, grain: Grain, number: u8) -> Option<(ColumnPlace, TableTest)> {
        if let Some(place) = self.date_of_months() {
            return Some((place, date_test(self.scope.column(place)?, grain, number)?));
        }
        let word = grain.name(false);
        let of_numbers = |place: &ColumnPlace| self.scope.kind(*place) == ColumnKind::Integer;
        if let Some(place) = self.scope.first_meaning(word).filter(of_numbers) {
            return Some((place, TableTest::Is(vec![DataValue::Integer(i64::from(number))])));
        }
        self.scope.columns().find_map(|(place, _, view)| {
            let mut named: Vec<DataValue> = Vec::new();
            for value in &view.values {
                let period = period_named(value).filter(|period| period.year.is_none())?;
                let is_asked = match (grain, period.grain) {
                    (Grain::Quarter, Grain::Month) => period.number.div_ceil(3) == number,
                    (asked, held) => asked == held && period.number == number,
                };
                if is_asked {
                    named.push(DataValue::Text(value.clone()));
                }
            }
            (!named.is_empty()).then_some((place, TableTest::Is(named)))
        })
    }
}

/// The test for dates in a month or quarter; `None` if the dates are less precise.
fn date_test(column: &DataColumn, grain: Grain, number: u8) -> Option<TableTest> {
    let (least, greatest) = (column.least.as_deref(), column.greatest.as_deref());
    let is_of_quarters = least.is_some_and(|least| least.contains('Q'));
    match grain {
        Grain::Month if is_of_quarters => None,
        Grain::Month => Some(TableTest::InMonths(vec![number])),
        _ if is_of_quarters => {
            let year = |date: Option<&str>| date?.get(..4)?.parse::<i16>().ok();
            let years = year(least)?..=year(greatest)?;
            let quarters = years.map(|year| DataValue::Text(format!("{year:04}-Q{number}")));
            Some(TableTest::Is(quarters.collect()))
        }
        _ => {
            let is_in = |month: &u8| month.div_ceil(3) == number;
            Some(TableTest::InMonths((1..=12).filter(is_in).collect()))
        }
    }
}
