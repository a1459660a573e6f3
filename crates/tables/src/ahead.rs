//! Reads questions about the future as plans over the past: a figure for each period, which forecasts continue
//! (PIKE-RAG §5.4).

use pikerag_knowledge::data::{Aggregate, TableGroup, TableMeasure, TablePlan};

use crate::catalog::Catalog;
use crate::compose::{When, compose_kinds, compose_series, groups_of_time, when};
use crate::cues::Cues;
use crate::reading::{Computation, Form, Reading, SeriesReading};
use crate::scope::{ColumnPlace, Scope};

/// The readings of a question about the future, over each table with a time column; the best first, ordered as by
/// [`crate::readings`].
pub fn readings_ahead(question: &str, catalog: &Catalog) -> Vec<SeriesReading> {
    let (cues, ahead) = Cues::looking_ahead(question);
    let mut found: Vec<SeriesReading> = (0..catalog.tables.len())
        .filter_map(|table| compose_series(&cues, &ahead, &Scope::of_table(catalog, table)?))
        .collect();
    found.sort_by_cached_key(|it| (it.reading.unused_weight(), -it.reading.score));
    found
}

/// The readings of a question for the next value, such as the next fault: the number of rows of each value so far. They
/// cover each table with such a column; the best first, ordered as by [`crate::readings`]. Empty if the question asks
/// for no kind.
pub fn kinds_ahead(question: &str, catalog: &Catalog) -> Vec<Reading> {
    let Some(cues) = Cues::asking_for_a_kind(question) else { return Vec::new() };
    let mut found: Vec<Reading> = (0..catalog.tables.len())
        .filter_map(|table| compose_kinds(&cues, &Scope::of_table(catalog, table)?))
        .collect();
    found.sort_by_cached_key(|reading| (reading.unused_weight(), -reading.score));
    found
}

/// Turns a model's reading of the past into a series: its groups by time become the periods that the question asks
/// about. `None` if the reading has no figure or no time.
pub fn series_of(reading: Reading, question: &str, catalog: &Catalog) -> Option<SeriesReading> {
    let (cues, ahead) = Cues::looking_ahead(question);
    let scope = Scope::of_table(catalog, *reading.tables.first()?)?;
    let Computation::One(plan) = &reading.computation else { return None };
    let keys = plan.group.iter().map(|group| &group.column).chain(&plan.show);
    let places: Vec<ColumnPlace> = keys.filter_map(|column| scope.place(column)).collect();
    let time = places.iter().copied().find(|place| scope.kind(*place).is_time())?;
    let When { step, target, .. } = when(&cues, &ahead, &scope, time)?;
    let times = groups_of_time(&scope, time, step)?;
    let measure = match plan.measures.as_slice() {
        [measure] => measure.clone(),
        // `SELECT date, price` gives a figure of each row.
        [] => {
            let column = places.iter().find(|place| scope.is_measure(**place))?;
            let column = Some(scope.reference(*column));
            TableMeasure { function: Aggregate::Mean, column, ..TableMeasure::default() }
        }
        _ => return None,
    };
    let is_time = |group: &&TableGroup| {
        times.iter().any(|time| time.column == group.column)
            || scope.place(&group.column).is_some_and(|place| scope.kind(place).is_time())
    };
    let others: Vec<TableGroup> =
        plan.group.iter().filter(|group| !is_time(group)).cloned().collect();
    if 1 < others.len() {
        return None;
    }
    let (function, n_times) = (measure.function, times.len());
    let plan = TablePlan {
        group: times.into_iter().chain(others).collect(),
        measures: vec![measure],
        show: Vec::new(),
        order: None,
        limit: None,
        ..plan.clone()
    };
    let reading = Reading { computation: Computation::One(plan), form: Form::Groups, ..reading };
    Some(SeriesReading { reading, step, n_times, target, function })
}

/// Whether a question has words about the future: `will`, `next month`, 预计.
pub fn looks_ahead(question: &str) -> bool {
    Cues::has_words_ahead(question)
}
