//! Detects the kinds of the columns of a table, and reads its cells as values.
//!
//! A table is read twice. In the first pass, a [`ColumnGuess`] sees every cell of its column and settles on a
//! [`TypedColumn`]. In the second pass, the typed column reads each cell.

mod date;
mod head;
mod left_out;
mod long;
mod marks;
mod names;
mod narrow;
mod number;
mod reading;
mod settle;
mod tally;
mod units;
mod values;

use pikerag_knowledge::data::{ColumnKind, DataColumn, DataValue};

use head::{Header, read_header};
use marks::{MissingMarks, mark};
use reading::{Reading, shown_value};
use settle::{Decision, decide};
use tally::Tally;

pub(crate) use head::header_says;
pub use left_out::is_left_out;
pub(crate) use left_out::names_total;
pub use long::{Grain, Period, TypedRows, period_named};
pub(crate) use marks::is_missing;
pub use names::sql_names;
pub(crate) use narrow::narrowed;

/// Collects the cells of one column, to decide its kind.
///
/// Memory is bounded: some kilobytes, and at most 40 bytes for each different value that is counted.
#[derive(Clone, Debug)]
pub struct ColumnGuess {
    header: Header,
    tally: Tally,
}

impl ColumnGuess {
    /// A column with this header and no cells yet.
    pub fn new(header: &str) -> Self {
        let most = usize::try_from(DataColumn::MOST_DISTINCT).unwrap_or(usize::MAX);
        Self { header: read_header(header), tally: Tally::new(most) }
    }

    /// Limits the number of counted different values, for tables of thousands of columns.
    ///
    /// A column with more different values is no category.
    #[must_use]
    pub fn with_most_distinct(mut self, most: usize) -> Self {
        self.tally.values.limit(most);
        self
    }

    /// The same cells under another header.
    #[must_use]
    pub(crate) fn under(self, header: &str) -> Self {
        Self { header: read_header(header), ..self }
    }

    /// Adds a cell as it is written, also an empty one.
    pub fn see(&mut self, cell: &str) {
        self.tally.add(cell);
    }

    /// Decides the kind of the column.
    pub fn settle(self) -> TypedColumn {
        let Self { header, mut tally } = self;
        let decision = decide(&header, &tally);
        let mut filled = tally.filled;
        for (cell, times) in std::mem::take(&mut tally.marks) {
            if mark(&cell).is_some_and(|mark| !decision.missing.include(mark)) {
                filled += times;
                tally.values.add(&cell, u32::try_from(times).unwrap_or(u32::MAX));
            }
        }
        let Decision { kind, reading, missing, unit, read, least, greatest } = decision;
        let distinct = tally.values.distinct();
        let samples = samples(kind, &reading, tally.values.into_samples());
        let name = match unit.is_some() && unit == header.unit {
            true => header.bare,
            false => header.name,
        };
        let column = DataColumn {
            name,
            sql: String::new(),
            kind,
            unit,
            filled,
            unread: filled.saturating_sub(read),
            distinct,
            least,
            greatest,
            samples,
        };
        TypedColumn { column, reading, missing }
    }
}

/// The different samples: numbers and dates as they are stored, others as they are written.
fn samples(kind: ColumnKind, reading: &Reading, written: Vec<String>) -> Vec<String> {
    let mut samples: Vec<String> = Vec::with_capacity(written.len());
    for cell in written {
        let shown = match kind {
            ColumnKind::Boolean => cell,
            _ => reading.read(kind, &cell).map_or(cell, shown_value),
        };
        if !samples.contains(&shown) {
            samples.push(shown);
        }
    }
    samples
}

/// A column whose kind is known, and its statistics.
#[derive(Clone, Debug)]
pub struct TypedColumn {
    /// Its description. The name in SQL is empty: see [`sql_names`].
    pub column: DataColumn,
    reading: Reading,
    missing: MissingMarks,
}

impl TypedColumn {
    /// The column as one of identifiers, because a sum of the numbers of plants has no meaning.
    #[must_use]
    pub(crate) fn of_names(self) -> Self {
        let Self { column, missing, .. } = self;
        let (kind, unit, least, greatest) = (ColumnKind::Identifier, None, None, None);
        let column = DataColumn { kind, unit, least, greatest, ..column };
        Self { column, reading: Reading::Text, missing }
    }

    /// The value of a cell.
    ///
    /// Empty for a missing value. The text as it is written, without surrounding space, if it does not read as the kind;
    /// kinds that are stored as text read everything.
    pub fn read(&self, cell: &str) -> DataValue {
        let cell = cell.trim();
        if mark(cell).is_some_and(|mark| self.missing.include(mark)) {
            return DataValue::Empty;
        }
        let value = self.reading.read(self.column.kind, cell);
        value.unwrap_or_else(|| DataValue::Text(cell.to_owned()))
    }
}

#[cfg(test)]
mod tests;
