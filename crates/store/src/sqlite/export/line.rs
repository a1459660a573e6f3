//! Makes the lines of an export.

use pikerag_knowledge::StoreError;
use rusqlite::{Connection, Row, params_from_iter};

use crate::error::Context;

/// One line of an export: a JSON object whose `node` or `edge` says what it is.
pub type ExportLine = serde_json::Value;

pub(super) type Emit<'a> = &'a mut dyn FnMut(ExportLine) -> Result<(), StoreError>;

/// Runs a query and passes each row to `emit` as a line.
pub(super) fn each(
    connection: &Connection,
    sql: &str,
    key: Option<u64>,
    emit: Emit<'_>,
    make: impl Fn(&Row<'_>) -> rusqlite::Result<ExportLine>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(sql).context("exporting")?;
    let key = key.map(u64::cast_signed);
    let mut rows = statement.query(params_from_iter(key)).context("exporting")?;
    while let Some(row) = rows.next().context("exporting")? {
        emit(make(row).context("exporting")?)?;
    }
    Ok(())
}
