//! Surveys the tables again that lost rows since they were written.

use pikerag_knowledge::DataColumn;
use rusqlite::{Connection, Transaction, params};

use super::survey::surveyed;
use crate::sqlite::put::json;
use crate::sqlite::rows;

/// Whether there are such tables.
pub(in crate::sqlite) fn is_behind(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM data_tables WHERE NOT is_surveyed AND name IS NOT NULL")?
        .exists([])
}

/// Surveys such tables.
pub(in crate::sqlite) fn settle(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let held: Vec<(i64, Vec<DataColumn>)> = tx
        .prepare_cached(
            "SELECT id, columns FROM data_tables WHERE NOT is_surveyed AND name IS NOT NULL",
        )?
        .query_map([], |row| Ok((row.get(0)?, rows::json(row, 1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (table, columns) in held {
        let columns = surveyed(tx, table, "TRUE", columns)?;
        tx.execute(
            "UPDATE data_tables SET columns = ?2, is_surveyed = 1 WHERE id = ?1",
            params![table, json(&columns)?],
        )?;
    }
    Ok(())
}
