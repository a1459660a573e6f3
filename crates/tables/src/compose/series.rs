//! Composes the past for a question about the future: a figure for each period (PIKE-RAG §5.4, forecasting).

use pikerag_knowledge::data::{Aggregate, ColumnKind, TableGroup, TablePlan};
use pikerag_knowledge::tables::By;

use super::{Composed, Composer, DAY};
use crate::cues::{Ahead, Cues, Goal, Period};
use crate::link::{ColumnMention, link};
use crate::reading::{Computation, Form, SeriesReading, Target};
use crate::scope::{ColumnPlace, Scope};

/// Words in titles of tables about stocks, which exist at a time.
const STOCKS: [&str; 10] = [
    "employment",
    "population",
    "inventory",
    "balance",
    "headcount",
    "就业",
    "人口",
    "库存",
    "余额",
    "在职",
];
/// Words of a question for turnover, the sum of prices.
const TURNOVER: [&str; 8] =
    ["revenue", "turnover", "sales", "销售额", "营业额", "营收", "收入", "总额"];

/// The future periods that a question asks about.
pub(crate) struct When {
    pub(crate) step: By,
    pub(crate) target: Target,
    /// Periods of the question that the table may cover.
    past: Vec<Period>,
    /// Whether the question names a future day, which is shorter than any period.
    names_a_day: bool,
}

/// Finds the question's periods after the last time of a column.
pub(crate) fn when(
    cues: &Cues,
    ahead: &Ahead,
    scope: &Scope<'_>,
    time: ColumnPlace,
) -> Option<When> {
    let last = scope.column(time)?.greatest.clone()?;
    let is_year = scope.kind(time) == ColumnKind::Year;
    let (to_come, past): (Vec<Period>, Vec<Period>) =
        cues.periods.iter().cloned().partition(|period| is_after(period, &last, is_year));
    let named = to_come.last();
    let step = ahead
        .each
        .or(ahead.by)
        .or(ahead.month.map(|_| By::Month))
        .or(named.and_then(grain_of))
        .unwrap_or_else(|| usual_step(scope, time, &last));
    let by = ahead.by.filter(|by| is_longer(*by, step)).unwrap_or(step);
    let target = match (named, ahead.month) {
        (Some(_), _) => {
            let is_open = to_come.iter().any(|period| period.from.is_none());
            let from = to_come.iter().filter_map(|period| period.from.clone()).min();
            let until = to_come.iter().filter_map(|period| period.to.clone()).max()?;
            Target::Named { from: from.filter(|_| !is_open), until }
        }
        (None, Some(month)) => Target::MonthOfNextYear(month),
        // The requested periods are in the past.
        (None, None) if !ahead.is_stated || (ahead.by.is_none() && !past.is_empty()) => {
            return None;
        }
        (None, None) => Target::Next { count: ahead.count.unwrap_or(1).max(1), by },
    };
    let names_a_day = to_come.iter().any(|period| grain_of(period).is_none());
    Some(When { step, target, past, names_a_day })
}

/// The most pieces between `by` and the column of the groups.
const MOST_BEHIND: usize = 2;

/// The reading of a question about the future, over a scope. `None` if the scope has no time, or the question asks for
/// no figure of it.
pub(crate) fn compose_series(
    cues: &Cues,
    ahead: &Ahead,
    scope: &Scope<'_>,
) -> Option<SeriesReading> {
    let links = link(cues, scope);
    let named = links.only_column(|place| scope.kind(place) == ColumnKind::Date);
    let time = named.or_else(|| scope.time_column()).filter(|time| time.table == 0)?;
    let When { step, target, past, names_a_day } = when(cues, ahead, scope, time)?;
    let groups = groups_of_time(scope, time, step)?;
    let mut cues = cues.clone();
    cues.periods = past;
    let mut composer = Composer::with(&cues, scope, links);
    composer.filter_all();
    composer.n_unplaced += usize::from(names_a_day) + usize::from(ahead.is_too_fine);
    // `What will sales be in May?` asks for one month, not for a series of Mays.
    composer.n_unplaced += cues.months.len() + cues.quarters.len();
    // The question may mean the mean of periods, or of the rows in each period.
    composer.n_unplaced += usize::from(ahead.each.is_some() && cues.goal == Goal::Mean);
    let n_extremes = cues.extremes.iter().filter(|extreme| !composer.is_named(extreme)).count();
    composer.n_unplaced += n_extremes + usize::from(cues.occurrence.is_some());
    composer.release(&groups);
    let group = composer.group_of_series();
    composer.n_unplaced += usize::from(cues.each.is_some() && group.is_none());
    let (plan, function) = composer.past(time, step)?;
    let n_times = groups.len();
    let plan = TablePlan {
        group: groups.into_iter().chain(group).collect(),
        order: None,
        limit: None,
        ..plan
    };
    let reading = composer.finish((Computation::One(plan), Form::Groups));
    Some(SeriesReading { reading, step, n_times, target, function })
}

/// The group keys of periods. A date gives its period; a year may need a column of quarters or months. `None` if the
/// table has no periods that short.
pub(crate) fn groups_of_time(
    scope: &Scope<'_>,
    time: ColumnPlace,
    step: By,
) -> Option<Vec<TableGroup>> {
    let group = |place: ColumnPlace, by: By| TableGroup { column: scope.reference(place), by };
    if scope.kind(time) == ColumnKind::Date {
        let last = scope.column(time)?.greatest.as_deref()?;
        let has_step = match step {
            By::Month => 7 <= last.len() && !last.contains('Q'),
            By::Quarter => 7 <= last.len(),
            By::Year | By::Value => true,
        };
        return has_step.then(|| vec![group(time, step)]);
    }
    let year = group(time, By::Value);
    let part = match step {
        By::Month => scope.first_meaning("month"),
        By::Quarter => scope.first_meaning("quarter"),
        By::Year | By::Value => return Some(vec![year]),
    };
    let part = part.filter(|part| part.table == 0 && *part != time)?;
    Some(vec![year, group(part, By::Value)])
}

/// Whether periods of one length are longer than those of another.
fn is_longer(by: By, than: By) -> bool {
    let months = |by: By| match by {
        By::Month => 1,
        By::Quarter => 3,
        By::Year | By::Value => 12,
    };
    months(than) < months(by)
}

/// The greatest day of a month or of a year, as texts compare.
const END_OF_MONTH: &str = "-31";
const END_OF_YEAR: &str = "-12-31";

/// Whether a period ends after the last day of a column. If the column holds only years, a part of the last year may
/// count too.
fn is_after(period: &Period, last: &str, is_year: bool) -> bool {
    let Some(to) = period.to.as_deref().map(by_months) else { return false };
    if let Some(day) = last.get(..DAY) {
        let end = match to.len() {
            4 => format!("{to}{END_OF_YEAR}"),
            7 => format!("{to}{END_OF_MONTH}"),
            _ => to,
        };
        return day < end.as_str();
    }
    if is_year && last.len() < to.len() && to.starts_with(last) {
        return true;
    }
    let last = by_months(last);
    let length = to.len().min(last.len());
    let (to, last) = (to.get(..length), last.get(..length));
    last < to
}

/// A quarter by its last month.
fn by_months(period: &str) -> String {
    match period.split_once("-Q") {
        Some((year, quarter)) => {
            let month = quarter.parse::<u32>().map_or(12, |quarter| 3 * quarter.clamp(1, 4));
            format!("{year}-{month:02}")
        }
        None => period.to_owned(),
    }
}

/// The length of the periods that a question names; `None` for days.
fn grain_of(period: &Period) -> Option<By> {
    let label = period.to.as_deref()?;
    match label.len() {
        4 => Some(By::Year),
        7 if label.contains('Q') => Some(By::Quarter),
        7 => Some(By::Month),
        _ => None,
    }
}

/// The length of the periods of a column, where the question names none.
fn usual_step(scope: &Scope<'_>, time: ColumnPlace, last: &str) -> By {
    match scope.kind(time) {
        ColumnKind::Date if 7 <= last.len() && !last.contains('Q') => By::Month,
        ColumnKind::Date if last.contains('Q') => By::Quarter,
        _ => By::Year,
    }
}

impl Composer<'_> {
    /// Marks mentions of the period columns as used, because they are no measure.
    fn release(&mut self, times: &[TableGroup]) {
        let is_time = |mention: &ColumnMention| {
            mention.columns.iter().all(|place| {
                let column = self.scope.reference(*place);
                times.iter().any(|time| time.column == column)
            })
        };
        let of_time: Vec<usize> = (0..self.unclaimed.len())
            .rev()
            .filter(|at| self.unclaimed.get(*at).is_some_and(is_time))
            .collect();
        for at in of_time {
            self.claim(at);
        }
    }

    /// The figure of each period, before grouping.
    fn past(&mut self, time: ColumnPlace, step: By) -> Option<(TablePlan, Aggregate)> {
        let plan = match self.cues.goal {
            Goal::Share | Goal::Growth | Goal::Difference | Goal::Exists => return None,
            Goal::Mean => self.aggregate(Aggregate::Mean),
            Goal::Median => self.aggregate(Aggregate::Median),
            Goal::Count => self.count(),
            _ if self.counts_by_a_noun() => {
                Some((Computation::One(Self::counted(self.plan())), Form::Figure))
            }
            _ => self.measured_over_time(time, step),
        };
        let Some((Computation::One(plan), _)) = plan else { return None };
        // `How many passengers` asks for a number in the table.
        if plan.measures.is_empty() {
            let shown = plan.show.first().and_then(|shown| self.scope.place(shown));
            let place = shown.filter(|place| self.scope.is_measure(*place))?;
            let function = self.function_of(place, Aggregate::Sum);
            let plan = TablePlan { show: Vec::new(), ..plan };
            return Some((self.measured(plan, function, place), function));
        }
        let function = plan.measures.first()?.function;
        Some((plan, function))
    }

    /// Whether a noun shows that the question counts rows: `the number of flights`.
    fn counts_by_a_noun(&self) -> bool {
        const NOUNS: [&str; 5] = ["number of", "数量", "次数", "件数", "个数"];
        let text = self.cues.text.to_lowercase();
        NOUNS.iter().any(|noun| text.contains(noun)) && !self.has_measure()
    }

    fn measured_over_time(&mut self, time: ColumnPlace, step: By) -> Option<Composed> {
        let place = self.take_measure(None, None).or_else(|| self.scope.only_measure())?;
        let is_single = self.is_unique_in_time(time, step);
        let function = match is_single {
            true => Aggregate::Mean,
            false => self.function_of(place, Aggregate::Mean),
        };
        Some((Computation::One(self.measured(self.plan(), function, place)), Form::Figure))
    }

    /// Whether no period holds more than one row.
    fn is_unique_in_time(&self, time: ColumnPlace, step: By) -> bool {
        let is_year = self.scope.kind(time) == ColumnKind::Year && step == By::Year;
        is_year && self.scope.is_unique(time)
    }

    /// Whether values of a column are summed or averaged over a period. The question decides, then the column's name
    /// and unit, then `usual`.
    fn function_of(&self, place: ColumnPlace, usual: Aggregate) -> Aggregate {
        if let Some(named) = self.named_aggregate() {
            return named;
        }
        let Some(column) = self.scope.column(place) else { return usual };
        match () {
            () if self.asks_for_turnover() => Aggregate::Sum,
            () if self.is_level(place) => Aggregate::Mean,
            () if self.is_amount(place) || self.asks_for_an_amount() => Aggregate::Sum,
            () if self.is_about_stocks() => Aggregate::Mean,
            // Whole numbers count something.
            () if column.kind == ColumnKind::Integer => Aggregate::Sum,
            () => usual,
        }
    }

    /// Whether the question has a word for turnover that is not the name of the table.
    fn asks_for_turnover(&self) -> bool {
        let is_turnover = |at: usize| {
            let rest = self.cues.pieces.get(at).and_then(|piece| self.cues.text.get(piece.start..));
            let rest = rest.unwrap_or_default().to_lowercase();
            // `Shop sales` may be the name of the table.
            let is_topic = |word: &str| word.is_ascii() && self.links.topic.contains(&at);
            TURNOVER.iter().any(|word| rest.starts_with(word) && !is_topic(word))
        };
        (0..self.cues.pieces.len()).any(is_turnover)
    }

    /// Whether the table is about stocks. Their sum over a period means nothing.
    fn is_about_stocks(&self) -> bool {
        let about = self.scope.views.first().map(|view| &view.table);
        let about = about.into_iter().flat_map(|table| table.about.iter().chain([&table.title]));
        let about: Vec<String> = about.map(|text| text.to_lowercase()).collect();
        STOCKS.iter().any(|word| about.iter().any(|text| text.contains(word)))
    }

    fn asks_for_an_amount(&self) -> bool {
        let text = self.cues.text.to_lowercase();
        ["how much", "多少钱", "多少元", "多少美元"].iter().any(|words| text.contains(words))
    }

    /// The column of the groups, if the question asks for a series for each.
    fn group_of_series(&mut self) -> Option<TableGroup> {
        let by = (0..self.cues.pieces.len()).find(|at| self.cues.folded(*at) == "by");
        let each = self.cues.each.clone().or(by.map(|at| at..at + 1))?;
        let at = self.unclaimed.iter().position(|mention| {
            each.end <= mention.span.start && mention.span.start <= each.end + MOST_BEHIND
        })?;
        let places = self.unclaimed.get(at)?.columns.clone();
        let is_kind = |place: &ColumnPlace| {
            matches!(self.scope.kind(*place), ColumnKind::Category | ColumnKind::Identifier)
        };
        let place = places.into_iter().find(is_kind)?;
        self.claim(at);
        Some(TableGroup { column: self.scope.reference(place), by: By::Value })
    }
}
