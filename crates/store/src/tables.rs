//! Answers queries over typed records with SQLite in memory. A frame becomes a table with one or
//! two columns per field. Text of documents and models enters the SQL only as bound values.

mod sql;
#[cfg(test)]
mod tests;

use pikerag_knowledge::records::FieldType;
use pikerag_knowledge::tables::{By, Cell, Frame, Order, RecordQuery, Table, TableRow};
use pikerag_knowledge::{QueryEngine, QueryError, Value};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params_from_iter};

use self::sql::Statement;

/// SQLite as a query engine. It keeps no state: each query has its own database in memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tables;

impl QueryEngine for Tables {
    fn tabulate(&self, frame: &Frame, query: &RecordQuery) -> Result<Table, QueryError> {
        let statement = Statement::of(frame, query)?;
        compute(frame, query, &statement).map_err(|error| QueryError::Engine(error.into()))
    }
}

fn compute(frame: &Frame, query: &RecordQuery, statement: &Statement) -> rusqlite::Result<Table> {
    let connection = loaded(frame)?;
    let bound = || params_from_iter(statement.bound.iter());
    let (matched, undecided, unmeasured) =
        connection.query_row(&statement.counts, bound(), |row| {
            Ok((size(row.get(0)?), size(row.get(1)?), size(row.get(2)?)))
        })?;
    let mut rows = connection
        .prepare(&statement.groups)?
        .query_map(bound(), |row| read_row(row, frame, query))?
        .collect::<rusqlite::Result<Vec<TableRow>>>()?;
    // Without groups, a count of nothing is a result too.
    rows.retain(|row| !row.things.is_empty() || query.group.is_empty());
    if let Some(limit) = query.limit {
        cut(&mut rows, limit, query.order);
    }
    Ok(Table { rows, matched, unmeasured, undecided })
}

/// Cuts off the rows behind the limit; rows equal to the last one stay.
fn cut(rows: &mut Vec<TableRow>, limit: usize, order: Order) {
    let last = limit.checked_sub(1).and_then(|last| rows.get(last)).map(|row| row.value);
    let Some(last) = last else { return rows.truncate(limit) };
    let same = |row: &&TableRow| order != Order::Key && row.value.total_cmp(&last).is_eq();
    let more = rows.iter().skip(limit).take_while(same).count();
    rows.truncate(limit + more);
}

fn read_row(
    row: &rusqlite::Row<'_>,
    frame: &Frame,
    query: &RecordQuery,
) -> rusqlite::Result<TableRow> {
    let things: Option<String> = row.get(2)?;
    let things: Vec<usize> =
        things.and_then(|things| serde_json::from_str(&things).ok()).unwrap_or_default();
    let mut key = Vec::with_capacity(query.group.len());
    for (place, group) in query.group.iter().enumerate() {
        let shown = match (group.by, things.first()) {
            // As the first thing of the group writes it.
            (By::Value, Some(first)) => {
                frame.cell(*first, &group.field).map(|cell| cell.value.to_string())
            }
            _ => row.get::<_, Option<String>>(3 + place)?,
        };
        key.push(shown.unwrap_or_default());
    }
    let value: Option<f64> = row.get(0)?;
    Ok(TableRow { key, value: value.unwrap_or_default(), unit: row.get(1)?, things })
}

/// A database that holds the frame as its table `things`.
fn loaded(frame: &Frame) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    let mut columns = String::from("id INTEGER PRIMARY KEY");
    let mut marks = String::from("?");
    for (place, column) in frame.columns.iter().enumerate() {
        let (own, count) = match column.kind {
            FieldType::Text => (format!(", f{place} TEXT"), 1),
            FieldType::Number => (format!(", n{place} REAL, u{place} TEXT"), 2),
            FieldType::Date => (format!(", a{place} TEXT, z{place} TEXT"), 2),
            FieldType::Bool => (format!(", b{place} INTEGER"), 1),
        };
        columns.push_str(&own);
        marks.push_str(&", ?".repeat(count));
    }
    connection.execute_batch(&format!("BEGIN; CREATE TABLE things ({columns}) STRICT;"))?;
    {
        let mut insert = connection.prepare(&format!("INSERT INTO things VALUES ({marks})"))?;
        for (place, thing) in frame.things.iter().enumerate() {
            let mut values = vec![Sql::Integer(i64::try_from(place).unwrap_or(i64::MAX))];
            for (at, column) in frame.columns.iter().enumerate() {
                let cell = thing.cells.get(at).and_then(Option::as_ref);
                stored(column.kind, cell, &mut values);
            }
            insert.execute(params_from_iter(values))?;
        }
    }
    connection.execute_batch("COMMIT")?;
    Ok(connection)
}

/// Adds as many values as the cell's column has; a cell of another type adds nulls.
fn stored(kind: FieldType, cell: Option<&Cell>, values: &mut Vec<Sql>) {
    let text = |text: &str| Sql::Text(text.to_owned());
    match (kind, cell.map(|cell| (&cell.value, cell))) {
        (FieldType::Text, Some((_, cell))) => values.push(text(&cell.folded)),
        (FieldType::Number, Some((Value::Number(number), _))) => {
            values.push(Sql::Real(number.amount));
            values.push(number.unit.as_deref().map_or(Sql::Null, text));
        }
        (FieldType::Date, Some((Value::Date(date), _))) => {
            values.push(text(&first_day(date)));
            values.push(text(&last_day(date)));
        }
        (FieldType::Bool, Some((Value::Bool(truth), _))) => {
            values.push(Sql::Integer((*truth).into()));
        }
        (FieldType::Text | FieldType::Bool, _) => values.push(Sql::Null),
        (FieldType::Number | FieldType::Date, _) => values.extend([Sql::Null, Sql::Null]),
    }
}

/// The first day that a date by ISO 8601 may mean.
fn first_day(date: &str) -> String {
    match date.len() {
        4 => format!("{date}-01-01"),
        7 => format!("{date}-01"),
        _ => date.to_owned(),
    }
}

/// The last day that a date may mean. A month always ends on the 31st, which sorts behind all its
/// days.
fn last_day(date: &str) -> String {
    match date.len() {
        4 => format!("{date}-12-31"),
        7 => format!("{date}-31"),
        _ => date.to_owned(),
    }
}

fn size(count: i64) -> usize {
    usize::try_from(count).unwrap_or_default()
}
