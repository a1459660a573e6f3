//! `tables` and `sql`: lists typed tables, and shows the rows that a statement gives.

use pikerag_engine::knowledge::{DataColumn, DataTable, DataValue, SqlLimits, SqlRows};
use pikerag_engine::{Session, SqlRequest};

use crate::cli::{Sql, Tables};
use crate::output::{note, say, say_json};
use crate::render::{count, short};

/// Longest cell and sample that is shown, in characters.
const CELL: usize = 40;
/// Samples of a column in the list of columns.
const SAMPLES: usize = 5;

pub(crate) async fn tables(
    session: &Session,
    json: bool,
    arguments: &Tables,
) -> anyhow::Result<u8> {
    if let Some(name) = &arguments.name {
        let table = pikerag_engine::table(session, name).await?;
        if json {
            return say_json(&table);
        }
        say(&heading(&table));
        for column in &table.columns {
            say(&described(column));
        }
        return Ok(0);
    }
    let found = pikerag_engine::tables(session).await?;
    if json {
        return say_json(&found);
    }
    for table in &found {
        say(&heading(table));
        let columns: Vec<String> = table.columns.iter().map(kind).collect();
        say(&format!("    {}", columns.join(", ")));
    }
    if found.is_empty() {
        note(
            "no tables; `pikerag index PATH…` reads them from CSV, spreadsheets, tables in documents, and JSON",
        );
    }
    Ok(0)
}

/// Its name, what people call it, and how much it holds.
fn heading(table: &DataTable) -> String {
    let rows = count(usize::try_from(table.rows).unwrap_or(usize::MAX), "row");
    let left_out = match table.left_out {
        0 => String::new(),
        n => format!(", {n} left out (totals, notes)"),
    };
    let from = match table.parts.as_slice() {
        [part] => format!(" of {}", part.uri),
        parts => format!(" of {}", count(parts.len(), "document")),
    };
    format!("{}  {:?}: {rows}{from}{left_out}", table.name, table.title)
}

fn kind(column: &DataColumn) -> String {
    let unit = column.unit.as_ref().map(|unit| format!(" ({unit})")).unwrap_or_default();
    format!("{} {}{unit}", column.sql, column.kind.as_str())
}

/// A column with what it holds.
fn described(column: &DataColumn) -> String {
    let mut words = vec![format!("{} filled", column.filled)];
    if column.unread != 0 {
        words.push(format!("{} not read as {}", column.unread, column.kind.as_str()));
    }
    let distinct = column.distinct;
    if distinct != 0 {
        let sign = if distinct < DataColumn::MOST_DISTINCT { "" } else { "at least " };
        words.push(format!("{sign}{distinct} different"));
    }
    if let (Some(least), Some(greatest)) = (&column.least, &column.greatest) {
        words.push(format!("{least} to {greatest}"));
    }
    let samples = column.samples.iter().take(SAMPLES).map(|sample| short(sample, CELL));
    let samples = samples.collect::<Vec<_>>().join(", ");
    let samples = if samples.is_empty() { samples } else { format!("; {samples}") };
    let name = match column.name == column.sql {
        true => String::new(),
        false => format!(" {:?}", column.name),
    };
    format!("    {}{name}: {}{samples}", kind(column), words.join(", "))
}

pub(crate) async fn sql(session: &Session, json: bool, arguments: &Sql) -> anyhow::Result<u8> {
    let limits = SqlLimits { rows: arguments.most.get(), ..SqlLimits::default() };
    let request = SqlRequest { statement: arguments.statement.join(" "), limits };
    let found = pikerag_engine::sql(session, &request).await?;
    if json {
        return say_json(&found);
    }
    for line in lines(&found) {
        say(&line);
    }
    if found.is_cut {
        note(&format!(
            "only the first {} are shown; `--most N` shows more",
            count(found.rows.len(), "row")
        ));
    }
    Ok(0)
}

/// The rows below their header, in columns; numbers stand to the right.
pub(super) fn lines(found: &SqlRows) -> Vec<String> {
    let cell = |value: &DataValue| short(&value.to_string(), CELL);
    let mut table: Vec<Vec<String>> =
        vec![found.columns.iter().map(|name| short(name, CELL)).collect()];
    table.extend(found.rows.iter().map(|row| row.iter().map(cell).collect()));
    let width = |place: usize| {
        table.iter().filter_map(|row| row.get(place)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> =
        (0..found.columns.len()).map(|place| width(place).unwrap_or_default()).collect();
    let is_number = |place: usize| {
        let mut values = found.rows.iter().filter_map(|row| row.get(place));
        values.all(|value| !matches!(value, DataValue::Text(_)))
    };
    let is_number: Vec<bool> = (0..widths.len()).map(is_number).collect();
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for ((cell, width), is_number) in row.iter().zip(&widths).zip(&is_number) {
            let space = " ".repeat(width.saturating_sub(cell.chars().count()));
            match is_number {
                true => line.extend([space.as_str(), cell, "  "]),
                false => line.extend([cell, space.as_str(), "  "]),
            }
        }
        line.trim_end().to_owned()
    };
    table.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_columns() {
        let text = |text: &str| DataValue::Text(text.to_owned());
        let found = SqlRows {
            columns: vec!["region".to_owned(), "sum(amount)".to_owned()],
            rows: vec![
                vec![text("north"), DataValue::Integer(12)],
                vec![DataValue::Empty, DataValue::Real(0.5)],
            ],
            is_cut: false,
        };
        insta::assert_snapshot!(lines(&found).join("\n"), @r"
        region  sum(amount)
        north            12
                        0.5
        ");
    }
}
