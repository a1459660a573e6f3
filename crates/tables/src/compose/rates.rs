//! Finds rates, totals and times of day that a plan would misread.

use pikerag_knowledge::data::{Aggregate, ColumnKind, TablePlan, TableTest};
use pikerag_language::pattern;

use super::Composer;
use crate::cues::Goal;
use crate::reading::Computation;
use crate::scope::ColumnPlace;

pattern!(RATE, r"\b(?:rates?|ratio)\b|[^频效功概]率");
/// Parts of names and units of columns that hold rates.
const RATES: [&str; 9] = ["rate", "ratio", "percent", "pct", "%", "率", "‰", "/", "per "];
/// Values that cover all others of their column.
const TOTALS: [&str; 18] = [
    "total",
    "all",
    "both",
    "both sexes",
    "overall",
    "sum",
    "all ages",
    "subtotal",
    "grand total",
    "合计",
    "总计",
    "全部",
    "全国",
    "小计",
    "总数",
    "不限",
    "男女合计",
    "总体",
];
/// Words in names of columns with times of day, and an upper limit of such times as numbers: 23:59 is 2359.
const TIMES_OF_DAY: [&str; 20] = [
    "dep",
    "departure",
    "arr",
    "arrival",
    "start",
    "end",
    "begin",
    "open",
    "close",
    "clock",
    "sched",
    "sunrise",
    "sunset",
    "出发",
    "到达",
    "开始",
    "结束",
    "上班",
    "下班",
    "起飞",
];
const LATEST: f64 = 2400.0;

impl Composer<'_> {
    /// Whether the question asks for a rate, but no column of the plans holds one.
    pub(super) fn has_no_rate(&self, computation: &Computation) -> bool {
        let is_a_pair = matches!(
            computation,
            Computation::Share(..) | Computation::Growth(..) | Computation::Ratio(..)
        );
        if is_a_pair || self.cues.goal == Goal::Growth || !RATE.is_match(&self.cues.text) {
            return false;
        }
        let plans = computation.plans();
        let places: Vec<ColumnPlace> = plans
            .iter()
            .flat_map(|plan| plan.columns())
            .filter_map(|column| self.scope.place(column))
            .collect();
        // A whole number without a unit counts something; a number with a fraction may be a rate.
        let may_be_a_rate = |place: &ColumnPlace| {
            // `December 2009` is a column in a table of rates.
            let is_period = self.links.columns.iter().any(|mention| {
                mention.columns.contains(place)
                    && self.cues.periods.iter().any(|period| period.span == mention.span)
            });
            is_period
                || self.scope.column(*place).is_some_and(|column| {
                    let name =
                        format!("{} {}", column.name, column.unit.as_deref().unwrap_or_default());
                    let name = name.to_lowercase();
                    column.kind == ColumnKind::Real || RATES.iter().any(|part| name.contains(part))
                })
        };
        let is_in_a_value = self.filters.iter().any(|filter| {
            filter
                .value
                .as_deref()
                .is_some_and(|it| RATE.is_match(&format!(" {}", it.to_lowercase())))
        });
        !is_in_a_value && !places.iter().any(may_be_a_rate)
    }

    /// Whether a plan adds up rows and their totals, such as `both sexes`.
    pub(super) fn adds_up_totals(&self, plan: &TablePlan) -> bool {
        let adds_up =
            plan.measures.iter().any(|it| it.function == Aggregate::Sum && it.column.is_some());
        let is_free = |place: ColumnPlace| {
            let column = self.scope.reference(place);
            let is_distinguished = plan.group.iter().any(|group| group.column == column);
            let is_filtered = plan
                .filters
                .iter()
                .any(|filter| filter.column == column && matches!(filter.test, TableTest::Is(_)));
            !is_distinguished && !is_filtered
        };
        adds_up
            && self.scope.columns().any(|(place, column, view)| {
                let is_total = |value: &String| TOTALS.contains(&value.to_lowercase().as_str());
                column.kind == ColumnKind::Category
                    && is_free(place)
                    && view.values.iter().any(is_total)
            })
    }

    /// Whether a plan adds up or averages times of day, such as 730 and 1415.
    pub(super) fn computes_with_times_of_day(&self, plan: &TablePlan) -> bool {
        plan.measures.iter().any(|measure| {
            let place = measure.column.as_ref().and_then(|column| self.scope.place(column));
            let is_worked_out =
                matches!(measure.function, Aggregate::Sum | Aggregate::Mean | Aggregate::Median);
            is_worked_out && place.is_some_and(|place| self.is_time_of_day(place))
        })
    }

    fn is_time_of_day(&self, place: ColumnPlace) -> bool {
        let Some(column) = self.scope.column(place) else { return false };
        let name = column.name.to_lowercase();
        let says_time = self.scope.has_meaning(place, "time") || name.contains('时');
        let is_in_a_day = self
            .scope
            .range(place)
            .is_some_and(|(least, greatest)| 0.0 <= least && greatest <= LATEST);
        column.unit.is_none()
            && column.kind == ColumnKind::Integer
            && says_time
            && is_in_a_day
            && self.has_word_of(place, &TIMES_OF_DAY)
    }
}
