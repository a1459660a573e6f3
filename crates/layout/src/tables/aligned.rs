//! Finds tables without rules: rows with aligned gaps and with cells too short for columns of
//! running text.

use pikerag_knowledge::Area;

use super::columns::{column_of, columns, parts, whole_columns};
use super::page_table::{self, PageTable, is_number};
use crate::marks::Word;
use crate::text::lines::{self, Row};
use crate::text::script::is_wide;

/// The fewest rows of a table.
const FEWEST_ROWS: usize = 3;
/// The size of a heading's letters, compared with those of the rows around it, at least.
const LARGER: f32 = 1.15;

/// Takes the tables without rules out of `rows`.
pub(crate) fn tables(rows: &mut Vec<Row>) -> Vec<PageTable> {
    let cut: Vec<Vec<(f32, f32)>> =
        rows.iter().map(|row| cells(row).into_iter().map(reach).collect()).collect();
    let mut tables = Vec::new();
    let mut taken = vec![false; rows.len()];
    let mut start = 0;
    while start < rows.len() {
        let Some(end) = run(rows, &cut, start) else {
            start += 1;
            continue;
        };
        if let (Some(part), Some(cut)) = (rows.get(start..end), cut.get(start..end))
            && let Some(table) = table(part, cut)
        {
            tables.push(table);
            taken.iter_mut().take(end).skip(start).for_each(|taken| *taken = true);
        }
        start = end;
    }
    let mut taken = taken.into_iter();
    rows.retain(|_| !taken.next().unwrap_or(false));
    tables
}

/// Whether the words, or some of them, form a table.
pub(crate) fn is_table(words: &[Word]) -> bool {
    let mut rows = lines::rows(words.to_vec());
    tables(&mut rows).iter().any(|table| 4 <= table.rows.len())
}

/// The words of each cell of a row.
fn cells(row: &Row) -> Vec<&[Word]> {
    let mut cells = Vec::new();
    let mut from = 0;
    for end in lines::gaps(row).iter().map(|gap| gap.word).chain([row.words.len()]) {
        cells.extend(row.words.get(from..end));
        from = end;
    }
    cells
}

/// The horizontal extent of words.
fn reach(words: &[Word]) -> (f32, f32) {
    let left = words.iter().map(|word| word.left).fold(f32::MAX, f32::min);
    (left, words.iter().map(|word| word.right).fold(left, f32::max))
}

/// The end of the run of rows with several cells that begins at `start`; a single row with one cell
/// may lie between two of them, unless its letters are those of a heading.
fn run(rows: &[Row], cut: &[Vec<(f32, f32)>], start: usize) -> Option<usize> {
    let several = |at: usize| cut.get(at).is_some_and(|cells| 1 < cells.len());
    if !several(start) {
        return None;
    }
    let near = |above: usize, below: usize| {
        let bases = rows.get(above).zip(rows.get(below));
        bases.is_some_and(|(a, b)| b.base - a.base < 3.2 * a.size.max(b.size))
    };
    // A heading in larger letters begins another table.
    let is_heading = |at: usize| {
        let sizes = rows.get(at - 1).zip(rows.get(at + 1));
        let around = sizes.map_or(f32::MAX, |(above, below)| above.size.max(below.size));
        rows.get(at).is_some_and(|row| LARGER * around < row.size)
    };
    let mut end = start + 1;
    let mut n = 1;
    loop {
        if several(end) && near(end - 1, end) {
            end += 1;
        } else if several(end + 1) && near(end - 1, end) && near(end, end + 1) && !is_heading(end) {
            end += 2;
        } else {
            break;
        }
        n += 1;
    }
    (FEWEST_ROWS <= n).then_some(end)
}

fn table(rows: &[Row], cut: &[Vec<(f32, f32)>]) -> Option<PageTable> {
    let several: Vec<&Vec<(f32, f32)>> = cut.iter().filter(|cells| 1 < cells.len()).collect();
    let size = rows.iter().map(|row| row.size).fold(f32::MAX, f32::min);
    // The first row often has a title over several columns.
    let others = several.get(1..).filter(|others| FEWEST_ROWS <= others.len()).unwrap_or_default();
    let (with, without) = (columns(&several, size), columns(others, size));
    let columns = if with.len() < without.len() { without } else { with };
    if columns.len() < 2 || !is_tabular(rows, cut, &columns) {
        return None;
    }
    let columns = whole_columns(&several, columns);
    if columns.len() < 2 {
        return None;
    }
    let area = rows.iter().flat_map(|row| &row.words).map(Word::area).reduce(Area::around)?;
    let mut lines: Vec<Line> = Vec::with_capacity(rows.len());
    for row in rows {
        let line = line(row, &columns)?;
        // The rest of a cell that was too long for its line.
        let filled = || (line.cells.iter().enumerate()).filter(|(_, cell)| !cell.is_empty());
        if let ([(only, more)], Some(last)) =
            (filled().collect::<Vec<_>>().as_slice(), lines.last_mut())
            && 0 < *only
            && !line.spans_columns
            && let Some(cell) = last.cells.get_mut(*only)
        {
            cell.extend_from_slice(more);
            last.end = row.base;
            continue;
        }
        lines.push(line);
    }
    join_header(&mut lines);
    Some(PageTable::of_cells(area, lines.into_iter().map(|line| line.cells).collect()))
}

/// A row of words, by column.
struct Line {
    cells: Vec<Vec<Word>>,
    /// Its first and last base.
    base: f32,
    end: f32,
    size: f32,
    /// Whether one of its cells spans several columns.
    spans_columns: bool,
}

fn line(row: &Row, columns: &[(f32, f32)]) -> Option<Line> {
    let mut cells: Vec<Vec<Word>> = vec![Vec::new(); columns.len()];
    let mut spans_columns = false;
    for words in self::cells(row) {
        for part in parts(words.to_vec(), columns, row.size) {
            let (column, several) = column_of(reach(&part), columns, row.size)?;
            spans_columns |= several;
            cells.get_mut(column)?.extend(part);
        }
    }
    Some(Line { cells, base: row.base, end: row.base, size: row.size, spans_columns })
}

/// Joins lines at the top into one header if they are closer to one another than to the rows below.
fn join_header(lines: &mut Vec<Line>) {
    let step = |at: usize| lines.get(at).zip(lines.get(at + 1)).map(|(a, b)| b.base - a.end);
    let is_text = |line: &Line| {
        let cells = line.cells.iter().filter(|cell| !cell.is_empty());
        !line.spans_columns
            && !cells.map(|cell| page_table::text(cell.clone())).any(|text| is_number(&text))
    };
    let mut n_lines = 1;
    while n_lines < 4
        && let Some(line) = lines.get(n_lines).filter(|line| is_text(line))
        && step(n_lines - 1).is_some_and(|step| step < 1.6 * line.size)
    {
        n_lines += 1;
    }
    let largest = (0..n_lines - 1).filter_map(step).fold(0.0, f32::max);
    let apart = step(n_lines - 1).is_some_and(|step| 1.35 * largest < step);
    let Some(first) = lines.first().filter(|line| is_text(line)) else { return };
    let within = |a: &Line, b: &Line| {
        a.cells.iter().zip(&b.cells).all(|(a, b)| a.is_empty() || !b.is_empty())
    };
    let fit = lines.iter().take(n_lines).all(|line| within(line, first) || within(first, line));
    if n_lines < 2 || !apart || !fit || lines.len() < n_lines + 2 {
        return;
    }
    let others: Vec<Line> = lines.drain(1..n_lines).collect();
    let Some(first) = lines.first_mut() else { return };
    for line in others {
        for (cell, more) in first.cells.iter_mut().zip(line.cells) {
            cell.extend(more);
        }
    }
}

/// Whether the cells are short, or figures, and not lines of text side by side.
fn is_tabular(rows: &[Row], cut: &[Vec<(f32, f32)>], columns: &[(f32, f32)]) -> bool {
    let (mut n_cells, mut n_words, mut n_numbers, mut filling, mut n_mono) = (0, 0, 0, 0.0, 0);
    for (row, cells) in rows.iter().zip(cut).filter(|(_, cells)| 1 < cells.len()) {
        if row.words.iter().all(|word| word.wide - word.narrow < 0.02 && 0.0 < word.wide) {
            n_mono += 1;
        }
        for (left, right) in cells {
            let inside = |word: &&Word| *left <= word.left && word.right <= *right + 0.01;
            let text: Vec<&str> =
                row.words.iter().filter(inside).map(|word| word.text.as_str()).collect();
            n_cells += 1;
            n_words += text.iter().map(|text| 1 + wide_chars(text) / 2).sum::<usize>();
            n_numbers += usize::from(is_number(&text.join(" ")));
            let column = columns.iter().find(|(from, to)| *left < *to && *from < *right);
            let width = column.map_or(right - left, |(from, to)| to - from);
            filling += ((right - left) / width.max(1.0)).min(1.0);
        }
    }
    let n = n_cells.max(1) as f32;
    let (words, numbers, filling) = (n_words as f32 / n, n_numbers as f32 / n, filling / n);
    if rows.len() <= n_mono * 2 && numbers < 0.3 {
        return false; // Program text.
    }
    if 0.3 <= numbers {
        return words < 8.0;
    }
    let longest = if columns.len() == 2 { 3.5 } else { 4.5 };
    words < longest && (filling < 0.75 || words < 2.0)
}

fn wide_chars(text: &str) -> usize {
    text.chars().filter(|c| is_wide(*c)).count()
}
