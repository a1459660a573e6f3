//! Reads workbooks sheet by sheet: a sheet is a page, its name a heading, and its tables are
//! separate.
//!
//! Cells are stored one by one, so the cost of a sheet depends on its cells, not on their extent.

mod numbers;
pub(crate) mod ods;
mod regions;
mod tables;
pub(crate) mod xlsx;

use pikerag_knowledge::BlockKind;

use crate::document::writing::{Place, Writing};

/// The memory budget for the cells of a workbook, in bytes: their text and a fixed price each.
const BUDGET: usize = 128 << 20;
const PRICE: usize = 128;
/// The most cells of one workbook that repeat the text of a merged cell.
const MOST_REPEATS: usize = 500_000;
/// The largest row or column number accepted: sixteen times the rows of a spreadsheet program.
const LAST: u32 = 1 << 24;

#[derive(Clone, Debug, Default, PartialEq)]
struct Cell {
    row: u32,
    column: u32,
    text: String,
    link: Option<Box<str>>,
    is_bold: bool,
    /// Whether it repeats the merged cell to its left.
    continues: bool,
}

/// The state of reading a sheet.
#[derive(Debug, Default)]
struct Sheet {
    name: String,
    is_hidden: bool,
    cells: Vec<Cell>,
    /// First row and column, last row and column of each merged area.
    merged: Vec<[u32; 4]>,
    /// Declared header rows: row, first and last column.
    headers: Vec<[u32; 3]>,
    /// First and last number of each hidden range.
    hidden_rows: Vec<(u32, u32)>,
    hidden_columns: Vec<(u32, u32)>,
}

/// The remaining budget of a workbook.
#[derive(Debug)]
struct CellBudget {
    bytes: usize,
    cells: usize,
    repeats: usize,
    /// The sheet at which the budget ran out.
    short: Option<String>,
    /// A sheet with cells after the last accepted row or column.
    far: Option<String>,
}

impl CellBudget {
    fn new(max_cells: usize) -> Self {
        Self { bytes: BUDGET, cells: max_cells, repeats: MOST_REPEATS, short: None, far: None }
    }
}

impl Sheet {
    /// Adds a cell; `false` if the budget is exhausted.
    fn add(&mut self, cell: Cell, budget: &mut CellBudget) -> bool {
        if cell.text.trim().is_empty() {
            return true;
        }
        if LAST < cell.row.max(cell.column) {
            budget.far.get_or_insert(self.name.clone());
            return true;
        }
        let again = |last: &Cell| (last.row, last.column) == (cell.row, cell.column);
        if self.cells.last().is_some_and(again) {
            return true;
        }
        let (bytes, cells) =
            (budget.bytes.checked_sub(cell.text.len() + PRICE), budget.cells.checked_sub(1));
        let (Some(bytes), Some(cells)) = (bytes, cells) else {
            budget.short.get_or_insert(self.name.clone());
            return false;
        };
        (budget.bytes, budget.cells) = (bytes, cells);
        self.cells.push(cell);
        true
    }

    /// Writes the sheet's name and its cells.
    fn write(mut self, number: usize, writing: &mut Writing, budget: &mut CellBudget) {
        writing.place =
            Place { page: u32::try_from(number).ok(), area: None, hidden: self.is_hidden };
        writing.plain(BlockKind::Heading { level: 1 }, &self.name);
        self.cells.sort_by_key(|cell| (cell.row, cell.column));
        self.cells.dedup_by_key(|cell| (cell.row, cell.column));
        self.fill_merged(budget);
        let rows = merge_ranges(std::mem::take(&mut self.hidden_rows));
        let columns = merge_ranges(std::mem::take(&mut self.hidden_columns));
        let (hidden, mut visible): (Vec<Cell>, Vec<Cell>) = std::mem::take(&mut self.cells)
            .into_iter()
            .partition(|cell| within(&rows, cell.row) || within(&columns, cell.column));
        // Hidden rows and columns leave no gap.
        for cell in &mut visible {
            cell.row -= before(&rows, cell.row);
            cell.column -= before(&columns, cell.column);
        }
        for [row, from, to] in &mut self.headers {
            *row -= before(&rows, *row).min(*row);
            *from -= before(&columns, *from).min(*from);
            *to -= before(&columns, *to).min(*to);
        }
        tables::write(visible, &self.headers, writing);
        if !hidden.is_empty() {
            writing.place.hidden = true;
            tables::write(hidden, &[], writing);
            writing.place.hidden = self.is_hidden;
        }
    }

    /// Repeats merged cells over their area, as far as there are other cells.
    fn fill_merged(&mut self, budget: &mut CellBudget) {
        let last_row = self.cells.last().map_or(0, |cell| cell.row);
        let last_column = self.cells.iter().map(|cell| cell.column).max().unwrap_or(0);
        let mut repeated = Vec::new();
        for [top, left, bottom, right] in std::mem::take(&mut self.merged) {
            let Ok(at) =
                self.cells.binary_search_by_key(&(top, left), |cell| (cell.row, cell.column))
            else {
                continue;
            };
            let Some(origin) = self.cells.get(at) else { continue };
            for row in top..=bottom.min(last_row) {
                for column in left..=right.min(last_column.max(left)) {
                    if (row, column) == (top, left) {
                        continue;
                    }
                    let price = origin.text.len() + PRICE;
                    let (Some(bytes), Some(left_over)) =
                        (budget.bytes.checked_sub(price), budget.repeats.checked_sub(1))
                    else {
                        budget.short.get_or_insert(self.name.clone());
                        return;
                    };
                    (budget.bytes, budget.repeats) = (bytes, left_over);
                    let continues = left < column;
                    repeated.push(Cell { row, column, continues, link: None, ..origin.clone() });
                }
            }
        }
        if !repeated.is_empty() {
            self.cells.extend(repeated);
            self.cells.sort_by_key(|cell| (cell.row, cell.column));
            self.cells.dedup_by_key(|cell| (cell.row, cell.column));
        }
    }
}

/// A range of hidden rows or columns: the first, the last, and the number of hidden ones before it.
#[derive(Clone, Copy, Debug)]
struct Hidden {
    from: u32,
    to: u32,
    before: u32,
}

/// Sorted ranges without overlaps.
fn merge_ranges(mut ranges: Vec<(u32, u32)>) -> Vec<Hidden> {
    ranges.sort_unstable();
    let mut merged: Vec<Hidden> = Vec::new();
    for (from, to) in ranges {
        match merged.last_mut() {
            Some(last) if from <= last.to.saturating_add(1) => last.to = last.to.max(to),
            _ => {
                let before = merged.last().map_or(0, |last| last.up_to(last.to));
                merged.push(Hidden { from, to, before });
            }
        }
    }
    merged
}

impl Hidden {
    /// The number of hidden ones up to `at`, which is not before the range.
    fn up_to(self, at: u32) -> u32 {
        self.before.saturating_add((at.min(self.to) - self.from).saturating_add(1))
    }
}

/// The last range that begins at or before `at`.
fn last_range(ranges: &[Hidden], at: u32) -> Option<Hidden> {
    let next = ranges.partition_point(|range| range.from <= at);
    next.checked_sub(1).and_then(|last| ranges.get(last)).copied()
}

fn within(ranges: &[Hidden], at: u32) -> bool {
    last_range(ranges, at).is_some_and(|range| at <= range.to)
}

/// The number of hidden numbers before `at`.
fn before(ranges: &[Hidden], at: u32) -> u32 {
    let Some(last) = at.checked_sub(1) else { return 0 };
    last_range(ranges, last).map_or(0, |range| range.up_to(last))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn hidden_rows_are_counted_as_by_brute_force(
            ranges in prop::collection::vec((0u32..60, 0u32..6), 0..12),
        ) {
            let ranges: Vec<(u32, u32)> =
                ranges.into_iter().map(|(from, more)| (from, from + more)).collect();
            let is_hidden = |at: u32| ranges.iter().any(|(from, to)| (*from..=*to).contains(&at));
            let merged = merge_ranges(ranges.clone());
            for at in 0..70 {
                prop_assert_eq!(within(&merged, at), is_hidden(at));
                prop_assert_eq!(before(&merged, at) as usize, (0..at).filter(|at| is_hidden(*at)).count());
            }
        }
    }

    /// With every second row hidden, a scan of all ranges for each cell would take minutes.
    #[test]
    fn many_hidden_rows_are_counted_quickly() {
        let n_rows = 600_000;
        let merged = merge_ranges((0..n_rows).map(|row| (2 * row, 2 * row)).collect());
        for row in 0..n_rows {
            assert_eq!(before(&merged, 2 * row + 1), row + 1);
        }
    }
}
