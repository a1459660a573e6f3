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
/// The most columns of a table that appears by the names of its columns.
const BRIEF_COLUMNS: usize = 20;
/// The most values of a column, and the most characters of a value, a title or a file name.
const VALUES: usize = 12;
const LETTERS: usize = 40;
/// The most values of a column that are compared with the question, and the most of them that are shown first.
const SEARCHED: usize = 2_000;
const NAMED: usize = 6;

/// The budget for showing tables.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The most tables with kinds, ranges and values of their columns.
    pub tables: usize,
    /// The most characters of these tables.
    pub full: usize,
    /// The most characters of the further tables, which appear by the names of their columns.
    pub brief: usize,
}

/// Shows the tables in this order, and returns the number of tables that fit: the first ones with kinds, ranges and
/// values, further ones by the names of their columns. In wide tables, the columns come first whose names or values are
/// in the question.
pub fn shown(question: &str, catalog: &Catalog, tables: &[usize], room: Room) -> (String, usize) {
    let cues = Cues::of(question);
    let asked: Vec<&str> = cues.pieces.iter().map(|piece| piece.stem.as_str()).collect();
    let views: Vec<&TableView> = tables.iter().filter_map(|at| catalog.tables.get(*at)).collect();
    let (mut text, mut taken) = (String::new(), 0);
    for view in views.iter().take(room.tables) {
        let one = table(view, &asked);
        if 0 < taken && room.full < text.len() + one.len() {
            break;
        }
        // The first table is cut, not left out.
        text.extend(one.chars().take(room.full));
        taken += 1;
    }
    let mut further = String::new();
    for view in views.iter().skip(taken) {
        let one = brief(view, &asked);
        if room.brief < further.len() + one.len() {
            break;
        }
        further.push_str(&one);
        taken += 1;
    }
    if !further.is_empty() {
        text.push_str("-- Further tables, with the names of their columns only:\n");
        text.push_str(&further);
    }
    (text, taken)
}

/// The tables in words, one on each line: title, number of rows, names of columns. Tables that the question names come
/// first; those beyond `most` characters are left out.
pub fn outline(question: &str, catalog: &Catalog, most: usize) -> String {
    let cues = Cues::of(question);
    let asked: Vec<&str> = cues.pieces.iter().map(|piece| piece.stem.as_str()).collect();
    let is_asked = |view: &&TableView| {
        has_word(&view.table.title, &asked)
            || (0..view.table.columns.len()).any(|column| is_named(view, column, &asked))
    };
    let mut views: Vec<&TableView> = catalog.tables.iter().collect();
    views.sort_by_key(|view| !is_asked(view));
    let mut text = String::new();
    for view in views {
        let (shown, further) = places(view, &asked, BRIEF_COLUMNS);
        let columns = shown.iter().filter_map(|at| Some(cut(&view.table.columns.get(*at)?.name)));
        let columns = columns.collect::<Vec<_>>().join(", ");
        let more = if further.is_empty() { "" } else { ", …" };
        let (title, rows) = (cut(&view.table.title), view.table.rows);
        let line = format!("- {title} ({rows} rows): {columns}{more}\n");
        if most < text.len() + line.len() {
            break;
        }
        text.push_str(&line);
    }
    text
}

/// A table by the names of its columns, on one line.
fn brief(view: &TableView, asked: &[&str]) -> String {
    let table = &view.table;
    let (shown, further) = places(view, asked, BRIEF_COLUMNS);
    let columns = shown.iter().filter_map(|at| Some(table.columns.get(*at)?.sql.as_str()));
    let more = if further.is_empty() { "" } else { ", …" };
    let columns = columns.collect::<Vec<_>>().join(", ");
    let (name, rows, title) = (&table.name, table.rows, cut(&table.title));
    format!("CREATE TABLE {name} ({columns}{more}); -- {rows} rows; {title}\n")
}

/// The places of the first columns, those that the question names before others, and the places of the other columns.
fn places(view: &TableView, asked: &[&str], most: usize) -> (Vec<usize>, Vec<usize>) {
    let mut places: Vec<usize> = (0..view.table.columns.len()).collect();
    if most < places.len() {
        places.sort_by_key(|at| !is_named(view, *at, asked));
    }
    let further = places.split_off(places.len().min(most));
    places.sort_unstable();
    (places, further)
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
    let (places, further) = places(view, asked, COLUMNS);
    for (at, column) in places.iter().filter_map(|at| Some((at, table.columns.get(*at)?))) {
        let _ = writeln!(text, "  {}", line(view, *at, column, asked));
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
    view.words(column).iter().any(|word| asked.contains(&word.stem.as_str()))
        || view.values(column).iter().take(SEARCHED).any(|value| has_word(value, asked))
}

fn has_word(text: &str, asked: &[&str]) -> bool {
    pieces(text).iter().any(|piece| asked.contains(&piece.stem.as_str()))
}

/// The beginning of a text, on one line.
fn cut(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LETTERS).collect()
}

/// A column with its values; those first that have a word of the question.
fn line(view: &TableView, at: usize, column: &DataColumn, asked: &[&str]) -> String {
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
            let is_asked = |value: &&String| has_word(value, asked);
            let named = view.values(at).iter().take(SEARCHED).filter(is_asked).take(NAMED);
            let mut values: Vec<String> = named.map(|value| cut(value)).collect();
            for value in column.samples.iter().map(|value| cut(value)) {
                if values.len() < VALUES && !values.contains(&value) {
                    values.push(value);
                }
            }
            let _ = write!(text, " {}", values.join(" | "));
            if (values.len() as u64) < column.distinct {
                let _ = write!(text, " | … ({} values)", column.distinct);
            }
        }
    }
    if column.filled < view.table.rows {
        let _ = write!(text, ", {} empty", view.table.rows - column.filled);
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
