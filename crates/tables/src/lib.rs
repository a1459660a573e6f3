//! Reads questions over typed tables into plans, by rules for English and Chinese, and the statements that models write
//! (PIKE-RAG §5.4: structuring).

mod ahead;
mod by_model;
mod catalog;
mod compose;
mod cues;
mod joins;
mod lexicon;
mod link;
mod pieces;
mod reading;
mod scope;
#[cfg(test)]
mod tests;
mod units;

pub use ahead::{kinds_ahead, looks_ahead, readings_ahead, series_of};
pub use by_model::{PlanFault, Room, outline, read_statement, shown};
pub use catalog::{Catalog, TableView};
pub use joins::joins;
pub use reading::{Computation, Form, Reading, SeriesReading, Target};

use compose::compose;
use cues::{Cue, Cues, Goal};
use scope::Scope;

/// The readings of a question over each table and over each pair of tables that can be joined, the best first.
///
/// The best reading has the fewest unused words; then one table precedes two; then the higher score wins. Equal
/// readings keep the order of the catalog. The list is empty if no table can answer the question.
pub fn readings(question: &str, catalog: &Catalog) -> Vec<Reading> {
    let cues = Cues::of(question);
    let single = (0..catalog.tables.len()).filter_map(|table| Scope::of_table(catalog, table));
    let joined = joins(catalog)
        .into_iter()
        .filter_map(|(first, second, join)| Scope::of_join(catalog, first, second, join));
    let mut readings: Vec<Reading> =
        single.chain(joined).filter_map(|scope| compose(&cues, &scope)).collect();
    readings.sort_by_cached_key(|reading| {
        (reading.unused_weight(), reading.tables.len(), -reading.score)
    });
    readings
}

/// Whether a question asks for an amount or for a figure over rows, in words that also occur in questions about texts.
pub fn may_ask_for_figure(question: &str) -> bool {
    Cues::of(question).has(Cue::HowMuch) || asks_over_all_rows(question)
}

/// Whether the answer needs all rows of a table: a count, a total, a mean, a share or an extreme. A value of one row or
/// a list of values does not.
pub fn asks_over_all_rows(question: &str) -> bool {
    let cues = Cues::of(question);
    let is_worked_out =
        matches!(cues.goal, Goal::Count | Goal::Sum | Goal::Mean | Goal::Median | Goal::Share);
    let is_aggregate = [Cue::Mean, Cue::Sum, Cue::Distinct].into_iter().any(|cue| cues.has(cue));
    is_worked_out || is_aggregate || cues.count.is_some() || !cues.extremes.is_empty()
}
