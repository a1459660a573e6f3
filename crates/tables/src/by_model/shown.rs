//! Shows tables to a model as SQL creates them: columns, kinds, units, ranges and values, as much as there is room for.

use std::fmt::Write;

use pikerag_knowledge::data::{ColumnKind, DataColumn};
use pikerag_language::fold::fold;

use crate::catalog::{Catalog, TableView};
use crate::cues::Cues;
use crate::pieces::pieces;

/// Columns of a table that are shown with their values; of the others, the names.
const COLUMNS: usize = 40;
/// Values of a column, and characters of one of them, of a title and of the name of a file.
const VALUES: usize = 8;
const LETTERS: usize = 40;

/// The tables in this order, within so many characters; how many of them there was room for. Columns that the question
/// names, or whose values it names, come first in wide tables.
pub fn shown(question: &str, catalog: &Catalog, tables: &[usize], room: usize) -> (String, usize) {
    let cues = Cues::of(question);
    let asked: Vec<&str> = cues.pieces.iter().map(|piece| piece.stem.as_str()).collect();
    let (mut told, mut taken) = (String::new(), 0);
    for view in tables.iter().filter_map(|at| catalog.tables.get(*at)) {
        let one = table(view, &asked);
        if 0 < taken && room < told.len() + one.len() {
            break;
        }
        // The first is cut rather than left out.
        told.extend(one.chars().take(room));
        taken += 1;
    }
    (told, taken)
}

fn table(view: &TableView, asked: &[&str]) -> String {
    let table = &view.table;
    let files: Vec<String> = table.parts.iter().take(3).map(|part| cut(&part.uri)).collect();
    let mut told = format!(
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
        let _ = writeln!(told, "  {}", line(column));
    }
    if !further.is_empty() {
        let names: Vec<&str> =
            further.iter().filter_map(|at| Some(table.columns.get(*at)?.sql.as_str())).collect();
        let _ = writeln!(told, "  {}, -- further columns", names.join(", "));
    }
    told.push_str(");\n");
    told
}

/// Whether the question has a word of a column's name, or of one of its values.
fn is_named(view: &TableView, column: usize, asked: &[&str]) -> bool {
    let has = |text: &String| pieces(text).iter().any(|piece| asked.contains(&piece.stem.as_str()));
    view.words(column).iter().any(|word| asked.contains(&word.stem.as_str()))
        || view.values(column).iter().take(200).any(has)
}

/// The beginning of a text, in one line.
fn cut(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LETTERS).collect()
}

fn line(column: &DataColumn) -> String {
    let mut told = format!("{} {}, --", column.sql, type_of(column.kind));
    // A name that says no more than the one in SQL is left out.
    if fold(&column.name).replace(|c: char| !c.is_alphanumeric(), "_") != column.sql {
        let _ = write!(told, " \"{}\"", cut(&column.name));
    }
    if let Some(unit) = &column.unit {
        let _ = write!(told, " in {}", cut(unit));
    }
    match (&column.least, &column.greatest) {
        (Some(least), Some(greatest)) if column.kind.is_numeric() || column.kind.is_time() => {
            let _ = write!(told, " {} to {}", cut(least), cut(greatest));
        }
        _ => {
            let values: Vec<String> =
                column.samples.iter().take(VALUES).map(|value| cut(value)).collect();
            let _ = write!(told, " {}", values.join(" | "));
            if (values.len() as u64) < column.distinct {
                let _ = write!(told, " | … ({} values)", column.distinct);
            }
        }
    }
    told
}

/// What the values of a column are, as SQL writes it.
fn type_of(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Integer | ColumnKind::Year => "INTEGER",
        ColumnKind::Real => "REAL",
        ColumnKind::Date => "DATE",
        ColumnKind::Boolean => "BOOLEAN",
        ColumnKind::Identifier | ColumnKind::Category | ColumnKind::Text => "TEXT",
    }
}
