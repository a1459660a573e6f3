//! Which rows of words are a table without rules? Those whose gaps stand under one another, and
//! whose cells are too short to be columns of running text.

use super::grid::{Grid, is_number};
use super::ink::Word;
use super::lines::{self, Row};
use crate::layout::is_wide;
use pikerag_knowledge::Area;

/// Rows from which on it is a table.
const FEWEST_ROWS: usize = 3;

/// Takes the tables without rules out of `rows`.
pub(crate) fn tables(rows: &mut Vec<Row>) -> Vec<Grid> {
    let cut: Vec<Vec<(f32, f32)>> = rows.iter().map(cells).collect();
    let mut grids = Vec::new();
    let mut taken = vec![false; rows.len()];
    let mut start = 0;
    while start < rows.len() {
        let Some(end) = run(rows, &cut, start) else {
            start += 1;
            continue;
        };
        if let (Some(part), Some(cut)) = (rows.get(start..end), cut.get(start..end))
            && let Some(grid) = table(part, cut)
        {
            grids.push(grid);
            taken.iter_mut().take(end).skip(start).for_each(|taken| *taken = true);
        }
        start = end;
    }
    let mut taken = taken.into_iter();
    rows.retain(|_| !taken.next().unwrap_or(false));
    grids
}

/// Do the words, or some of them, make a table?
pub(crate) fn is_table(words: &[Word]) -> bool {
    let mut rows = lines::rows(words.to_vec());
    tables(&mut rows).iter().any(|grid| 4 <= grid.rows.len())
}

/// From where to where the cells of a row reach.
fn cells(row: &Row) -> Vec<(f32, f32)> {
    let mut cells = Vec::new();
    let mut from = 0;
    let gaps = lines::gaps(row);
    for end in gaps.iter().map(|gap| gap.word).chain([row.words.len()]) {
        let words = row.words.get(from..end).unwrap_or_default();
        let left = words.iter().map(|word| word.left).fold(f32::MAX, f32::min);
        let right = words.iter().map(|word| word.right).fold(f32::MIN, f32::max);
        if left <= right {
            cells.push((left, right));
        }
        from = end;
    }
    cells
}

/// Where the run of rows with several cells that begins at `start` ends; a single row with one cell
/// may stand between two of them.
fn run(rows: &[Row], cut: &[Vec<(f32, f32)>], start: usize) -> Option<usize> {
    let several = |at: usize| cut.get(at).is_some_and(|cells| 1 < cells.len());
    if !several(start) {
        return None;
    }
    let near = |above: usize, below: usize| {
        let bases = rows.get(above).zip(rows.get(below));
        bases.is_some_and(|(a, b)| b.base - a.base < 3.2 * a.size.max(b.size))
    };
    let mut end = start + 1;
    let mut n = 1;
    loop {
        if several(end) && near(end - 1, end) {
            end += 1;
        } else if several(end + 1) && near(end - 1, end) && near(end, end + 1) {
            end += 2;
        } else {
            break;
        }
        n += 1;
    }
    (FEWEST_ROWS <= n).then_some(end)
}

fn table(rows: &[Row], cut: &[Vec<(f32, f32)>]) -> Option<Grid> {
    let several: Vec<&Vec<(f32, f32)>> = cut.iter().filter(|cells| 1 < cells.len()).collect();
    let size = rows.iter().map(|row| row.size).fold(f32::MAX, f32::min);
    let columns = columns(&several, size);
    if columns.len() < 2 || !is_tabular(rows, cut, &columns) {
        return None;
    }
    let mut area: Option<Area> = None;
    let mut cells: Vec<Vec<Vec<Word>>> = Vec::new();
    for row in rows {
        let mut line: Vec<Vec<Word>> = vec![Vec::new(); columns.len()];
        for word in &row.words {
            area = Some(area.map_or(word.area(), |area| area.around(word.area())));
            let middle = f32::midpoint(word.left, word.right);
            // A word between two columns goes to the nearer one.
            let away = |column: &(f32, f32)| (column.0 - middle).max(middle - column.1).max(0.0);
            let nearest = (columns.iter().enumerate())
                .min_by(|(_, a), (_, b)| away(a).total_cmp(&away(b)))
                .map(|(index, _)| index)?;
            line.get_mut(nearest)?.push(word.clone());
        }
        let filled: Vec<usize> = (line.iter().enumerate())
            .filter(|(_, cell)| !cell.is_empty())
            .map(|(index, _)| index)
            .collect();
        // The rest of a cell that was too long for its line.
        if let ([only], Some(last)) = (filled.as_slice(), cells.last_mut())
            && 0 < *only
            && let (Some(cell), Some(more)) = (last.get_mut(*only), line.get_mut(*only))
        {
            cell.append(more);
            continue;
        }
        cells.push(line);
    }
    Some(Grid::of_cells(area?, cells))
}

/// Columns are what lies between the gaps that nearly all rows share.
fn columns(several: &[&Vec<(f32, f32)>], size: f32) -> Vec<(f32, f32)> {
    let mut ends: Vec<(f32, i32)> = Vec::new();
    for (left, right) in several.iter().flat_map(|cells| cells.iter()) {
        ends.extend([(*left, 1), (*right, -1)]);
    }
    ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let few = i32::try_from(several.len() / 8).unwrap_or(i32::MAX);
    let mut columns: Vec<(f32, f32)> = Vec::new();
    let (mut covered, mut from) = (0, None);
    for (at, step) in ends {
        let before = covered;
        covered += step;
        if before <= few && few < covered {
            from = Some(at);
        } else if covered <= few
            && few < before
            && let Some(from) = from.take()
        {
            match columns.last_mut() {
                Some((_, to)) if from - *to < 0.4 * size => *to = at,
                _ => columns.push((from, at)),
            }
        }
    }
    columns
}

/// Are the cells short, or figures, and not lines of text side by side?
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
