//! Words figures that are computed from the figures of two plans: difference, growth, share and ratio.

use pikerag_knowledge::data::{DataTable, TableFilter, TablePlan};

use crate::data::{figure, filter_words, plan_words};
use crate::language::Language;
use crate::numbers::number;

/// A figure computed from two.
pub fn two_figures(kind: TwoFigures, first: f64, second: f64, language: Language) -> String {
    let (first_shown, second_shown) = (figure(first), figure(second));
    match kind {
        TwoFigures::Difference => {
            format!("{} ({second_shown} − {first_shown})", figure(second - first))
        }
        TwoFigures::Growth => {
            format!(
                "{}% ({first_shown} → {second_shown})",
                number((second - first) / first * 100.0)
            )
        }
        TwoFigures::Share => format!(
            "{}% ({first_shown} {} {second_shown})",
            number(first / second * 100.0),
            language.either("of", "/"),
        ),
        TwoFigures::Ratio => {
            format!("{} ({first_shown} / {second_shown})", figure(first / second))
        }
    }
}

/// The computation of two plans in words. What both have in common is named once: `number of rows in repairs; machine =
/// lathe; year = 2025 minus year = 2024`.
pub fn two_plans(
    kind: TwoFigures,
    first: &TablePlan,
    second: &TablePlan,
    tables: &[DataTable],
    language: Language,
) -> String {
    let is_shared =
        |filter: &TableFilter| first.filters.contains(filter) && second.filters.contains(filter);
    let shared = |plan: &TablePlan| {
        let filters = plan.filters.iter().filter(|filter| is_shared(filter)).cloned();
        TablePlan { filters: filters.collect(), ..plan.clone() }
    };
    let common = shared(first);
    if common != shared(second) || first == second {
        let words = |plan| plan_words(plan, tables, language);
        return connected(kind, &words(first), &words(second), language);
    }
    let own = |plan: &TablePlan| {
        let own = plan.filters.iter().filter(|filter| !is_shared(filter));
        let own: Vec<String> = own.map(|filter| filter_words(filter, tables, language)).collect();
        match own.is_empty() {
            true => language.either("all of these rows", "这些行的全部").to_owned(),
            false => own.join(language.either(" and ", " 且 ")),
        }
    };
    let separator = language.either("; ", "；");
    let both = connected(kind, &own(first), &own(second), language);
    format!("{}{separator}{both}", plan_words(&common, tables, language))
}

fn connected(kind: TwoFigures, first: &str, second: &str, language: Language) -> String {
    match (kind, language) {
        (TwoFigures::Difference, Language::English) => format!("{second} minus {first}"),
        (TwoFigures::Difference, Language::Chinese) => format!("{second} 减去 {first}"),
        (TwoFigures::Growth, Language::English) => format!("change from {first} to {second}"),
        (TwoFigures::Growth, Language::Chinese) => format!("从 {first} 到 {second} 的变化"),
        (TwoFigures::Share, Language::English) => format!("{first} in percent of {second}"),
        (TwoFigures::Share, Language::Chinese) => format!("{first} 占 {second} 的百分比"),
        (TwoFigures::Ratio, Language::English) => format!("{first} divided by {second}"),
        (TwoFigures::Ratio, Language::Chinese) => format!("{first} 除以 {second}"),
    }
}

/// The computation of one figure from two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TwoFigures {
    /// The second minus the first.
    Difference,
    /// The rise from the first to the second, in percent of the first.
    Growth,
    /// The first in percent of the second.
    Share,
    /// The first divided by the second.
    Ratio,
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::data::{ColumnRef, DataValue, TableMeasure, TableTest};

    use super::*;

    #[test]
    fn two_figures_are_worded() {
        let two = |kind| two_figures(kind, 40.0, 50.0, Language::English);
        assert_eq!(two(TwoFigures::Difference), "10 (50 − 40)");
        assert_eq!(two(TwoFigures::Growth), "25% (40 → 50)");
        assert_eq!(two(TwoFigures::Share), "80% (40 of 50)");
        assert_eq!(two(TwoFigures::Ratio), "0.8 (40 / 50)");
    }

    #[test]
    fn the_common_part_of_two_plans_is_named_once() {
        let filter = |column: &str, value: i64| TableFilter {
            column: ColumnRef { table: "repairs".to_owned(), column: column.to_owned() },
            test: TableTest::Is(vec![DataValue::Integer(value)]),
        };
        let plan = |filters: &[TableFilter]| TablePlan {
            table: "repairs".to_owned(),
            filters: filters.to_vec(),
            measures: vec![TableMeasure::default()],
            ..TablePlan::default()
        };
        let line = filter("line", 3);
        let old = plan(&[line.clone(), filter("year", 2024)]);
        let new = plan(&[line.clone(), filter("year", 2025)]);
        let words = |kind, first: &TablePlan, second: &TablePlan| {
            two_plans(kind, first, second, &[], Language::English)
        };
        assert_eq!(
            words(TwoFigures::Difference, &old, &new),
            "number of rows in repairs; line = 3; year = 2025 minus year = 2024"
        );
        assert_eq!(
            words(TwoFigures::Growth, &old, &new),
            "number of rows in repairs; line = 3; change from year = 2024 to year = 2025"
        );
        assert_eq!(
            words(TwoFigures::Share, &new, &plan(&[line])),
            "number of rows in repairs; line = 3; year = 2025 in percent of all of these rows"
        );
        let other = TablePlan { table: "orders".to_owned(), ..plan(&[]) };
        assert_eq!(
            words(TwoFigures::Ratio, &other, &plan(&[])),
            "number of rows in orders divided by number of rows in repairs"
        );
        assert_eq!(
            two_plans(TwoFigures::Difference, &old, &new, &[], Language::Chinese),
            "repairs：行数；line = 3；year = 2025 减去 year = 2024"
        );
    }
}
