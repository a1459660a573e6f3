//! Deletes the rows of deleted chunks from their tables, in the transaction that deletes the
//! chunks.

use pikerag_knowledge::DataColumn;
use rusqlite::{OptionalExtension, Transaction, params};

use super::catalogue::{parts, taken, title_of};
use super::naming;
use super::survey::without_facts;
use crate::sqlite::put::json;
use crate::sqlite::rows;

/// Deletes these rows, and their entries in the catalogue.
pub(in crate::sqlite) fn sweep(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let tables: Vec<i64> = tx
        .prepare_cached("SELECT DISTINCT data FROM data_gone")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if tables.is_empty() {
        return Ok(());
    }
    for table in tables {
        let is_left = tx
            .prepare_cached("SELECT 1 FROM data_chunks WHERE data = ?1 LIMIT 1")?
            .exists([table])?;
        match is_left {
            true => shrink(tx, table)?,
            false => drop_table(tx, table)?,
        }
    }
    tx.execute("DELETE FROM data_gone", []).map(drop)
}

fn drop_table(tx: &Transaction<'_>, table: i64) -> rusqlite::Result<()> {
    tx.execute_batch(&format!("DROP TABLE IF EXISTS data_{table}"))?;
    tx.execute("DELETE FROM data_parts WHERE data = ?1", [table])?;
    tx.execute("DELETE FROM data_tables WHERE id = ?1", [table]).map(drop)
}

fn shrink(tx: &Transaction<'_>, table: i64) -> rusqlite::Result<()> {
    let held = "SELECT name, title, columns FROM data_tables WHERE id = ?1 AND name IS NOT NULL";
    let held: Option<(String, String, Vec<DataColumn>)> = tx
        .prepare_cached(held)?
        .query_row([table], |row| Ok((row.get(0)?, row.get(1)?, rows::json(row, 2)?)))
        .optional()?;
    tx.execute("UPDATE data_tables SET is_stale = 1 WHERE id = ?1", [table])?;
    let Some((mut name, title, columns)) = held else { return Ok(()) };
    let mut delete =
        tx.prepare(&format!("DELETE FROM data_{table} WHERE row >= ?1 AND row < ?1 + ?2"))?;
    let mut gone = tx.prepare("SELECT first, rows FROM data_gone WHERE data = ?1 AND 0 < rows")?;
    let mut gone = gone.query([table])?;
    while let Some(row) = gone.next()? {
        delete.execute(params![row.get::<_, i64>(0)?, row.get::<_, i64>(1)?])?;
    }
    // The name may come from the deleted document.
    let shown = title_of(&parts(tx, table)?);
    if shown != title {
        let taken = taken(tx, table)?;
        name = naming::in_sql(&shown, |name| taken.contains(name));
    }
    let columns: Vec<DataColumn> = columns.into_iter().map(without_facts).collect();
    tx.execute(
        "UPDATE data_tables SET name = ?2, title = ?3, columns = ?4, is_surveyed = 0 WHERE id = ?1",
        params![table, name, shown, json(&columns)?],
    )
    .map(drop)
}
