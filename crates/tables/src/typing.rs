//! Finds out what a column holds, and reads its cells as values.

use std::collections::BTreeSet;

use pikerag_knowledge::{ColumnKind, DataColumn, DataValue};

/// What is known of a column while its cells are seen.
#[derive(Clone, Debug)]
pub struct ColumnGuess {
    name: String,
    filled: u64,
    integers: u64,
    reals: u64,
}

impl ColumnGuess {
    /// A column below this header.
    pub fn new(header: &str) -> Self {
        Self { name: header.trim().to_owned(), filled: 0, integers: 0, reals: 0 }
    }

    /// Takes a cell into account.
    pub fn see(&mut self, cell: &str) {
        let cell = cell.trim();
        if cell.is_empty() {
            return;
        }
        self.filled += 1;
        if cell.parse::<i64>().is_ok() {
            self.integers += 1;
        } else if cell.parse::<f64>().is_ok_and(f64::is_finite) {
            self.reals += 1;
        }
    }

    /// What the column is.
    pub fn settle(self) -> TypedColumn {
        let numbers = self.integers + self.reals;
        let kind = match 0 < self.filled && self.filled * 9 <= numbers * 10 {
            true if self.reals == 0 => ColumnKind::Integer,
            true => ColumnKind::Real,
            false => ColumnKind::Text,
        };
        TypedColumn { column: DataColumn { name: self.name, kind, ..DataColumn::default() } }
    }
}

/// A column whose cells can be read.
#[derive(Clone, Debug)]
pub struct TypedColumn {
    /// Its name, kind and unit; nothing is counted.
    pub column: DataColumn,
}

impl TypedColumn {
    /// The value of a cell; as it is written, where it does not read as the kind.
    pub fn read(&self, cell: &str) -> DataValue {
        let cell = cell.trim();
        if cell.is_empty() {
            return DataValue::Empty;
        }
        let number = match self.column.kind {
            ColumnKind::Integer => cell.parse().ok().map(DataValue::Integer),
            ColumnKind::Real => {
                cell.parse().ok().filter(|number: &f64| number.is_finite()).map(DataValue::Real)
            }
            _ => None,
        };
        number.unwrap_or_else(|| DataValue::Text(cell.to_owned()))
    }
}

/// Whether a row is one of totals, a note or a repeated header.
pub fn is_left_out(header: &[String], _kinds: &[ColumnKind], row: &[String]) -> bool {
    row == header || row.first().is_some_and(|cell| cell.trim().eq_ignore_ascii_case("total"))
}

/// Names in SQL for these, each once and none of those taken; they are taken then.
pub fn sql_names(names: &[String], taken: &mut BTreeSet<String>) -> Vec<String> {
    names.iter().map(|name| sql_name(name, taken)).collect()
}

fn sql_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut plain = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        match c.is_alphanumeric() {
            true => plain.push(c),
            false if !plain.is_empty() && !plain.ends_with('_') => plain.push('_'),
            false => {}
        }
    }
    let plain = plain.trim_end_matches('_');
    let plain = if plain.is_empty() { "column" } else { plain };
    let mut free = plain.to_owned();
    let mut nth = 2;
    while !taken.insert(free.clone()) {
        free = format!("{plain}_{nth}");
        nth += 1;
    }
    free
}
