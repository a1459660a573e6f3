//! Turns the words in a table's cells into a header and rows of text.

use pikerag_knowledge::Area;

use crate::marks::Word;
use crate::text::lines;
use crate::text::script::is_wide;

/// A table found on a page.
#[derive(Clone, Debug)]
pub struct PageTable {
    /// The box of its rules, or of its words if it has no rules.
    pub area: Area,
    /// The names of its columns; empty if it has no header.
    pub header: Vec<String>,
    /// Its other rows, none of them blank; cells may be empty, and rows may differ in length.
    pub rows: Vec<Vec<String>>,
}

impl PageTable {
    /// Makes a table from the words of each cell, row by row.
    pub(crate) fn of_cells(area: Area, cells: Vec<Vec<Vec<Word>>>) -> Self {
        let bold = |row: &[Vec<Word>]| {
            let weights = row.iter().flatten().map(|word| word.weight).filter(|w| 0.0 < *w);
            let (sum, n) = weights.fold((0.0, 0), |(sum, n), weight| (sum + weight, n + 1));
            if n == 0 { 0.0 } else { sum / n as f32 }
        };
        let first = cells.first().map_or(0.0, |row| bold(row));
        let others = cells.iter().skip(1).map(|row| bold(row)).filter(|w| 0.0 < *w);
        let lightest = others.fold(f32::MAX, f32::min);
        let is_bolder = 1.2 * lightest < first;
        let mut rows: Vec<Vec<String>> = Vec::with_capacity(cells.len());
        for row in cells {
            for row in split(row) {
                rows.push(row.into_iter().map(text).collect());
            }
        }
        rows.retain(|row: &Vec<String>| row.iter().any(|cell| !cell.is_empty()));
        let header = if has_header(&rows, is_bolder) { rows.remove(0) } else { Vec::new() };
        Self { area, header, rows }
    }
}

/// Whether the first row names the columns.
fn has_header(rows: &[Vec<String>], is_bolder: bool) -> bool {
    let [first, others @ ..] = rows else { return false };
    let filled = || first.iter().filter(|cell| !cell.is_empty());
    let n_filled = filled().count();
    if others.is_empty() || n_filled < 2 {
        return false;
    }
    let n_numbers = filled().filter(|cell| is_number(cell)).count();
    if 2 * n_numbers > n_filled {
        return false;
    }
    let numbers_below = others.iter().flatten().any(|cell| is_number(cell));
    is_bolder || 2 < first.len() || n_numbers == 0 && numbers_below
}

/// Whether a cell is a number, an amount or a share.
pub(crate) fn is_number(cell: &str) -> bool {
    let digits = cell.chars().filter(char::is_ascii_digit).count();
    let letters = cell.chars().filter(|c| c.is_alphabetic()).count();
    0 < digits && letters <= 2 && cell.chars().count() <= 24
}

/// Splits a row without inner rules into its lines if most lines fill several columns.
fn split(row: Vec<Vec<Word>>) -> Vec<Vec<Vec<Word>>> {
    let n_cells = row.iter().filter(|cell| !cell.is_empty()).count();
    let mut bases: Vec<(f32, f32, usize)> = Vec::new();
    for (column, cell) in row.iter().enumerate() {
        bases.extend(cell.iter().map(|word| (word.base, word.size, column)));
    }
    bases.sort_by(|a, b| a.0.total_cmp(&b.0));
    // (base, last column, columns) of each line.
    let mut rows: Vec<(f32, Vec<usize>)> = Vec::new();
    for (base, size, column) in bases {
        match rows.last_mut() {
            Some((last, columns)) if base - *last < 0.4 * size => {
                if !columns.contains(&column) {
                    columns.push(column);
                }
            }
            _ => rows.push((base, vec![column])),
        }
    }
    let full = rows.iter().filter(|(_, columns)| n_cells <= columns.len() + 1).count();
    let several = rows.iter().filter(|(_, columns)| 1 < columns.len()).count();
    if n_cells < 2 || rows.len() < 3 || several * 10 < rows.len() * 9 || full * 10 < rows.len() * 8
    {
        return vec![row];
    }
    let width = row.len();
    let mut parts: Vec<Vec<Vec<Word>>> = rows.iter().map(|_| vec![Vec::new(); width]).collect();
    for (column, cell) in row.into_iter().enumerate() {
        for word in cell {
            let index =
                rows.partition_point(|(base, _)| *base <= word.base + 0.01).saturating_sub(1);
            if let Some(cell) = parts.get_mut(index).and_then(|part| part.get_mut(column)) {
                cell.push(word);
            }
        }
    }
    parts
}

/// The words of a cell as text.
pub(crate) fn text(words: Vec<Word>) -> String {
    let mut text = String::new();
    for row in lines::rows(words) {
        let Some(line) = lines::line(&row.words, &[]) else { continue };
        let line = line.text.text;
        let wide = |c: Option<char>| c.is_some_and(is_wide);
        let close = wide(text.chars().last()) && wide(line.chars().next());
        if !text.is_empty() && !close {
            text.push(' ');
        }
        text.push_str(&line);
    }
    text
}
