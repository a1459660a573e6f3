//! Turns a region of a sheet into a table: lines above and below become captions and paragraphs,
//! and the first row becomes the header if it names the columns.

use std::collections::BTreeSet;

use pikerag_knowledge::BlockKind;

use super::Cell;
use super::regions::regions;
use crate::document::cells::{is_number, names_columns, year};
use crate::document::grid::{Grid, RowStyle};
use crate::document::writing::{LinkedText, Writing};

/// The most title lines above a table.
const MOST_TITLES: usize = 5;
/// A line below a table with one cell and more characters than this is a remark.
const REMARK: usize = 40;
/// A row of notes has at most one cell for this many columns.
const NOTES: usize = 3;
/// A table's extent may be at most this many times its number of cells; a sparser one is written
/// without its gaps.
const SPARSE: usize = 32;

/// Writes cells that are sorted by row and column.
pub(super) fn write(cells: Vec<Cell>, headers: &[[u32; 3]], writing: &mut Writing) {
    let mut regions = regions(cells).into_iter().map(Region::of).peekable();
    while let Some(mut region) = regions.next() {
        // Joins the parts of one table that empty rows separate.
        while let Some(next) = regions.peek() {
            if !region.goes_on_in(next, headers) && !region.goes_on_beside(next) {
                break;
            }
            let Some(next) = regions.next() else { break };
            region.take(next);
        }
        let belongs = regions.peek().is_some_and(|next| {
            region.is_line()
                && !next.is_line()
                && next.top <= region.bottom + 2
                && region.left <= next.right
                && next.left <= region.right
        });
        region.write(headers, belongs, writing);
    }
}

struct Region {
    rows: Vec<Vec<Cell>>,
    /// Columns with content.
    columns: BTreeSet<u32>,
    top: u32,
    left: u32,
    bottom: u32,
    right: u32,
}

impl Region {
    fn of(cells: Vec<Cell>) -> Self {
        let (top, bottom) =
            (cells.first().map_or(0, |cell| cell.row), cells.last().map_or(0, |cell| cell.row));
        let columns: BTreeSet<u32> = cells.iter().map(|cell| cell.column).collect();
        let (left, right) = (columns.first().copied(), columns.last().copied());
        let (left, right) = (left.unwrap_or(0), right.unwrap_or(0));
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for cell in cells {
            match rows.last_mut() {
                Some(row) if row.first().is_some_and(|first| first.row == cell.row) => {
                    row.push(cell);
                }
                _ => rows.push(vec![cell]),
            }
        }
        Self { rows, columns, top, left, bottom, right }
    }

    /// Whether each line has a single cell, merged or not.
    fn is_line(&self) -> bool {
        self.rows.iter().all(|row| alone(row))
    }

    /// Whether the next region continues this table after an empty row: it has the same columns,
    /// and no header of its own.
    fn goes_on_in(&self, next: &Self, headers: &[[u32; 3]]) -> bool {
        !self.is_line()
            && self.header_rows(headers) > 0
            && next.top == self.bottom + 2
            && (self.left, self.right) == (next.left, next.right)
            && next.rows.first().is_some_and(|first| !alone(first))
            && next.header_rows(headers) == 0
    }

    /// Whether the next region is the last column of this table, after one or more empty columns.
    fn goes_on_beside(&self, next: &Self) -> bool {
        let titles = u32::try_from(self.titles()).unwrap_or(0);
        !self.is_line()
            && next.left == next.right
            && 1 < next.rows.len()
            && (self.right + 2..=self.right + 4).contains(&next.left)
            && (self.top + titles, self.bottom) == (next.top, next.bottom)
    }

    fn take(&mut self, next: Self) {
        self.columns.extend(next.columns);
        if self.bottom < next.top {
            self.rows.extend(next.rows);
        } else {
            let mut beside = next.rows.into_iter().peekable();
            for row in &mut self.rows {
                let at = row.first().map_or(0, |cell| cell.row);
                let same = |other: &Vec<Cell>| other.first().is_some_and(|cell| cell.row == at);
                row.extend(beside.next_if(same).unwrap_or_default());
            }
        }
        (self.bottom, self.right) = (self.bottom.max(next.bottom), self.right.max(next.right));
    }

    /// The number of rows after the titles that name the columns.
    fn header_rows(&self, headers: &[[u32; 3]]) -> usize {
        let titles = self.titles();
        let mut rows = self.rows.iter().skip(titles);
        let (Some(first), Some(second)) = (rows.next(), rows.next()) else { return 0 };
        let row = first.first().map_or(0, |cell| cell.row);
        let is_declared = headers
            .iter()
            .any(|[at, from, to]| *at == row && *from <= self.left && self.right <= *to);
        if is_declared {
            return 1;
        }
        // Titles over several columns, with the names of the columns below them.
        let is_label = |cell: &Cell| !is_number(&cell.text) || year(&cell.text).is_some();
        let is_text = |row: &[Cell]| row.iter().all(is_label);
        let third = rows.next();
        if first.iter().any(|cell| cell.continues)
            && is_text(first)
            && is_text(second)
            && third.is_some_and(|third| !is_text(third))
        {
            return 2;
        }
        let bold = |row: &[Cell]| row.iter().all(|cell| cell.is_bold);
        let names: Vec<&str> = self
            .full(first)
            .iter()
            .filter(|cell| !cell.is_some_and(|cell| cell.continues))
            .map(|cell| cell.map_or("", |cell| cell.text.as_str()))
            .collect();
        let is_header = names_columns(&names)
            || 1 < first.len() && bold(first) && !bold(second) && is_text(first);
        usize::from(is_header)
    }

    /// A row with its gaps, without columns that are empty throughout.
    fn full<'r>(&self, row: &'r [Cell]) -> Vec<Option<&'r Cell>> {
        if SPARSE * (row.len() + SPARSE) < self.columns.len() {
            return row.iter().map(Some).collect();
        }
        let mut cells = row.iter().peekable();
        let at = |column: &u32| cells.next_if(|cell| cell.column == *column);
        self.columns.iter().map(at).collect()
    }

    /// The number of rows above the header: titles, and notes beside each other such as a department and a unit. A cell that is
    /// merged over some of the columns only is a part of the header.
    fn titles(&self) -> usize {
        if self.is_line() {
            return 0;
        }
        let left = |row: &[Cell]| row.first().is_some_and(|first| first.column == self.left);
        let is_title = |row: &[Cell]| alone(row) && (row.len() == 1 || left(row));
        let rows = || self.rows.iter().take(MOST_TITLES).map(Vec::as_slice);
        let n_titles = rows().take_while(|row| is_title(row)).count();
        let above = rows().take_while(|row| is_title(row) || self.is_note(row)).count();
        let header = self.rows.get(above).filter(|_| n_titles < above);
        if header.is_some_and(|row| self.names_all_columns(row)) { above } else { n_titles }
    }

    /// Whether a row has texts in a few of the columns only, none of them merged.
    fn is_note(&self, row: &[Cell]) -> bool {
        NOTES * row.len() <= self.columns.len()
            && row.iter().all(|cell| !cell.continues && !is_number(&cell.text))
    }

    /// Whether a row has a name for each column.
    fn names_all_columns(&self, row: &[Cell]) -> bool {
        let names: Vec<&str> = row.iter().map(|cell| cell.text.as_str()).collect();
        row.len() == self.columns.len() && names_columns(&names)
    }

    fn write(self, headers: &[[u32; 3]], is_caption: bool, writing: &mut Writing) {
        if self.is_line() && (self.rows.len() == 1 || is_caption) {
            let kind = if is_caption { BlockKind::Caption } else { BlockKind::Paragraph };
            for row in &self.rows {
                line(row, &kind, writing);
            }
            return;
        }
        let (titles, n_header) = (self.titles(), self.header_rows(headers));
        let is_remark = |row: &&Vec<Cell>| {
            alone(row) && row.first().is_some_and(|cell| REMARK < cell.text.chars().count())
        };
        let remarks = match self.is_line() {
            true => 0,
            false => self.rows.iter().rev().take_while(is_remark).count(),
        };
        let end = self.rows.len() - remarks;
        for row in self.rows.iter().take(titles) {
            line(row, &BlockKind::Caption, writing);
        }
        let span = self.rows.len().saturating_mul(self.columns.len());
        let n_cells: usize = self.rows.iter().map(Vec::len).sum();
        let is_sparse = SPARSE * (n_cells + SPARSE) < span;
        let mut grid = Grid::default();
        for (number, row) in self.rows.iter().take(end).skip(titles).enumerate() {
            grid.row(number < n_header);
            let full = if is_sparse { row.iter().map(Some).collect() } else { self.full(row) };
            for cell in full {
                match cell {
                    Some(cell) => grid.place(linked(cell), cell.is_bold, cell.continues),
                    None => grid.place(LinkedText::default(), false, false),
                }
            }
        }
        grid.write(writing, RowStyle::Named);
        for row in self.rows.iter().skip(end.max(titles)) {
            line(row, &BlockKind::Paragraph, writing);
        }
    }
}

/// Whether the row has one cell, merged or not.
fn alone(row: &[Cell]) -> bool {
    row.iter().skip(1).all(|cell| cell.continues)
}

fn line(row: &[Cell], kind: &BlockKind, writing: &mut Writing) {
    let pieces = row.iter().enumerate().filter(|(at, cell)| *at == 0 || !cell.continues);
    for (_, cell) in pieces {
        writing.piece(kind.clone(), &linked(cell));
    }
}

fn linked(cell: &Cell) -> LinkedText {
    let mut text = LinkedText::default();
    match &cell.link {
        Some(target) => text.push_link(&cell.text, target),
        None => text.push(&cell.text),
    }
    text
}
