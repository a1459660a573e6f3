//! Finds the columns of a header that are named after periods, and their totals.

use super::periods::{Grain, Period, are_seasons, period_named};
use crate::{header_says, names_total, narrowed};

/// The fewest columns of periods that become rows.
const FEWEST: usize = 3;

/// The columns of a header that are periods of one length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PeriodColumns {
    pub grain: Grain,
    /// The columns of periods, in the order of the header.
    pub periods: Vec<PeriodColumn>,
    /// Columns of totals, averages and longer periods over these periods.
    pub totals: Vec<usize>,
    /// All other columns.
    pub others: Vec<usize>,
    /// The unit that all names of periods have in brackets.
    pub unit: Option<String>,
}

/// A column that is named after a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PeriodColumn {
    pub column: usize,
    pub period: Period,
    /// Its name in the header.
    pub name: String,
}

impl PeriodColumns {
    /// The columns of periods. `None` if the header has fewer than three, or if a row may not have one value for each
    /// period. That is the case if a period occurs twice, or if longer periods are no totals of shorter ones.
    pub(crate) fn of(header: &[String]) -> Option<Self> {
        let mut named: Vec<(PeriodColumn, Option<String>)> = Vec::new();
        let (mut totals, mut others) = (Vec::new(), Vec::new());
        for (column, name) in header.iter().enumerate() {
            let says = header_says(name);
            if let Some(period) = period_named(&says.name) {
                named.push((PeriodColumn { column, period, name: says.name }, says.unit));
            } else if names_total(name) {
                totals.push(column);
            } else {
                others.push(column);
            }
        }
        if named.len() < FEWEST {
            return None;
        }
        // 2024-01-15 beside 2024-01-01, 2012/13 beside 2011/12.
        let is_like_a_period = |column: &usize| {
            header.get(*column).is_some_and(|name| {
                let name = narrowed(name);
                let year = name.get(..4).and_then(|year| year.parse::<u16>().ok());
                year.is_some_and(|year| (1900..=2100).contains(&year))
                    && name.get(4..).is_some_and(|rest| rest.starts_with(['-', '/', '–']))
            })
        };
        if others.iter().any(is_like_a_period)
            || are_seasons(named.iter().map(|(period, _)| period.name.as_str()))
        {
            return None;
        }
        let grain = named.iter().map(|(named, _)| named.period.grain).min()?;
        let (named, longer): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|(named, _)| named.period.grain == grain);
        let unit = named.first().and_then(|(_, unit)| unit.clone());
        let unit = unit.filter(|unit| named.iter().all(|(_, it)| it.as_ref() == Some(unit)));
        let periods: Vec<PeriodColumn> = named.into_iter().map(|(named, _)| named).collect();
        let is_total = |longer: &PeriodColumn| {
            periods.iter().any(|shorter| longer.period.covers(shorter.period))
        };
        if periods.len() < FEWEST
            || are_alike(&periods)
            || !longer.iter().all(|(longer, _)| is_total(longer))
        {
            return None;
        }
        totals.extend(longer.into_iter().map(|(longer, _)| longer.column));
        totals.sort_unstable();
        Some(Self { grain, periods, totals, others, unit })
    }

    /// Whether each name has the year of its period.
    pub(crate) fn have_years(&self) -> bool {
        self.periods.iter().all(|it| it.period.year.is_some())
    }

    /// Whether periods without a year follow each other within one year: April to March span two.
    pub(crate) fn are_within_a_year(&self) -> bool {
        self.periods.is_sorted_by_key(|it| it.period.number)
    }

    /// Whether a column is before all periods.
    pub(crate) fn is_before(&self, column: usize) -> bool {
        self.periods.first().is_some_and(|first| column < first.column)
    }
}

/// Whether a period occurs twice, or only some of the names have a year.
fn are_alike(periods: &[PeriodColumn]) -> bool {
    let mut held: Vec<Period> = periods.iter().map(|it| it.period).collect();
    held.sort_unstable();
    let n_years = held.iter().filter(|period| period.year.is_some()).count();
    held.windows(2).any(|pair| pair.first() == pair.last())
        || (n_years != 0 && n_years != held.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(header: &str) -> String {
        let header: Vec<String> = header.split('|').map(|name| name.trim().to_owned()).collect();
        let Some(found) = PeriodColumns::of(&header) else { return "-".to_owned() };
        let name = |column: &usize| header[*column].as_str();
        let names: Vec<&str> = found.periods.iter().map(|it| it.name.as_str()).collect();
        format!(
            "{:?}: {}; totals: {}; others: {}; unit: {}",
            found.grain,
            names.join(" "),
            found.totals.iter().map(name).collect::<Vec<_>>().join(", "),
            found.others.iter().map(name).collect::<Vec<_>>().join(", "),
            found.unit.unwrap_or_default(),
        )
    }

    #[test]
    fn three_columns_of_periods_are_needed() {
        insta::assert_snapshot!(shown("Plant | Jan | Feb | Mar | Total"), @"Month: Jan Feb Mar; totals: Total; others: Plant; unit:");
        assert_eq!(shown("Plant | Jan | Feb | Total"), "-");
        insta::assert_snapshot!(shown("Country | Area (km2) | 2019 | 2020 | 2021"), @"Year: 2019 2020 2021; totals: ; others: Country, Area (km2); unit:");
        insta::assert_snapshot!(shown("工厂 | 一季度（万元） | 二季度（万元） | 三季度（万元） | 合计 | 全年平均"), @"Quarter: 一季度 二季度 三季度; totals: 合计, 全年平均; others: 工厂; unit: 万元");
    }

    #[test]
    fn longer_periods_are_totals_of_the_shorter_ones_or_the_table_stays_wide() {
        insta::assert_snapshot!(shown("Plant | Jan | Feb | Mar | Q1 | Apr | May | Jun | Q2 | H1 | YTD"), @"Month: Jan Feb Mar Apr May Jun; totals: Q1, Q2, H1, YTD; others: Plant; unit:");
        insta::assert_snapshot!(shown("Plant | Q1 2024 | Q2 2024 | Q3 2024 | Q4 2024 | 2024"), @"Quarter: Q1 2024 Q2 2024 Q3 2024 Q4 2024; totals: 2024; others: Plant; unit:");
        assert_eq!(shown("Plant | 2021 | 2022 | 2023 | Q1 2024 | Q2 2024 | Q3 2024"), "-");
        assert_eq!(shown("Plant | Jan | Feb | Mar | 2023"), "-");
        assert_eq!(shown("Plant | Q1 | Jan | Feb"), "-");
    }

    #[test]
    fn periods_that_are_not_clear_stay_columns() {
        assert_eq!(shown("Plant | Jan | Feb | Mar | Jan | Feb | Mar"), "-");
        assert_eq!(shown("Plant | Jan 2024 | Feb | Mar"), "-");
        assert_eq!(shown("Club | 2009/10 | 2010/11 | 2011/12"), "-");
        assert_eq!(shown("Club | 2009/10 | 2010/11 | 2011/12 | 2012/13"), "-");
        assert_eq!(shown("Plant | 2024-01-01 | 2024-01-15 | 2024-02-01 | 2024-03-01"), "-");
    }

    proptest! {
        #[test]
        fn names_that_are_no_periods_never_trigger(
            names in proptest::collection::vec("[A-Z][a-z]{4,9} [a-z]{2,8}|[A-Z][0-9]{1,3}|No\\. [0-9]{1,2}|[0-9]{1,3}", 0..12),
            periods in proptest::sample::subsequence(vec!["Jan", "2024-02", "Q3", "2019", "三月"], 0..=2),
        ) {
            let header: Vec<String> = names
                .into_iter()
                .filter(|name| !matches!(name.as_bytes(), [b'Q', b'1'..=b'4']))
                .chain(periods.into_iter().map(str::to_owned))
                .collect();
            prop_assert_eq!(PeriodColumns::of(&header), None);
        }

        #[test]
        fn every_column_has_one_part(
            names in proptest::collection::vec("Plant|Area|Total|合计|Q[1-4]|20(19|20|21)|(Jan|Feb|Mar|Apr)( 2024)?", 0..9),
        ) {
            if let Some(found) = PeriodColumns::of(&names) {
                let periods = found.periods.iter().map(|it| it.column);
                let mut all: Vec<usize> = periods.chain(found.totals).chain(found.others).collect();
                all.sort_unstable();
                prop_assert_eq!(all, (0..names.len()).collect::<Vec<_>>());
                prop_assert!(3 <= found.periods.len());
            }
        }
    }
}
