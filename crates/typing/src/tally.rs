//! Collects the cells of one column under every kind that they may turn out to be, in bounded memory.

mod dates;
mod extremes;
mod numbers;
mod texts;

use std::collections::BTreeMap;

use super::date::written_date;
use super::marks::{Mark, mark, truth};
use super::narrow::narrowed;
use super::number::written_number;
use super::values::Values;

use dates::DateTally;
use texts::{TextTally, TruthTally};

pub(super) use extremes::Extremes;
pub(super) use numbers::{NumberReading, NumberTally, UnitTally};

/// The cells of a column.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// The number of all cells, missing ones too.
    pub rows: u64,
    /// The number of cells without a mark of a missing value.
    pub filled: u64,
    /// Cells with a mark that may be a value, by the mark. The list of such marks bounds it.
    pub marks: BTreeMap<String, u64>,
    pub values: Values,
    pub truths: TruthTally,
    pub numbers: NumberTally,
    pub dates: DateTally,
    pub texts: TextTally,
}

impl Tally {
    pub(super) fn new(most_distinct: usize) -> Self {
        Self {
            rows: 0,
            filled: 0,
            marks: BTreeMap::new(),
            values: Values::new(most_distinct),
            truths: TruthTally::default(),
            numbers: NumberTally::default(),
            dates: DateTally::default(),
            texts: TextTally::default(),
        }
    }

    pub(super) fn add(&mut self, cell: &str) {
        let cell = cell.trim();
        self.rows += 1;
        match mark(cell) {
            Some(Mark::Always) => return,
            Some(_) => {
                *self.marks.entry(cell.to_owned()).or_default() += 1;
                return;
            }
            None => {}
        }
        self.filled += 1;
        self.values.add(cell, 1);
        self.texts.add(cell);
        if let Some(truth) = truth(cell) {
            self.truths.add(truth);
            return;
        }
        let narrow = narrowed(cell);
        if let Some(number) = written_number(&narrow) {
            self.numbers.add(number);
        }
        if let Some(date) = written_date(&narrow) {
            self.dates.add(date);
        }
    }

    /// The number of cells with a mark of this sort.
    pub(super) fn marked(&self, sort: Mark) -> u64 {
        let of_sort = self.marks.iter().filter(|(cell, _)| mark(cell) == Some(sort));
        of_sort.map(|(_, times)| times).sum()
    }
}
