//! Converts rows between the types of a SQLite file and those of the database.

use std::collections::HashMap;

use pgvector::Vector;
use pikerag_store::shared::Cell;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::bytes_of;
use crate::fault::{Fault, Sql};
use crate::rows::{escaped, plain};
use crate::tx::{Param, Tx};

/// Columns of JSON, which escapes U+0000 itself, and of settings of a base. All other texts are
/// escaped (`rows.rs`).
const UNESCAPED: [(&str, &str); 19] = [
    ("meta", "key"),
    ("meta", "value"),
    ("sources", "metadata"),
    ("chunks", "headings"),
    ("chunks", "area"),
    ("chunks", "cells"),
    ("chunks", "boxes"),
    ("records", "fields"),
    ("reports", "findings"),
    ("runs", "record"),
    ("run_events", "event"),
    ("jobs", "record"),
    ("jobs", "outcome"),
    ("corrections", "correction"),
    ("verified", "record"),
    ("structured", "schema"),
    ("data_tables", "columns"),
    ("data_parts", "about"),
    ("data_rows", "cells"),
];

fn is_escaped(table: &str, column: &str) -> bool {
    !UNESCAPED.contains(&(table, column))
}

/// The types of all columns in the database, by table and column.
pub(super) struct Kinds(HashMap<(String, String), String>);

impl Kinds {
    pub(super) async fn read(tx: &Tx) -> Sql<Self> {
        let sql = "SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL)
             FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
             JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = 'pikerag' AND c.relkind = 'r' AND 0 < a.attnum AND NOT a.attisdropped";
        let mut kinds = HashMap::new();
        for row in tx.all(sql, &[]).await? {
            kinds.insert((row.try_get(0)?, row.try_get(1)?), row.try_get(2)?);
        }
        Ok(Self(kinds))
    }
}

/// The values of a column of some rows, as one parameter.
pub(super) struct Column {
    pub(super) name: &'static str,
    kind: String,
    is_escaped: bool,
    values: Values,
}

enum Values {
    Numbers(Vec<Option<i64>>),
    Reals(Vec<Option<f64>>),
    Flags(Vec<Option<bool>>),
    Texts(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

impl Column {
    pub(super) fn new(kinds: &Kinds, table: &str, name: &'static str) -> Sql<Self> {
        let kind = kinds.0.get(&(table.to_owned(), name.to_owned())).cloned().unwrap_or_default();
        let values = match kind.as_str() {
            "bigint" => Values::Numbers(Vec::new()),
            "double precision" => Values::Reals(Vec::new()),
            "boolean" => Values::Flags(Vec::new()),
            "text" => Values::Texts(Vec::new()),
            "bytea" => Values::Bytes(Vec::new()),
            _ => return Err(Fault::content(format!("{table}.{name} has the type `{kind}`"))),
        };
        Ok(Self { name, kind, is_escaped: is_escaped(table, name), values })
    }

    /// Adds a value. SQLite may hold a number of another type than its column has.
    pub(super) fn push(&mut self, cell: Cell) -> Sql<()> {
        match (&mut self.values, cell) {
            (Values::Numbers(list), Cell::Null) => list.push(None),
            (Values::Numbers(list), Cell::Integer(number)) => list.push(Some(number)),
            (Values::Numbers(list), Cell::Real(number)) => list.push(Some(number as i64)),
            (Values::Reals(list), Cell::Null) => list.push(None),
            (Values::Reals(list), Cell::Integer(number)) => list.push(Some(number as f64)),
            (Values::Reals(list), Cell::Real(number)) => list.push(Some(number)),
            (Values::Flags(list), Cell::Null) => list.push(None),
            (Values::Flags(list), Cell::Integer(number)) => list.push(Some(number != 0)),
            (Values::Texts(list), Cell::Null) => list.push(None),
            (Values::Texts(list), Cell::Text(text)) => list.push(Some(match self.is_escaped {
                true => escaped(&text).into_owned(),
                false => text,
            })),
            (Values::Texts(list), Cell::Integer(number)) => list.push(Some(number.to_string())),
            (Values::Bytes(list), Cell::Null) => list.push(None),
            (Values::Bytes(list), Cell::Bytes(bytes)) => list.push(Some(bytes)),
            _ => {
                let (name, kind) = (self.name, &self.kind);
                return Err(Fault::content(format!(
                    "a `{name}` of the file is not of the type {kind}"
                )));
            }
        }
        Ok(())
    }

    /// Its place in a statement.
    pub(super) fn place(&self, nth: usize) -> String {
        format!("${nth}::{}[]", self.kind)
    }

    pub(super) fn param(&self) -> Param<'_> {
        match &self.values {
            Values::Numbers(list) => list,
            Values::Reals(list) => list,
            Values::Flags(list) => list,
            Values::Texts(list) => list,
            Values::Bytes(list) => list,
        }
    }
}

/// A row of the database as a file has it.
pub(super) fn cells(table: &str, names: &[&str], row: &Row) -> Sql<Vec<Cell>> {
    let mut cells = Vec::with_capacity(names.len());
    for (place, (name, column)) in names.iter().zip(row.columns()).enumerate() {
        let kind = column.type_();
        let cell = if *kind == Type::INT8 {
            row.try_get::<_, Option<i64>>(place)?.map(Cell::Integer)
        } else if *kind == Type::FLOAT8 {
            row.try_get::<_, Option<f64>>(place)?.map(Cell::Real)
        } else if *kind == Type::BOOL {
            row.try_get::<_, Option<bool>>(place)?.map(|flag| Cell::Integer(flag.into()))
        } else if *kind == Type::TEXT {
            let text: Option<&str> = row.try_get(place)?;
            text.map(|text| {
                Cell::Text(match is_escaped(table, name) {
                    true => plain(text).into_owned(),
                    false => text.to_owned(),
                })
            })
        } else if *kind == Type::BYTEA {
            row.try_get::<_, Option<Vec<u8>>>(place)?.map(Cell::Bytes)
        } else {
            row.try_get::<_, Option<Vector>>(place)?.map(|vector| Cell::Bytes(bytes_of(&vector)))
        };
        cells.push(cell.unwrap_or(Cell::Null));
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: &str, table: &str, name: &'static str) -> Column {
        let kinds = Kinds(HashMap::from([((table.to_owned(), name.to_owned()), kind.to_owned())]));
        Column::new(&kinds, table, name).unwrap()
    }

    #[test]
    fn texts_are_escaped_and_json_is_not() {
        let mut title = column("text", "sources", "title");
        let mut json = column("text", "sources", "metadata");
        for column in [&mut title, &mut json] {
            column.push(Cell::Text("\u{f8fe}".to_owned())).unwrap();
            column.push(Cell::Null).unwrap();
        }
        let texts = |column: &Column| match &column.values {
            Values::Texts(texts) => texts.clone(),
            _ => Vec::new(),
        };
        assert_eq!(texts(&title), [Some("\u{f8fe}\u{f8fe}".to_owned()), None]);
        assert_eq!(texts(&json), [Some("\u{f8fe}".to_owned()), None]);
        assert_eq!(title.place(3), "$3::text[]");
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        let mut flags = column("boolean", "chunks", "hidden");
        flags.push(Cell::Integer(1)).unwrap();
        assert!(flags.push(Cell::Text("yes".to_owned())).is_err());
        assert!(Column::new(&Kinds(HashMap::new()), "chunks", "none").is_err());
    }
}
