//! Writes rows of tables on one line.

use crate::language::is_chinese;

/// A row with the name of its column before each cell, on one line: `Port: Oslo | Year: 1998`. Empty
/// cells are left out. The names come first, in brackets, if the row has another number of cells;
/// `row` stays as it is without names.
pub fn with_columns(columns: &[String], row: &str) -> String {
    if columns.is_empty() {
        return row.to_owned();
    }
    let cells: Vec<&str> = row.trim().trim_matches('|').split('|').map(str::trim).collect();
    if cells.len() != columns.len() {
        return format!("[{}] {row}", columns.join(" | "));
    }
    let named = columns.iter().zip(cells).filter(|(_, cell)| !cell.is_empty());
    let named = named.map(|(name, cell)| match name.chars().any(is_chinese) {
        _ if name.is_empty() => cell.to_owned(),
        true => format!("{name}：{cell}"),
        false => format!("{name}: {cell}"),
    });
    named.collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_names_of_their_columns() {
        let columns = ["Pump", "Flow", ""].map(str::to_owned);
        assert_eq!(with_columns(&columns, "| P-1 | 40 | x |"), "Pump: P-1 | Flow: 40 | x");
        assert_eq!(with_columns(&columns, "| P-1 |  | x |"), "Pump: P-1 | x");
        assert_eq!(with_columns(&columns, "P-1 | 40"), "[Pump | Flow | ] P-1 | 40");
        assert_eq!(with_columns(&["编号".to_owned()], "| P-1 |"), "编号：P-1");
        assert_eq!(with_columns(&[], "It leaks."), "It leaks.");
    }
}
