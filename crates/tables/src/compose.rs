//! Composes the words of a question into plans over the tables of a scope.

mod ages;
mod amounts;
mod bounds;
mod compared;
mod counts;
mod days;
mod doubts;
mod events;
mod extremes;
mod filters;
mod finish;
mod frequent;
mod groups;
mod kinds;
mod lookup;
mod marks;
mod measures;
mod over_periods;
mod pairs;
mod parts;
mod per_period;
mod periods;
mod plans;
mod rates;
mod redundant;
mod series;
mod things;

use std::ops::Range;

use pikerag_knowledge::data::{Aggregate, TableTest};
use pikerag_language::is_stop_word;

use crate::cues::{Bound, Cues, Extreme, Goal};
use crate::link::{ColumnMention, Links, link};
use crate::reading::{Computation, Form, Reading};
use crate::scope::{ColumnPlace, Scope};
use days::DayPair;
pub(crate) use kinds::compose_kinds;
pub(crate) use series::{When, compose_series, groups_of_time, when};

/// Characters of a date that is precise to the day: `2013-07-05`.
const DAY: usize = 10;

/// A condition on rows, with its words in the question.
#[derive(Clone, Debug)]
struct Filter {
    place: ColumnPlace,
    test: TableTest,
    span: Range<usize>,
    /// The value that the question names; `None` for bounds, periods and missing values.
    value: Option<String>,
    /// Whether the question contains the whole value.
    is_exact: bool,
}

/// How an answer is computed, and its kind.
type Composed = (Computation, Form);

/// The state of one composition.
struct Composer<'a> {
    cues: &'a Cues,
    scope: &'a Scope<'a>,
    links: Links,
    filters: Vec<Filter>,
    /// Mentions of columns that are not in the plan yet, in the order of the question.
    unclaimed: Vec<ColumnMention>,
    /// For each piece: whether the plan uses it.
    used: Vec<bool>,
    /// Words that negate a condition, without those in values: `not` of `not certified`.
    denials: Vec<Range<usize>>,
    /// Comparisons of two columns that are conditions.
    compared: Vec<Range<usize>>,
    /// The bound on the number of rows of a thing: `more than 3 repairs`.
    row_bound: Option<Bound>,
    /// The two dates whose distance the question speaks of.
    day_pair: Option<DayPair>,
    /// The bounds on that distance, which are filters.
    day_bounds: Vec<Range<usize>>,
    /// The number of periods, numbers and other conditions without a column.
    n_unplaced: usize,
    /// Whether the filters of periods cover more than the question names: all of 2010 to 2012 for 2010 and 2012.
    has_period_gap: bool,
}

/// The reading of a question over a scope; `None` if these tables cannot answer it.
pub(crate) fn compose(cues: &Cues, scope: &Scope<'_>) -> Option<Reading> {
    let mut composer = Composer::over(cues, scope);
    composer.filter_all();
    let (computation, form) = composer.decide()?;
    // An unneeded join only loses rows.
    let is_needed = |table: &str| {
        computation.plans().iter().any(|plan| plan.columns().any(|column| column.table == table))
    };
    if !scope.joins.iter().all(|join| is_needed(&join.to.table)) {
        return None;
    }
    Some(composer.finish((computation, form)))
}

impl<'a> Composer<'a> {
    /// A composition with the linked words, and without filters.
    fn over(cues: &'a Cues, scope: &'a Scope<'a>) -> Self {
        Self::with(cues, scope, link(cues, scope))
    }

    fn with(cues: &'a Cues, scope: &'a Scope<'a>, links: Links) -> Self {
        let mut unclaimed = links.columns.clone();
        // A word for the whole table is no part of a column's name, unless `which` asks for it.
        let is_asked = |mention: &ColumnMention| {
            cues.which.as_ref().is_some_and(|which| {
                which.start <= mention.span.start
                    && mention.span.start <= which.end
                    && !mention.columns.iter().any(|place| scope.is_unique(*place))
            })
        };
        unclaimed.retain(|mention| {
            mention.is_whole()
                || is_asked(mention)
                || !mention.span.clone().all(|at| links.topic.contains(&at))
        });
        Self {
            cues,
            scope,
            links,
            filters: Vec::new(),
            unclaimed,
            used: cues.used.clone(),
            denials: Vec::new(),
            compared: Vec::new(),
            row_bound: None,
            day_pair: None,
            day_bounds: Vec::new(),
            n_unplaced: 0,
            has_period_gap: false,
        }
    }
}

impl Composer<'_> {
    /// Filters by all conditions of the question.
    fn filter_all(&mut self) {
        self.filter_by_values();
        self.filter_by_days_between();
        self.filter_by_compared_columns();
        self.filter_by_late_events();
        self.filter_by_periods();
        self.filter_by_events();
        self.filter_by_marks();
        self.filter_by_numbers();
        self.filter_by_bounds();
        self.filter_by_missing_values();
        self.negate_filters();
    }

    /// Decides what to compute.
    fn decide(&mut self) -> Option<Composed> {
        if let Some(found) = self.frequent() {
            return Some(found);
        }
        if let Some(found) = self.days_between() {
            return Some(found);
        }
        match self.cues.goal {
            Goal::Growth => return self.change(Computation::Growth),
            Goal::Share => return self.share(),
            Goal::Difference => {
                if let Some(found) = self.change(Computation::Difference) {
                    return Some(found);
                }
            }
            _ => {}
        }
        // A plan ranks by one extreme. Each further extreme stays unplaced.
        let n_extremes = self.cues.extremes.iter().filter(|it| !self.is_named(it)).count();
        self.n_unplaced += n_extremes.saturating_sub(1);
        let superlative = self.first_extreme(|extreme| !extreme.is_comparative);
        let comparative = self.first_extreme(|extreme| extreme.is_comparative);
        for extreme in comparative.iter().chain(&superlative) {
            if let Some(found) = self.compare(extreme) {
                return Some(found);
            }
        }
        if let Some(extreme) = &superlative
            && let Some(found) = self.extreme_per_group(extreme)
        {
            return Some(found);
        }
        if let Some(extreme) = superlative {
            return self.extreme(&extreme);
        }
        self.n_unplaced += n_extremes.min(1);
        if let Some(occurrence) = self.cues.occurrence
            && let Some(found) = self.first_time(occurrence)
        {
            return Some(found);
        }
        if let Some(found) = self.per_period().or_else(|| self.per_group()) {
            return Some(found);
        }
        match self.cues.goal {
            Goal::Mean => self.aggregate(Aggregate::Mean),
            Goal::Median => self.aggregate(Aggregate::Median),
            Goal::Exists => self.exists(),
            Goal::Count => self.count(),
            Goal::Sum if self.has_measure() || self.is_over_periods() => {
                self.aggregate(Aggregate::Sum)
            }
            _ => self.lookup(),
        }
    }

    fn first_extreme(&self, fits: fn(&Extreme) -> bool) -> Option<Extreme> {
        let mut extremes = self.cues.extremes.iter();
        extremes.find(|extreme| fits(extreme) && !self.is_named(extreme)).cloned()
    }

    /// Whether an extreme belongs to a column's name, as in `daily maximum temperature`, or to a comparison of two
    /// columns.
    fn is_named(&self, extreme: &Extreme) -> bool {
        let is_compared =
            |span: &Range<usize>| span.start <= extreme.span.start && extreme.span.end <= span.end;
        self.compared.iter().any(is_compared) || self.is_part_of_a_name(extreme)
    }

    fn is_part_of_a_name(&self, extreme: &Extreme) -> bool {
        !extreme.is_comparative
            && self.links.columns.iter().any(|mention| {
                mention.is_whole()
                    && 2 <= mention.n_matched
                    && mention.span.start <= extreme.span.start
                    && extreme.span.end <= mention.span.end
            })
    }

    fn is_used(&self, piece: usize) -> bool {
        self.used.get(piece).copied().unwrap_or(true)
    }

    /// Marks a mention with all its spans as used.
    fn mark(&mut self, span: Range<usize>) {
        let further: Vec<Range<usize>> = self
            .links
            .columns
            .iter()
            .filter(|mention| mention.span == span)
            .flat_map(|mention| mention.further_spans.clone())
            .collect();
        for span in further.into_iter().chain([span]) {
            self.mark_only(span);
        }
    }

    fn mark_only(&mut self, span: Range<usize>) {
        for used in self.used.get_mut(span).into_iter().flatten() {
            *used = true;
        }
    }

    /// Removes a mention from the unclaimed ones and marks its words as used.
    fn claim(&mut self, at: usize) {
        if at < self.unclaimed.len() {
            let mention = self.unclaimed.remove(at);
            self.mark(mention.span);
        }
    }

    /// Whether at most `most` pieces are between two spans, and all of them are small words or cues.
    fn is_near(&self, one: &Range<usize>, other: &Range<usize>, most: usize) -> bool {
        let (first, second) = if one.start <= other.start { (one, other) } else { (other, one) };
        let between = first.end..second.start.max(first.end);
        let is_small = |at: usize| {
            self.cues.is_used(at)
                || self.cues.pieces.get(at).is_some_and(|piece| {
                    is_stop_word(&piece.folded)
                        || piece.is_han && "的为是在代码有这那些两三四五种类个".contains(&piece.raw)
                })
        };
        between.len() <= most && between.into_iter().all(is_small)
    }
}
