//! Words the results of plans: the figures or rows that an answer begins with.

use std::collections::HashSet;

use pikerag_knowledge::data::{
    Aggregate, Arithmetic, ColumnRef, DataTable, DataValue, PlanRow, PlanRows, RowOrigin,
    TablePlan, TableTerm, TableTest,
};
use pikerag_knowledge::worked::Figure;
use pikerag_knowledge::{ChunkId, Span, TaskClass, Worked};
use pikerag_narrate::{
    Language, TwoFigures, data_rows, data_value, number, plan_words, rank_words, two_figures,
    two_plans,
};
use pikerag_tables::{Computation, Form, Reading};

/// Rows that an answer names, at most.
const NAMED: usize = 100;

/// The result of a reading.
pub(super) struct Lead {
    /// The figures or rows, as the answer begins.
    pub(super) text: String,
    /// The figure, or the first cell of each row: readings with the same values answer the same.
    pub(super) values: Vec<String>,
    pub(super) origins: Vec<RowOrigin>,
    /// The first figure of each group, or of each compared thing; empty for other results.
    groups: Vec<Figure>,
}

impl Lead {
    /// Where the rows are, each place once.
    pub(super) fn places(&self) -> impl Iterator<Item = (ChunkId, Span)> {
        let mut seen = HashSet::new();
        let places = self.origins.iter().map(|origin| (origin.chunk, origin.span));
        places.filter(move |place| seen.insert(*place))
    }

    /// What an answer of this class gives, for programs and charts.
    pub(super) fn worked(&self, class: TaskClass) -> Worked {
        Worked { values: self.values.clone(), groups: self.groups.clone(), ..Worked::of(class) }
    }
}

/// The lead of an answer; `None` where the tables hold no figure, or more than one where one is asked for.
pub(super) fn lead(
    reading: &Reading,
    tables: &[DataTable],
    results: &[PlanRows],
    language: Language,
) -> Option<Lead> {
    let plans = reading.computation.plans();
    let (plan, result) = plans.first().copied().zip(results.first())?;
    let both = || Some((figure(plan, result)?, figure(plans.get(1)?, results.get(1)?)?));
    let rows = results.iter().flat_map(|result| &result.rows);
    let lead = |figure: f64, text: String| {
        let origins = rows.flat_map(|row| row.origins.clone()).collect();
        Some(Lead { text, values: vec![number(figure)], origins, groups: Vec::new() })
    };
    match &reading.computation {
        Computation::Difference(..) => {
            let (first, second) = both()?;
            lead(second - first, two_figures(TwoFigures::Difference, first, second, language))
        }
        Computation::Growth(..) => {
            let (first, second) = both().filter(|(first, _)| *first != 0.0)?;
            let growth = (second - first) / first;
            lead(growth, two_figures(TwoFigures::Growth, first, second, language))
        }
        Computation::Share(..) => {
            let (part, whole) = both().filter(|(_, whole)| *whole != 0.0)?;
            lead(part / whole, two_figures(TwoFigures::Share, part, whole, language))
        }
        Computation::Ratio(..) => {
            let (first, second) = both().filter(|(_, second)| *second != 0.0)?;
            lead(first / second, two_figures(TwoFigures::Ratio, first, second, language))
        }
        Computation::Compare { names, greater, .. } => {
            let (first, second) =
                both().filter(|(first, second)| first.total_cmp(second).is_ne())?;
            let is_first = (first > second) == *greater;
            let [one, other] = names;
            let (won, lost) = if is_first { (one, other) } else { (other, one) };
            let (won_by, lost_by) = if is_first { (first, second) } else { (second, first) };
            let (won_by, lost_by) = (number(won_by), number(lost_by));
            let text = match language {
                Language::English => format!("{won}: {won_by}; {lost}: {lost_by}"),
                Language::Chinese => format!("{won}：{won_by}；{lost}：{lost_by}"),
            };
            let groups = [(one, first), (other, second)].map(|(name, value)| Figure {
                key: vec![name.clone()],
                value: Some(value),
                unit: None,
                things: Vec::new(),
            });
            Some(Lead { values: vec![won.clone()], groups: groups.into(), ..lead(first, text)? })
        }
        Computation::One(_) => one(reading, plan, result, tables, language),
    }
}

fn one(
    reading: &Reading,
    plan: &TablePlan,
    result: &PlanRows,
    tables: &[DataTable],
    language: Language,
) -> Option<Lead> {
    let skipped = reading.nth.map_or(0, |nth| nth.saturating_sub(1));
    let rows: Vec<&PlanRow> = result.rows.iter().skip(skipped).collect();
    let units = units(plan, tables);
    let cells = |row: &PlanRow| -> Vec<(DataValue, Option<String>)> {
        let units = units.iter().cloned().chain(std::iter::repeat(None));
        row.cells.iter().map(rounded).zip(units).collect()
    };
    if reading.form == Form::Exists {
        let text = match (0 < result.matched, language) {
            (true, Language::English) => format!("Yes: {} rows", result.matched),
            (false, Language::English) => "No: there is no such row".to_owned(),
            (true, Language::Chinese) => format!("有：{} 行", result.matched),
            (false, Language::Chinese) => "没有：没有这样的行".to_owned(),
        };
        let origins = rows.iter().flat_map(|row| row.origins.clone()).collect();
        return Some(Lead { values: vec![text.clone()], text, origins, groups: Vec::new() });
    }
    let is_count = plan
        .measures
        .first()
        .is_some_and(|measure| matches!(measure.function, Aggregate::Count | Aggregate::Distinct));
    // A mean or an extreme of nothing is no figure.
    let has_value = rows.iter().any(|row| row.cells.iter().any(|cell| *cell != DataValue::Empty));
    // No rows for a part of a name are a sign that the question was misread.
    let is_by_part =
        plan.filters.iter().any(|filter| matches!(filter.test, TableTest::Contains(_)));
    if rows.is_empty() || !has_value || (result.matched == 0 && (!is_count || is_by_part)) {
        return None;
    }
    let shown: Vec<Vec<(DataValue, Option<String>)>> =
        rows.iter().take(NAMED).map(|row| cells(row)).collect();
    let mut seen = Vec::new();
    for row in shown {
        if !seen.contains(&row) {
            seen.push(row);
        }
    }
    let all = if rows.len() <= NAMED { seen.len() } else { rows.len() };
    let origins = rows.iter().flat_map(|row| row.origins.clone()).collect();
    // Of a ranked or shown row the first cell; of figures all cells.
    let n_shown = if plan.measures.is_empty() || plan.limit.is_some() { 1 } else { usize::MAX };
    let cells = seen.iter().flat_map(|row| row.iter().take(n_shown));
    let values = cells.map(|(value, _)| data_value(value, None, language)).collect();
    let groups = groups(plan, &rows, &units, language);
    Some(Lead { text: data_rows(&seen, all, language), values, origins, groups })
}

/// The first figure of each group, as many as an answer names.
fn groups(
    plan: &TablePlan,
    rows: &[&PlanRow],
    units: &[Option<String>],
    language: Language,
) -> Vec<Figure> {
    let n_keys = plan.group.len();
    if n_keys == 0 || plan.measures.is_empty() || plan.over.is_some() {
        return Vec::new();
    }
    let group = |row: &&PlanRow| Figure {
        key: row.cells.iter().take(n_keys).map(|key| data_value(key, None, language)).collect(),
        value: row.cells.get(n_keys).and_then(|figure| as_number(&rounded(figure))),
        unit: units.get(n_keys).cloned().flatten(),
        things: Vec::new(),
    };
    rows.iter().take(NAMED).map(group).collect()
}

/// How a question was understood: its plans in words.
pub(super) fn understood(reading: &Reading, tables: &[DataTable], language: Language) -> String {
    let words = |plan| plan_words(plan, tables, language);
    let two = |kind, first, second| two_plans(kind, first, second, tables, language);
    let rank = reading.nth.map(|nth| rank_words(nth, language)).unwrap_or_default();
    match &reading.computation {
        Computation::One(plan) => words(plan) + &rank,
        Computation::Difference(first, second) => two(TwoFigures::Difference, first, second),
        Computation::Growth(first, second) => two(TwoFigures::Growth, first, second),
        Computation::Share(first, second) => two(TwoFigures::Share, first, second),
        Computation::Ratio(first, second) => two(TwoFigures::Ratio, first, second),
        Computation::Compare { plans, .. } => {
            let [first, second] = plans.as_ref();
            [words(first), words(second)].join(language.separator())
        }
    }
}

/// The words of a result with the plan that gives it.
pub(super) fn with_plan(lead: &str, plan: &str, language: Language) -> String {
    match language {
        Language::English => format!("{lead} ({plan})"),
        Language::Chinese => format!("{lead}（{plan}）"),
    }
}

/// The one number that a plan gives.
fn figure(plan: &TablePlan, result: &PlanRows) -> Option<f64> {
    let mut numbers = result.rows.iter().map(|row| row.cells.last().and_then(as_number));
    let first = numbers.next()??;
    // Several rows with the same value give one figure, if no measure computed it.
    let is_one = numbers.all(|other| other == Some(first));
    let is_allowed = plan.measures.is_empty() || result.rows.len() == 1;
    (is_one && is_allowed).then_some(first)
}

/// A number; `None` for texts and empty cells.
pub(super) fn as_number(value: &DataValue) -> Option<f64> {
    match value {
        DataValue::Integer(whole) => Some(*whole as f64),
        DataValue::Real(real) => Some(*real),
        DataValue::Empty | DataValue::Text(_) => None,
    }
}

/// A figure without digits that come from floating-point arithmetic only.
fn rounded(value: &DataValue) -> DataValue {
    let DataValue::Real(real) = value else { return value.clone() };
    let digits = if real.abs() < 0.01 { 1e9 } else { 1e4 };
    let rounded = (real * digits).round() / digits;
    match rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        true => DataValue::Integer(rounded as i64),
        false => DataValue::Real(rounded),
    }
}

/// The unit of each cell of a row, in order.
fn units(plan: &TablePlan, tables: &[DataTable]) -> Vec<Option<String>> {
    let unit = |column: &ColumnRef| {
        let table = tables.iter().find(|table| table.name == column.table)?;
        table.column(&column.column)?.unit.clone()
    };
    let n_keys = if plan.over.is_some() { 0 } else { plan.group.len() };
    let groups = plan.group.iter().take(n_keys).map(|group| unit(&group.column));
    let measures = plan.measures.iter().map(|measure| {
        let is_number = |function| matches!(function, Aggregate::Count | Aggregate::Distinct);
        let counts = is_number(measure.function) || plan.over.is_some_and(is_number);
        let own = measure.column.as_ref().filter(|_| !counts).and_then(&unit);
        match &measure.with {
            _ if measure.is_share => Some("%".to_owned()),
            None => own,
            Some(TableTerm { by: Arithmetic::Plus | Arithmetic::Minus, column }) => {
                own.filter(|own| unit(column).as_ref() == Some(own))
            }
            Some(_) => None,
        }
    });
    let shown = plan.show.iter().map(&unit);
    groups.chain(measures).chain(shown).collect()
}
