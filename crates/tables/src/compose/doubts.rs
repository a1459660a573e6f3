//! Finds readings that use all words of a question but may answer another one. Examples: one row's value for a group's
//! sum, rows for things, another unit.

use pikerag_knowledge::data::{Aggregate, ColumnKind, ColumnRef, OrderBy, TableMeasure, TablePlan};
use pikerag_knowledge::tables::By;

use super::bounds::TIMES;
use super::{Composer, DAY};
use crate::catalog::TableView;
use crate::cues::{Cue, Goal};
use crate::lexicon::meanings;
use crate::reading::Computation;
use crate::scope::ColumnPlace;
use crate::units::unit_of;

impl Composer<'_> {
    /// The number of doubts about a reading.
    pub(super) fn n_doubts(&self, computation: &Computation) -> usize {
        let text = self.cues.text.to_lowercase();
        let plans = computation.plans();
        let any =
            |is_doubtful: &dyn Fn(&TablePlan) -> bool| plans.iter().any(|plan| is_doubtful(plan));
        let doubts = [
            // `First-time donors` are not the first donors; `for the first time` asks for the first.
            text.contains("first-time")
                || (text.contains("first time") && !text.contains("the first time")),
            // The question asks for a change, but no two figures show it.
            self.cues.goal == Goal::Difference
                && matches!(computation, Computation::One(plan) if plan.measures.is_empty()),
            any(&|plan| self.is_extreme_of_rows(plan)),
            any(&|plan| self.is_mean_within_days(plan)),
            any(&|plan| self.is_distinct_of_marks(plan)),
            any(&|plan| self.is_in_another_unit(plan)),
            any(&|plan| self.counts_rows_of_things(plan)),
            any(&|plan| self.shows_a_day_for_a_longer_period(plan, &text)),
            any(&|plan| self.is_of_another_event(plan)),
            any(&|plan| self.adds_up_totals(plan)),
            any(&|plan| self.computes_with_times_of_day(plan)),
            any(&|plan| self.counts_rows_of_a_thing(plan)),
            any(&|plan| self.counts_rows_of_periods(plan)),
            any(&|plan| self.is_no_money(plan, &text)),
            self.has_no_rate(computation),
            self.leaves_an_event_out(computation),
            any(&|plan| self.is_of_an_unnamed_beginning(plan)),
            any(&|plan| self.shows_no_amount(plan)),
            self.is_late_without_a_term(),
            any(&|plan| self.is_mean_per_thing(plan)),
            any(&|plan| self.counts_rows_as_people(plan)),
        ];
        doubts.into_iter().filter(|is_open| *is_open).count()
    }

    /// Whether an extreme of groups may mean one row or the sum of all rows: the shop with the greatest sales, with
    /// many rows for each shop.
    fn is_extreme_of_rows(&self, plan: &TablePlan) -> bool {
        let (Some(order), true) = (&plan.order, plan.measures.is_empty()) else { return false };
        let (OrderBy::Column(by), Some(thing)) = (&order.by, plan.show.first()) else {
            return false;
        };
        let (Some(by), Some(thing)) = (self.scope.place(by), self.scope.place(thing)) else {
            return false;
        };
        let is_one_period = plan.filters.iter().any(|filter| {
            self.scope.place(&filter.column).is_some_and(|place| self.scope.kind(place).is_time())
        });
        // `The most expensive repair` means a row.
        let names_rows = self.cues.extremes.iter().any(|extreme| {
            let end = extreme.span.end;
            let is_measure = self
                .links
                .columns
                .iter()
                .any(|it| (end..=end + 1).contains(&it.span.start) && it.columns.contains(&by));
            self.links.topic.contains(&end) && !is_measure
        });
        if names_rows {
            return false;
        }
        let is_kind = matches!(self.scope.kind(thing), ColumnKind::Category | ColumnKind::Date);
        is_kind
            && !self.scope.is_unique(thing)
            && self.is_amount(by)
            && !is_one_period
            && !self.has_one_row_each(thing)
    }

    /// Whether `the mean of each day` may mean the day's rows or the days.
    fn is_mean_within_days(&self, plan: &TablePlan) -> bool {
        let is_mean = plan.measures.iter().any(|measure| measure.function == Aggregate::Mean);
        is_mean
            && plan.group.iter().any(|group| {
                let place = self.scope.place(&group.column);
                group.by == By::Value
                    && place.is_some_and(|place| {
                        self.scope.kind(place) == ColumnKind::Date && !self.scope.is_unique(place)
                    })
            })
    }

    /// Whether the plan counts different values of a yes/no column.
    fn is_distinct_of_marks(&self, plan: &TablePlan) -> bool {
        const MARKS: u64 = 2;
        plan.measures.iter().any(|measure| {
            let column = measure.column.as_ref().and_then(|column| self.scope.place(column));
            let column = column.and_then(|place| self.scope.column(place));
            measure.function == Aggregate::Distinct
                && column.is_some_and(|column| column.distinct <= MARKS)
        })
    }

    /// Whether the plan counts rows for `how many litres`, or uses a measure in hours for `how many days`.
    fn is_in_another_unit(&self, plan: &TablePlan) -> bool {
        let Some(count) = &self.cues.count else { return false };
        let last = self.cues.text_of(count.clone()).chars().next_back();
        let last = last.map(String::from).unwrap_or_default();
        let asked = [self.cues.folded(count.end), last.as_str()].into_iter().find_map(unit_of);
        let Some(asked) = asked else { return false };
        // 多少份 may count contracts or portions.
        let has_portions =
            || self.scope.columns().any(|(_, column, _)| column.unit.as_deref() == Some("份"));
        if asked == "份" && !has_portions() {
            return false;
        }
        plan.measures.iter().any(|measure: &TableMeasure| {
            let column = measure.column.as_ref().and_then(|column| self.scope.place(column));
            let own = column.and_then(|place| self.scope.column(place)?.unit.clone());
            match (
                own.as_deref().map(str::to_lowercase).as_deref().and_then(unit_of),
                &measure.column,
            ) {
                (Some(own), _) => TIMES.contains(&own) && TIMES.contains(&asked) && own != asked,
                // Days and hours may be rows, but litres are not.
                (None, None) => !TIMES.contains(&asked),
                (None, Some(_)) => false,
            }
        })
    }

    /// Whether `how many days did the trip take` counts the row of the trip.
    fn counts_rows_of_a_thing(&self, plan: &TablePlan) -> bool {
        let Some(count) = &self.cues.count else { return false };
        let last = self.cues.text_of(count.clone()).chars().next_back();
        let last = last.map(String::from).unwrap_or_default();
        let unit = [self.cues.folded(count.end), last.as_str()].into_iter().find_map(unit_of);
        let is_of_one_thing = self
            .filters
            .iter()
            .any(|filter| filter.value.is_some() && self.scope.is_unique(filter.place));
        let has_unit = self
            .scope
            .columns()
            .any(|(_, column, _)| column.unit.as_deref().and_then(unit_of) == unit);
        unit.is_some_and(|unit| TIMES.contains(&unit))
            && plan.measures.iter().any(|measure| measure.column.is_none())
            && (is_of_one_thing || has_unit)
    }

    /// Whether the mean for each customer may mean their rows or their sums, with many rows for each customer.
    fn is_mean_per_thing(&self, plan: &TablePlan) -> bool {
        let is_mean = plan.measures.iter().any(|measure| {
            let place = measure.column.as_ref().and_then(|column| self.scope.place(column));
            measure.function == Aggregate::Mean && place.is_some_and(|place| self.is_amount(place))
        });
        let per = self.cues.each.clone().filter(|each| self.cues.folded(each.start) == "per");
        is_mean
            && per.is_some_and(|per| {
                let behind = per.end;
                // The mean covers all rows although the table has a column of things, or the column has names, not
                // kinds.
                let is_thing = |place: &ColumnPlace| {
                    !self.scope.is_unique(*place)
                        && (plan.group.is_empty()
                            || self.scope.kind(*place) == ColumnKind::Identifier)
                };
                self.links.columns.iter().any(|mention| {
                    mention.span.start == behind && mention.columns.iter().any(is_thing)
                })
            })
    }

    /// Whether the plan counts rows for `how many people`, and nothing in the table is about persons.
    fn counts_rows_as_people(&self, plan: &TablePlan) -> bool {
        const PEOPLE: [&str; 5] = ["people", "persons", "employees", "人", "员工"];
        const PERSONS: [&str; 15] = [
            "employee",
            "patient",
            "customer",
            "student",
            "passenger",
            "driver",
            "lawyer",
            "candidate",
            "victim",
            "trainee",
            "guest",
            "manager",
            "sex",
            "age",
            "birth",
        ];
        const NAMES: [&str; 4] = ["姓名", "surname", "first name", "last name"];
        let Some(count) = &self.cues.count else { return false };
        let asks_for_people =
            (count.start..=count.end).any(|at| PEOPLE.contains(&self.cues.folded(at)));
        let is_count = plan.measures.iter().any(|measure| measure.column.is_none());
        let is_person = |word: &&str| {
            let wanted = meanings(&pikerag_language::stem(word));
            // A handbook for employees has tables of other things.
            let is_topic =
                |view: &&TableView| wanted.iter().any(|it| view.topic_meanings.contains(it));
            // A department with its manager is no person.
            self.scope.views.iter().any(is_topic)
                || (*word != "manager" && self.scope.first_meaning(word).is_some())
        };
        let has_names = self.scope.columns().any(|(_, column, _)| {
            NAMES.contains(&column.name.to_lowercase().replace('_', " ").as_str())
        });
        asks_for_people && is_count && !has_names && !PERSONS.iter().any(is_person)
    }

    /// Whether `how much did Acme pay` shows days or names.
    fn shows_no_amount(&self, plan: &TablePlan) -> bool {
        const HOW_MUCH: [&str; 3] = ["how much", "多少钱", "多少元"];
        let text = self.cues.text.to_lowercase();
        let is_amount = |column: &ColumnRef| {
            let place = self.scope.place(column);
            place.is_some_and(|place| self.scope.is_number(place))
        };
        HOW_MUCH.iter().any(|words| text.contains(words))
            && plan.measures.is_empty()
            && !plan.show.iter().any(is_amount)
    }

    /// Whether the question asks for money, but the figure has another unit.
    fn is_no_money(&self, plan: &TablePlan, text: &str) -> bool {
        const MONEY: [&str; 7] = ["money", "fees", "dollars", "euros", "费", "钱", "元"];
        const CURRENCIES: [&str; 8] = ["usd", "eur", "gbp", "jpy", "cny", "万元", "亿元", "keur"];
        let is_asked = MONEY.iter().any(|word| text.contains(word));
        let measured = plan.measures.iter().filter_map(|measure| measure.column.as_ref());
        is_asked
            && measured.chain(&plan.show).any(|column| {
                let place = self.scope.place(column).filter(|it| self.scope.is_measure(*it));
                let unit = place.and_then(|place| self.scope.column(place)?.unit.as_deref());
                let unit = unit.map(str::to_lowercase);
                let unit = unit.as_deref().map(|unit| unit_of(unit).unwrap_or(unit));
                unit.is_some_and(|unit| !CURRENCIES.contains(&unit))
            })
    }

    /// Whether the plan counts rows of a table with a row for each thing and period. Such a count means nothing.
    fn counts_rows_of_periods(&self, plan: &TablePlan) -> bool {
        let counts_rows = plan.measures.iter().any(|it| it == &TableMeasure::default());
        counts_rows && plan.group.is_empty() && self.number_over_periods().is_some()
    }

    /// Whether `how many trucks` counts rows of a table with a row for each repair and a column of trucks.
    fn counts_rows_of_things(&self, plan: &TablePlan) -> bool {
        let is_count = plan.measures.iter().all(|measure| measure.column.is_none());
        let (Some(count), true) = (&self.cues.count, is_count && !plan.measures.is_empty()) else {
            return false;
        };
        self.links.columns.iter().any(|mention| {
            let is_behind = count.end.saturating_sub(1) <= mention.span.start
                && mention.span.start <= count.end + 1;
            let is_thing = |place: &ColumnPlace| {
                let kind = self.scope.kind(*place);
                matches!(kind, ColumnKind::Category | ColumnKind::Identifier)
                    && !self.scope.is_unique(*place)
            };
            let is_filtered =
                |place: &ColumnPlace| self.filters.iter().any(|it| it.place == *place);
            // `How many supplier invoices`: the head noun follows.
            let is_modifier = self.links.topic.contains(&mention.span.end);
            is_behind
                && !is_modifier
                && mention.is_whole()
                && !mention.columns.iter().any(is_filtered)
                && mention.columns.iter().all(is_thing)
                && mention.span.clone().all(|at| self.links.topic.contains(&at))
        })
    }

    /// Whether the plan shows a row's day although the question asks for a month or a year.
    fn shows_a_day_for_a_longer_period(&self, plan: &TablePlan, text: &str) -> bool {
        const LONGER: [&str; 9] = [
            "which month",
            "what month",
            "which year",
            "what year",
            "which quarter",
            "哪个月",
            "哪一年",
            "哪年",
            "哪个季度",
        ];
        let is_day = |column: &ColumnRef| {
            let place = self.scope.place(column);
            place.is_some_and(|place| {
                let greatest = self.scope.column(place).and_then(|column| column.greatest.as_ref());
                self.scope.kind(place) == ColumnKind::Date
                    && !self.scope.is_unique(place)
                    && greatest.is_some_and(|greatest| DAY <= greatest.len())
            })
        };
        plan.order.is_some()
            && self.cues.occurrence.is_none()
            && LONGER.iter().any(|words| text.contains(words))
            && plan.measures.is_empty()
            && plan.show.iter().any(is_day)
    }

    /// Whether `how much` asks for a sum, because the values add up.
    pub(super) fn asks_for_a_sum_of(&self, place: ColumnPlace) -> bool {
        self.cues.has(Cue::HowMuch)
            && self.cues.text.to_lowercase().contains("how much")
            && self.is_amount(place)
    }
}
