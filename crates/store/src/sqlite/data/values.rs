//! Converts values of tables to values of SQLite and back.

use pikerag_knowledge::DataValue;
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// A value that is bound to a statement.
pub(in crate::sqlite) struct Bound<'a>(pub(in crate::sqlite) &'a DataValue);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            DataValue::Empty => ValueRef::Null,
            DataValue::Integer(number) => ValueRef::Integer(*number),
            DataValue::Real(number) => ValueRef::Real(*number),
            DataValue::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

/// A value that was read. No table holds bytes; bytes that a statement makes are shown in
/// hexadecimal.
pub(super) fn value(read: ValueRef<'_>) -> DataValue {
    match read {
        ValueRef::Null => DataValue::Empty,
        ValueRef::Integer(number) => DataValue::Integer(number),
        ValueRef::Real(number) => DataValue::Real(number),
        ValueRef::Text(text) => DataValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            DataValue::Text(digits.concat())
        }
    }
}
