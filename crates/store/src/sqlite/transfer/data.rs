//! Copies the rows of typed tables. Each has a table of its own in SQLite, with a column for each
//! value.

use pikerag_knowledge::StoreError;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params_from_iter};
use serde_json::Value;

use super::{Cell, TakeRow};
use crate::error::Context;
use crate::sqlite::rows;

/// Passes all rows of all tables to `row`.
pub(super) fn each(
    connection: &Connection,
    doing: &str,
    row: TakeRow<'_>,
) -> Result<(), StoreError> {
    for (table, width) in tables(connection).context(doing)? {
        if !connection.table_exists(None, format!("data_{table}").as_str()).context(doing)? {
            continue;
        }
        let columns = columns(width);
        let sql = format!("SELECT row, chunk, start, stop{columns} FROM data_{table} ORDER BY row");
        let mut statement = connection.prepare(&sql).context(doing)?;
        let mut found = statement.query([]).context(doing)?;
        while let Some(read) = found.next().context(doing)? {
            let mut cells = vec![Cell::Integer(table)];
            for place in 0..4 {
                cells.push(Cell::of(read.get_ref(place).context(doing)?));
            }
            let values = (4..width + 4).map(|place| read.get_ref(place).map(json));
            let values: Vec<Value> = values.collect::<rusqlite::Result<_>>().context(doing)?;
            cells.push(Cell::Text(Value::Array(values).to_string()));
            row(cells)?;
        }
    }
    Ok(())
}

fn json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned().into()
        }
    }
}

/// The numbers of the tables that have a name, and of the columns of each.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<(i64, usize)>> {
    connection
        .prepare("SELECT id, json_array_length(columns) FROM data_tables WHERE name IS NOT NULL ORDER BY id")?
        .query_map([], |row| Ok((row.get(0)?, rows::size(row, 1)?)))?
        .collect()
}

/// The columns of a table behind its row, chunk and place: `, c0, c1`.
fn columns(width: usize) -> String {
    (0..width).fold(String::new(), |mut all, place| {
        all.push_str(", c");
        all.push_str(&place.to_string());
        all
    })
}

/// Makes the tables that the catalogue lists and that are not there yet.
pub(super) fn make_tables(connection: &Connection) -> rusqlite::Result<()> {
    for (table, width) in tables(connection)? {
        let columns = columns(width);
        connection.execute_batch(&format!(
            "CREATE TABLE IF NOT EXISTS data_{table} (row INTEGER PRIMARY KEY, chunk INTEGER NOT NULL, \
             start INTEGER NOT NULL, stop INTEGER NOT NULL{columns})"
        ))?;
    }
    Ok(())
}

/// Adds rows to their tables, which the catalogue already lists.
pub(super) fn insert(connection: &Connection, found: &[Vec<Cell>]) -> rusqlite::Result<()> {
    make_tables(connection)?;
    for row in found {
        let [Cell::Integer(table), place @ .., Cell::Text(values)] = row.as_slice() else {
            return Err(rows::bad(0, "a row of a table has other columns"));
        };
        let values: Vec<Value> =
            serde_json::from_str(values).map_err(|error| rows::bad(5, error))?;
        let places = ", ?".repeat(values.len());
        let sql = format!("INSERT INTO data_{table} VALUES (?, ?, ?, ?{places})");
        let values = values.into_iter().map(cell);
        connection
            .prepare_cached(&sql)?
            .execute(params_from_iter(place.iter().cloned().chain(values)))?;
    }
    Ok(())
}

fn cell(value: Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Cell::Integer(whole),
            None => number.as_f64().map_or(Cell::Null, Cell::Real),
        },
        Value::String(text) => Cell::Text(text),
        other => Cell::Text(other.to_string()),
    }
}
