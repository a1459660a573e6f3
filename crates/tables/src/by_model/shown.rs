//! Shows tables to a model as `CREATE TABLE` statements: columns, kinds, units, ranges and values, within a budget of
//! characters.

use std::fmt::Write;

use pikerag_knowledge::data::{ColumnKind, DataColumn};
use pikerag_language::fold::fold;

use crate::catalog::{Catalog, TableView};
use crate::cues::Cues;
use crate::pieces::pieces;

/// The most columns of a table with values; the others appear by name only.
const COLUMNS: usize = 40;
/// The most values of a column, and the most characters of a value, a title or a file name.
const VALUES: usize = 8;
const LETTERS: usize = 40;

/// Shows the tables in this order within `room` characters, and returns the number of tables that fit. In wide tables,
/// the columns come first whose names or values are in the question.
pub fn shown(question: &str, catalog: &Catalog, tables: &[usize], room: usize) -> (String, usize) {
    let cues = Cues::of(question);
    let asked: Vec<&str> = cues.pieces.iter().map(|piece| piece.stem.as_str()).collect();
    let (mut text, mut taken) = (String::new(), 0);
    for view in tables.iter().filter_map(|at| catalog.tables.get(*at)) {
        let one = table(view, &asked);
        if 0 < taken && room < text.len() + one.len() {
            break;
        }
        // The first table is cut, not left out.
        text.extend(one.chars().take(room));
        taken += 1;
    }
    (text, taken)
}

fn table(view: &TableView, asked: &[&str]) -> String {
    let table = &view.table;
    let files: Vec<String> = table.parts.iter().take(3).map(|part| cut(&part.uri)).collect();
    let mut text = format!(
        "CREATE TABLE {} ( -- {} rows; {}; from {}\n",
        table.name,
        table.rows,
        cut(&table.title),
        files.join(", ")
    );
    let mut places: Vec<usize> = (0..table.columns.len()).collect();
    if COLUMNS < places.len() {
        places.sort_by_key(|at| !is_named(view, *at, asked));
    }
    let further = places.split_off(places.len().min(COLUMNS));
    places.sort_unstable();
    for column in places.iter().filter_map(|at| table.columns.get(*at)) {
        let _ = writeln!(text, "  {}", line(column));
    }
    if !further.is_empty() {
        let names: Vec<&str> =
            further.iter().filter_map(|at| Some(table.columns.get(*at)?.sql.as_str())).collect();
        let _ = writeln!(text, "  {}, -- further columns", names.join(", "));
    }
    text.push_str(");\n");
    text
}

/// Whether the question has a word of a column's name or of one of its values.
fn is_named(view: &TableView, column: usize, asked: &[&str]) -> bool {
    let has = |text: &String| pieces(text).iter().any(|piece| asked.contains(&piece.stem.as_str()));
    view.words(column).iter().any(|word| asked.contains(&word.stem.as_str()))
        || view.values(column).iter().take(200).any(has)
}

/// The beginning of a text, on one line.
fn cut(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LETTERS).collect()
}

fn line(column: &DataColumn) -> String {
    let mut text = format!("{} {}, --", column.sql, type_of(column.kind));
    // A header name that adds nothing to the SQL name is left out.
    if fold(&column.name).replace(|c: char| !c.is_alphanumeric(), "_") != column.sql {
        let _ = write!(text, " \"{}\"", cut(&column.name));
    }
    if let Some(unit) = &column.unit {
        let _ = write!(text, " in {}", cut(unit));
    }
    match (&column.least, &column.greatest) {
        (Some(least), Some(greatest)) if column.kind.is_numeric() || column.kind.is_time() => {
            let _ = write!(text, " {} to {}", cut(least), cut(greatest));
        }
        _ => {
            let values: Vec<String> =
                column.samples.iter().take(VALUES).map(|value| cut(value)).collect();
            let _ = write!(text, " {}", values.join(" | "));
            if (values.len() as u64) < column.distinct {
                let _ = write!(text, " | … ({} values)", column.distinct);
            }
        }
    }
    text
}

/// The SQL type of a column's values.
fn type_of(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Integer | ColumnKind::Year => "INTEGER",
        ColumnKind::Real => "REAL",
        ColumnKind::Date => "DATE",
        ColumnKind::Boolean => "BOOLEAN",
        ColumnKind::Identifier | ColumnKind::Category | ColumnKind::Text => "TEXT",
    }
}
