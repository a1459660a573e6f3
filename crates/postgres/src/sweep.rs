//! Deletes the rows of deleted chunks from their tables, in the transaction that deletes the
//! chunks.

use pikerag_knowledge::DataColumn;
use pikerag_store::shared::{naming, without_facts};

use crate::catalogue::{taken, title_of};
use crate::fault::Sql;
use crate::meta::{DATA_VERSION, advance};
use crate::rows::{self, Text};
use crate::tx::Tx;

/// Deletes these rows, and their entries in the catalogue. Every write of documents ends with it.
pub(crate) async fn sweep(tx: &Tx) -> Sql<()> {
    let sql = "SELECT g.data, EXISTS (SELECT 1 FROM data_chunks c WHERE c.data = g.data)
         FROM (SELECT DISTINCT data FROM data_gone) g ORDER BY g.data";
    let gone = tx.all(sql, &[]).await?;
    if gone.is_empty() {
        return Ok(());
    }
    let (mut smaller, mut empty) = (Vec::<i64>::new(), Vec::<i64>::new());
    for row in &gone {
        let is_left: bool = row.try_get(1)?;
        let list = if is_left { &mut smaller } else { &mut empty };
        list.push(row.try_get(0)?);
    }
    if !empty.is_empty() {
        tx.run("DELETE FROM data_rows WHERE data = ANY($1)", &[&empty]).await?;
        tx.run("DELETE FROM data_parts WHERE data = ANY($1)", &[&empty]).await?;
        tx.run("DELETE FROM data_tables WHERE id = ANY($1)", &[&empty]).await?;
    }
    if !smaller.is_empty() {
        shrink(tx, &smaller).await?;
    }
    tx.run("DELETE FROM data_gone", &[]).await?;
    advance(tx, DATA_VERSION).await.map(drop)
}

async fn shrink(tx: &Tx, tables: &[i64]) -> Sql<()> {
    tx.run("UPDATE data_tables SET is_stale = true WHERE id = ANY($1)", &[&tables]).await?;
    // Compared number by number: a comparison of ranges would read all rows for each chunk.
    let sql = "DELETE FROM data_rows WHERE data = ANY($1) AND (data, number) IN (
         SELECT g.data, generate_series(g.first, g.first + g.rows - 1) FROM data_gone g WHERE 0 < g.rows)";
    tx.run(sql, &[&tables]).await?;
    let sql = "SELECT id, name, title, columns FROM data_tables
         WHERE id = ANY($1) AND name IS NOT NULL ORDER BY id";
    for row in tx.all(sql, &[&tables]).await? {
        let table: i64 = row.try_get(0)?;
        let (mut name, title) = (rows::text(&row, 1)?, rows::text(&row, 2)?);
        let columns: Vec<DataColumn> = rows::json(&row, 3)?;
        // The name may come from the deleted document.
        let shown = title_of(tx, table).await?;
        if shown != title {
            let taken = taken(tx, table).await?;
            name = naming::in_sql(&shown, |name| taken.contains(name));
        }
        let columns: Vec<DataColumn> = columns.into_iter().map(without_facts).collect();
        let columns = rows::to_json(&columns)?;
        let sql = "UPDATE data_tables SET name = $2, title = $3, columns = $4, is_surveyed = false WHERE id = $1";
        tx.run(sql, &[&table, &Text(&name), &Text(&shown), &columns]).await?;
    }
    Ok(())
}
