//! Composes answers from two figures: differences, growth, shares and comparisons.

use std::ops::Range;

use pikerag_knowledge::data::{Aggregate, ColumnKind, TablePlan, TableTest};
use pikerag_language::pattern;

use super::{Composed, Composer, Filter};
use crate::cues::{Extreme, Period};
use crate::reading::{Computation, Form};
use crate::scope::ColumnPlace;

/// The most pieces between `of` and the measure of the whole.
const MOST_BEHIND_OF: usize = 3;

/// One side of a pair: the filters of its rows.
type Side = Vec<Filter>;

pattern!(
    HOW_MANY_MORE,
    r"\bhow many (?:more|less|fewer)\b|[多少](?:了|出)?多少(?:个|次|张|条|笔|单|件|家|台|人|例|份|起)"
);
pattern!(
    LESS,
    r"\bhow (?:many|much) (?:less|fewer|lower|lighter|shorter|cheaper|smaller|younger)\b|(?:^|[^减])少了?多少|[低轻短矮小]了?多少|便宜了?多少"
);

impl Composer<'_> {
    /// The change between two columns, two periods or two values; `make` gets the earlier plan first.
    pub(super) fn change(
        &mut self,
        make: fn(TablePlan, TablePlan) -> Computation,
    ) -> Option<Composed> {
        if let [first, second] = self.period_columns().as_slice() {
            let plan = self.plan();
            let plans = (self.shown(plan.clone(), &[*first]), self.shown(plan, &[*second]));
            self.unclaimed.retain(|it| !it.columns.contains(first) && !it.columns.contains(second));
            return Some((make(plans.0, plans.1), Form::Figure));
        }
        if let Some([first, second]) = self.period_sides() {
            let named = self.take_measure(None, None);
            let counts_rows = named.is_none() && self.asks_how_many_more();
            let place = match counts_rows {
                true => None,
                false => Some(named.or_else(|| self.scope.only_measure())?),
            };
            self.has_period_gap = false;
            let (from, to) = self.start_first(first, second);
            let plans = (self.figure_of_side(&from, place), self.figure_of_side(&to, place));
            return Some((self.signed(plans, make), Form::Figure));
        }
        let [(first, _), (second, _)] = self.value_sides()?;
        let place = self
            .take_measure(None, None)
            .or_else(|| self.dimension(self.cues.extremes.first()?))
            .or_else(|| match self.cues.extremes.first() {
                Some(extreme) => self.only_measure_of(extreme),
                None => self.scope.only_measure(),
            });
        // `How much heavier is A than B` asks for A minus B.
        let plans = (self.figure_of_side(&second, place), self.figure_of_side(&first, place));
        Some((self.signed(plans, make), Form::Figure))
    }

    /// A change from the first plan to the second. `How much less is A than B` asks for B minus A.
    fn signed(
        &self,
        (from, to): (TablePlan, TablePlan),
        make: fn(TablePlan, TablePlan) -> Computation,
    ) -> Computation {
        match make(from, to) {
            Computation::Difference(from, to) if LESS.is_match(&self.cues.text) => {
                Computation::Difference(to, from)
            }
            other => other,
        }
    }

    /// Whether the question asks how many more rows there are: `how many more orders`, 多多少单.
    fn asks_how_many_more(&self) -> bool {
        !self.links.topic.is_empty() && HOW_MANY_MORE.is_match(&self.cues.text)
    }

    /// The side to start from, and the other one: `from 2023 to 2024`, and `more in 2024 than in 2023`, 2024年比2023年,
    /// start from 2023.
    fn start_first(&self, first: Side, second: Side) -> (Side, Side) {
        let between = match self.cues.periods.as_slice() {
            [one, other] => {
                self.cues.text_between(one.span.end.saturating_sub(1), other.span.start)
            }
            _ => "",
        };
        let is_last = between.split_whitespace().any(|word| word == "than")
            || between.contains('比') && !between.contains("相比");
        if is_last { (second, first) } else { (first, second) }
    }

    /// Decides which of two values or periods has the greater figure.
    pub(super) fn compare(&mut self, extreme: &Extreme) -> Option<Composed> {
        let [(first, first_name), (second, second_name)] =
            self.value_sides().or_else(|| self.compared_periods())?;
        // Each period has a filter of its own, so they have no gap.
        self.has_period_gap &= self.value_sides().is_some();
        let place = self
            .take_measure(Some(&extreme.span), Some(extreme.direction))
            .or_else(|| self.dimension(extreme))
            .or_else(|| self.only_measure_of(extreme).filter(|_| !extreme.can_count()));
        if place.is_none() && !extreme.can_count() {
            return None;
        }
        let plans = [self.figure_of_side(&first, place), self.figure_of_side(&second, place)];
        let computation = Computation::Compare {
            names: [first_name, second_name],
            plans: Box::new(plans),
            greater: extreme.direction.is_descending(),
        };
        Some((computation, Form::Things))
    }

    /// The share of one measure in another, or of the rows with the last named value.
    pub(super) fn share(&mut self) -> Option<Composed> {
        let measures: Vec<(Range<usize>, ColumnPlace)> = self
            .unclaimed
            .iter()
            .filter(|mention| self.has_measure_in(mention))
            .filter_map(|mention| Some((mention.span.clone(), self.choose(mention, None)?)))
            .collect();
        if let [first, second] = measures.as_slice()
            && first.1 != second.1
        {
            // In `the share of the whole …` the whole is first; in `…占…` the part is first.
            let is_whole_first = (first.0.start.saturating_sub(MOST_BEHIND_OF)..first.0.start)
                .any(|at| self.cues.folded(at) == "of");
            let (part, whole) =
                if is_whole_first { (second.1, first.1) } else { (first.1, second.1) };
            for (span, _) in &measures {
                self.mark(span.clone());
            }
            self.unclaimed.retain(|mention| measures.iter().all(|(span, _)| *span != mention.span));
            let sum = |place| self.measured(self.plan(), Aggregate::Sum, place);
            return Some((Computation::Share(sum(part), sum(whole)), Form::Figure));
        }
        // Earlier values belong to the whole.
        let is_mark = |it: &Filter| self.scope.kind(it.place) == ColumnKind::Boolean;
        let is_state = |it: &Filter| {
            let states = [TableTest::IsEmpty, TableTest::IsFilled];
            states.contains(&it.test) || matches!(it.test, TableTest::MoreThan(_)) || is_mark(it)
        };
        let named = self.filters.iter().rposition(|it| it.value.is_some());
        let part = named.or_else(|| self.filters.iter().rposition(is_state))?;
        // Rows with neither yes nor no may or may not belong to the whole.
        let has_gaps = self.filters.iter().any(|it| is_mark(it) && self.has_gaps(it.place));
        self.n_unplaced += usize::from(has_gaps);
        let whole = self.filters.iter().enumerate().filter(|(at, _)| *at != part);
        let whole = self.plan_of(whole.map(|(_, filter)| filter));
        // `The share of the yield that is tomatoes` adds up an amount; it does not count rows. The topic may also be
        // the measure.
        let named = measures.first().map(|(_, place)| *place).or_else(|| {
            let mentions = self.links.columns.iter().filter(|mention| mention.is_whole());
            let mut places = mentions.filter_map(|mention| self.choose(mention, None));
            places.find(|place| self.is_amount(*place))
        });
        let named = named.or_else(|| self.number_over_periods());
        let named = named.filter(|place| self.is_amount(*place));
        let computation = match named {
            Some(place) => {
                for (span, _) in &measures {
                    self.mark(span.clone());
                }
                self.unclaimed.retain(|it| measures.iter().all(|(span, _)| *span != it.span));
                let sum = |plan| self.measured(plan, Aggregate::Sum, place);
                Computation::Share(sum(self.plan()), sum(whole))
            }
            None => Computation::Share(Self::counted(self.plan()), Self::counted(whole)),
        };
        Some((computation, Form::Figure))
    }

    /// The columns that are named after periods: `December 2007` and `December 2009`.
    fn period_columns(&self) -> Vec<ColumnPlace> {
        self.unclaimed
            .iter()
            .filter(|mention| self.cues.periods.iter().any(|it| it.span == mention.span))
            .filter_map(|mention| mention.columns.first().copied())
            .collect()
    }

    /// The sides of two named values of one column, with their names.
    fn value_sides(&self) -> Option<[(Side, String); 2]> {
        let named: Vec<(usize, &Filter)> = self
            .filters
            .iter()
            .enumerate()
            .filter(|(_, filter)| {
                filter.value.is_some()
                    && matches!(filter.test, TableTest::Is(_) | TableTest::Contains(_))
            })
            .collect();
        let [(first, one), (second, other)] = named.iter().find_map(|(_, filter)| {
            let same: Vec<_> =
                named.iter().filter(|(_, it)| it.place == filter.place).copied().collect();
            <[(usize, &Filter); 2]>::try_from(same).ok()
        })?;
        let side = |without: usize, named: &Filter| {
            let filters = self.filters.iter().enumerate().filter(|(at, _)| *at != without);
            let filters = filters.map(|(_, filter)| filter.clone()).collect();
            (filters, named.value.clone().unwrap_or_default())
        };
        Some([side(second, one), side(first, other)])
    }

    /// The sides of the two ends of a range, or of two periods.
    fn period_sides(&self) -> Option<[Side; 2]> {
        let (from, to) = match self.cues.periods.as_slice() {
            [range] if range.is_range => (range.from.as_ref()?, range.to.as_ref()?),
            [first, second] => (first.from.as_ref()?, second.from.as_ref()?),
            _ => return None,
        };
        let time_columns: Vec<ColumnPlace> = [ColumnKind::Date, ColumnKind::Year]
            .into_iter()
            .filter_map(|kind| self.scope.first_of_kind(kind))
            .chain(self.scope.first_meaning("quarter"))
            .collect();
        let is_period =
            |filter: &Filter| filter.value.is_none() && time_columns.contains(&filter.place);
        let others = self.filters.iter().filter(|filter| !is_period(filter));
        let side = |period: &str| -> Option<Side> {
            let tests = self.tests_of(&Period::single(period));
            let own = tests.iter().map(|(place, test)| Filter {
                place: *place,
                test: test.clone(),
                span: 0..0,
                value: None,
                is_exact: true,
            });
            (!tests.is_empty()).then(|| others.clone().cloned().chain(own).collect())
        };
        Some([side(from)?, side(to)?])
    }

    /// The sides of two periods of a question with `or`, `than` or `哪`, with their names.
    fn compared_periods(&self) -> Option<[(Side, String); 2]> {
        let [first, second] = self.cues.periods.as_slice() else { return None };
        let is_pair = !first.is_range
            && !second.is_range
            && first.from != second.from
            && [" or ", "还是", "than", "哪"].iter().any(|word| self.cues.text.contains(word));
        let [first_side, second_side] = self.period_sides().filter(|_| is_pair)?;
        Some([(first_side, first.from.clone()?), (second_side, second.from.clone()?)])
    }

    /// The figure of one side: of a measure, or else the count of rows.
    fn figure_of_side(&self, side: &Side, place: Option<ColumnPlace>) -> TablePlan {
        match place {
            Some(place) => self.side_plan(side, place),
            None => Self::counted(self.plan_of(side)),
        }
    }

    /// The figure of a measure on one side: the named aggregate, or else the value of its only row.
    fn side_plan(&self, side: &Side, place: ColumnPlace) -> TablePlan {
        let plan = self.plan_of(side);
        // Values of several rows add up: the payments of one customer and of another.
        let names_rows =
            side.iter().any(|filter| filter.value.is_some() && self.scope.is_unique(filter.place));
        let added = (!names_rows && self.is_amount(place)).then_some(Aggregate::Sum);
        match self.named_aggregate().or(added) {
            Some(function) => self.measured(plan, function, place),
            None => self.shown(plan, &[place]),
        }
    }
}
