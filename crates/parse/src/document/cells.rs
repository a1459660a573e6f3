//! Detects the header of a table, and numbers in its cells.

use std::collections::HashSet;

pub(crate) use pikerag_knowledge::named_row;

/// A longer text, in characters, is not the name of a column.
const LONGEST_NAME: usize = 100;

/// Splits off the first row as a header if all its cells are different words; empty cells at its
/// end are allowed.
pub(crate) fn split_header(mut rows: Vec<Vec<String>>) -> (Vec<String>, Vec<Vec<String>>) {
    let mut seen = HashSet::new();
    let is_name = |cell: &String| {
        !cell.is_empty()
            && cell.chars().count() <= LONGEST_NAME
            && !cell.contains(['\n', '\r'])
            && !is_number(cell)
            && seen.insert(cell.clone())
    };
    let named = |row: &Vec<String>| {
        let named = row.iter().rposition(|cell| !cell.is_empty());
        named.map(|last| row.get(..=last).unwrap_or_default().to_vec())
    };
    let header = rows.first().and_then(named).filter(|header| header.iter().all(is_name));
    if let Some(header) = header.filter(|header| 1 < rows.len() && !header.is_empty()) {
        rows.remove(0);
        return (header, rows);
    }
    (Vec::new(), rows)
}

/// Whether these cells name columns: they are different words, and few are missing, as in a corner.
pub(crate) fn names_columns(cells: &[&str]) -> bool {
    let mut seen = HashSet::new();
    let mut n_missing = 0;
    let mut years: Vec<i32> = Vec::new();
    for cell in cells.iter().map(|cell| cell.trim()) {
        if cell.is_empty() {
            n_missing += 1;
            continue;
        }
        years.extend(year(cell));
        let is_text = !is_number(cell) || year(cell).is_some();
        if !is_text || LONGEST_NAME < cell.chars().count() || !seen.insert(cell) {
            return false;
        }
    }
    // Consecutive years are names; a single year is more likely a value.
    let step = |pair: &[i32]| matches!(pair, [a, b] if (a - b).abs() == 1);
    if !years.is_empty()
        && (years.len() < 2 || cells.len() <= years.len() || !years.windows(2).all(step))
    {
        return false;
    }
    1 < cells.len() && !seen.is_empty() && n_missing <= 1.max(cells.len() / 3)
}

/// The year in a cell.
pub(crate) fn year(cell: &str) -> Option<i32> {
    let year = cell.parse().ok()?;
    (1900..2100).contains(&year).then_some(year)
}

/// Whether a cell has digits and otherwise only characters of numbers, dates and prices.
pub(crate) fn is_number(cell: &str) -> bool {
    cell.chars().any(char::is_numeric)
        && cell
            .chars()
            .all(|c| c.is_numeric() || c.is_whitespace() || "+-.,:/%$€£¥eE()".contains(c))
}
