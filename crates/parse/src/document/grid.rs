//! Fills tables with merged cells: repeats each cell in all its places, as in HTML, and finds the
//! header.

use pikerag_knowledge::{BlockKind, Link, Span};

use crate::document::cells::names_columns;
use crate::document::writing::{LinkedText, Writing};

/// The largest span, in rows or columns; larger values are cut to it.
const WIDEST_SPAN: usize = 100;
/// The largest cost of all repeated cells, in bytes: their text and eight each.
const REPEATS: usize = 4 << 20;

/// A table as it is filled, row by row.
#[derive(Debug)]
pub(crate) struct Grid {
    rows: Vec<Row>,
    /// Cells from rows above by column, and the number of rows that they still cover.
    hanging: Vec<(usize, Slot)>,
    /// Columns that the last cell still covers.
    reach: usize,
    repeats_left: usize,
}

#[derive(Debug, Default)]
struct Row {
    slots: Vec<Slot>,
    is_header: bool,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    text: LinkedText,
    is_bold: bool,
    /// Whether it repeats the slot to the left.
    continues: bool,
}

/// Whether rows name their cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowStyle {
    /// `Ada | 1815`
    Plain,
    /// `Name: Ada; Born: 1815`
    Named,
}

impl Default for Grid {
    fn default() -> Self {
        Self { rows: Vec::new(), hanging: Vec::new(), reach: 0, repeats_left: REPEATS }
    }
}

impl Grid {
    /// Begins a row; cells from above enter with [`Grid::covered`].
    pub(crate) fn row(&mut self, is_header: bool) {
        self.reach = 0;
        self.rows.push(Row { slots: Vec::new(), is_header });
    }

    /// Adds a cell over `columns` columns.
    pub(crate) fn cell(&mut self, text: LinkedText, is_bold: bool, columns: usize) {
        self.covering(text, is_bold, columns, 1);
        for _ in 1..columns.min(WIDEST_SPAN) {
            self.covered();
        }
    }

    /// Adds a cell over several columns and rows; call [`Grid::covered`] for each further place of
    /// the cell.
    pub(crate) fn covering(
        &mut self,
        text: LinkedText,
        is_bold: bool,
        columns: usize,
        rows: usize,
    ) {
        let (columns, rows) = (columns.clamp(1, WIDEST_SPAN), rows.clamp(1, WIDEST_SPAN));
        let slot = Slot { text, is_bold, continues: false };
        let price = (slot.text.text.len() + 8).saturating_mul(columns);
        let rows = if price <= self.repeats_left { rows } else { 1 };
        let Some(row) = self.rows.last_mut() else { return };
        let column = row.slots.len();
        for reached in column..column + columns {
            if rows == 1 {
                if let Some(hanging) = self.hanging.get_mut(reached) {
                    hanging.0 = 0;
                }
                continue;
            }
            if self.hanging.len() <= reached {
                self.hanging.resize(reached + 1, (0, Slot::default()));
            }
            if let Some(hanging) = self.hanging.get_mut(reached) {
                *hanging = (rows - 1, repeated(&slot, column < reached));
            }
        }
        row.slots.push(slot);
        self.reach = columns - 1;
    }

    /// Adds a place covered by a cell to the left or above, or an empty place.
    pub(crate) fn covered(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        let column = row.slots.len();
        let hanging = self.hanging.get_mut(column).filter(|(rows, _)| 0 < *rows);
        let slot = match hanging {
            _ if 0 < self.reach => {
                self.reach -= 1;
                row.slots.last().map(|left| repeated(left, true))
            }
            Some((rows, slot)) => {
                *rows -= 1;
                Some(slot.clone())
            }
            None => None,
        };
        self.repeat(slot.unwrap_or_default());
    }

    /// Repeats the last cell `times` times.
    pub(crate) fn cell_again(&mut self, times: usize) {
        let last =
            self.rows.last().and_then(|row| row.slots.last()).map(|last| repeated(last, false));
        for _ in 0..times.min(WIDEST_SPAN) {
            self.repeat(last.clone().unwrap_or_default());
        }
    }

    /// Repeats the last row `times` times.
    pub(crate) fn row_again(&mut self, times: usize) {
        let Some(last) = self.rows.last() else { return };
        let is_header = last.is_header;
        let slots: Vec<Slot> =
            last.slots.iter().map(|slot| repeated(slot, slot.continues)).collect();
        for _ in 0..times.min(WIDEST_SPAN) {
            self.row(is_header);
            for slot in slots.clone() {
                self.repeat(slot);
            }
        }
    }

    /// Adds one place with this content.
    pub(crate) fn place(&mut self, text: LinkedText, is_bold: bool, continues: bool) {
        if let Some(row) = self.rows.last_mut() {
            row.slots.push(Slot { text, is_bold, continues });
        }
    }

    /// Adds a cell that continues from the row above.
    pub(crate) fn above(&mut self, columns: usize) {
        let [.., above, row] = self.rows.as_slice() else { return self.gap(columns) };
        let column = row.slots.len();
        let slot = above.slots.get(column).cloned().unwrap_or_default();
        for at in 0..columns.clamp(1, WIDEST_SPAN) {
            self.repeat(repeated(&slot, 0 < at));
        }
    }

    /// Adds empty places.
    pub(crate) fn gap(&mut self, columns: usize) {
        for _ in 0..columns.min(WIDEST_SPAN) {
            self.repeat(Slot::default());
        }
    }

    fn repeat(&mut self, slot: Slot) {
        let price = slot.text.text.len() + 8;
        if let (Some(left), Some(row)) =
            (self.repeats_left.checked_sub(price), self.rows.last_mut())
        {
            self.repeats_left = left;
            row.slots.push(slot);
        }
    }

    /// Writes the table. If no row is marked as header, the first row becomes the header if it
    /// looks like one.
    pub(crate) fn write(mut self, writing: &mut Writing, style: RowStyle) {
        self.rows.retain(|row| row.slots.iter().any(|slot| !slot.text.text.trim().is_empty()));
        let n_header = match self.rows.iter().take_while(|row| row.is_header).count() {
            0 => usize::from(self.first_is_header()),
            all if all == self.rows.len() => 0,
            some => some,
        };
        let header = merge(self.rows.drain(..n_header.min(self.rows.len())).collect());
        let mut links: Vec<Vec<(String, String)>> = Vec::new();
        let mut cells: Vec<Vec<String>> = Vec::new();
        for row in std::iter::once(&header).chain(self.rows.iter().map(|row| &row.slots)) {
            // A cell across the whole row is written once. Behind a blank cell, cells of rows above
            // go on.
            let alone = row.first().is_some_and(|slot| !slot.text.text.trim().is_empty())
                && row.iter().skip(1).all(|slot| slot.continues);
            let row = row.get(..if alone { row.len().min(1) } else { row.len() }).unwrap_or(row);
            links.push(row.iter().flat_map(|slot| labels(&slot.text)).collect());
            cells.push(row.iter().map(|slot| slot.text.text.clone()).collect());
        }
        let header = cells.remove(0);
        let first = usize::from(header.is_empty());
        let before = writing.blocks.len();
        match style {
            RowStyle::Plain => writing.table(header, cells),
            RowStyle::Named => writing.named_table(header, cells),
        }
        if before < writing.blocks.len() {
            link(writing, links.into_iter().skip(first));
        }
    }

    /// Whether all cells except the corner are different words, or only the first row is bold
    /// throughout.
    fn first_is_header(&self) -> bool {
        let [first, second, ..] = self.rows.as_slice() else { return false };
        let filled =
            |row: &Row| row.slots.iter().filter(|slot| !slot.text.text.trim().is_empty()).count();
        let is_bold = |row: &Row| {
            row.slots.iter().all(|slot| slot.is_bold || slot.text.text.trim().is_empty())
        };
        if 1 < filled(first) && is_bold(first) && !is_bold(second) {
            return true;
        }
        let texts: Vec<&str> = first
            .slots
            .iter()
            .filter(|slot| !slot.continues)
            .map(|slot| slot.text.text.as_str())
            .collect();
        names_columns(&texts)
    }
}

fn repeated(slot: &Slot, continues: bool) -> Slot {
    let text = LinkedText { text: slot.text.text.clone(), links: Vec::new() };
    Slot { text, is_bold: slot.is_bold, continues }
}

/// Merges the rows of a header: `2024` over `Q1` becomes `2024 Q1`.
fn merge(rows: Vec<Row>) -> Vec<Slot> {
    let mut header: Vec<Slot> = Vec::new();
    let mut last: Vec<String> = Vec::new();
    for (number, row) in rows.into_iter().enumerate() {
        for (column, mut slot) in row.slots.into_iter().enumerate() {
            slot.continues = false;
            let (Some(above), Some(last)) = (header.get_mut(column), last.get_mut(column)) else {
                last.push(slot.text.text.clone());
                header.push(slot);
                continue;
            };
            if 0 < number && slot.text.text != *last && !slot.text.text.trim().is_empty() {
                if !above.text.text.is_empty() {
                    above.text.push(" ");
                }
                above.text.push(&slot.text.text);
                *last = slot.text.text;
            }
        }
    }
    header
}

/// The linked words of a cell with their targets.
fn labels(text: &LinkedText) -> impl Iterator<Item = (String, String)> {
    text.links.iter().filter_map(|(start, end, target)| {
        let words = text.text.get(*start..*end)?.split_whitespace().collect::<Vec<_>>().join(" ");
        (!words.is_empty()).then(|| (words, target.clone()))
    })
}

/// Links the words in the lines of the last table.
fn link(writing: &mut Writing, rows: impl Iterator<Item = Vec<(String, String)>>) {
    let Some(BlockKind::Table(table)) = writing.blocks.last().map(|block| &block.kind) else {
        return;
    };
    let mut links = Vec::new();
    for (line, labels) in table.lines.iter().zip(rows) {
        let mut from = line.start;
        for (words, target) in labels {
            let Some(at) = writing.text.get(from..line.end).and_then(|rest| rest.find(&words))
            else {
                continue;
            };
            let span = Span { start: from + at, end: from + at + words.len() };
            from = span.end;
            links.push(Link { target, span });
        }
    }
    writing.links.extend(links);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a table of these rows.
    fn lines(fill: impl FnOnce(&mut Grid)) -> String {
        let (mut grid, mut writing) = (Grid::default(), Writing::new(100));
        fill(&mut grid);
        grid.write(&mut writing, RowStyle::Plain);
        writing.text
    }

    fn words(text: &str) -> LinkedText {
        let mut words = LinkedText::default();
        words.push(text);
        words
    }

    #[test]
    fn a_cell_across_the_whole_row_is_written_once() {
        let table = lines(|grid| {
            grid.row(false);
            grid.cell(words("1"), false, 1);
            grid.cell(words("2"), false, 1);
            grid.row(false);
            grid.cell(words("all of it"), false, 2);
        });
        assert_eq!(table, "1 | 2\nall of it");
    }

    #[test]
    fn behind_a_blank_cell_cells_of_rows_above_go_on() {
        let table = lines(|grid| {
            grid.row(false);
            grid.covering(words("tall"), false, 3, 2);
            grid.covered();
            grid.covered();
            grid.row(false);
            grid.cell(words(""), false, 1);
            grid.covered();
            grid.covered();
        });
        assert_eq!(table, "tall\n | tall | tall");
    }
}
