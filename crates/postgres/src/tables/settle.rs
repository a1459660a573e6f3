//! Surveys the tables again that lost rows since they were written.

use futures::StreamExt;
use pikerag_knowledge::{DataColumn, DataValue};
use pikerag_store::shared::Survey;

use crate::fault::Sql;
use crate::meta::{DATA_VERSION, advance};
use crate::rows;
use crate::tx::Tx;

/// Whether there are such tables.
pub(crate) async fn is_behind(tx: &Tx) -> Sql<bool> {
    let sql = "SELECT 1 FROM data_tables WHERE NOT is_surveyed AND name IS NOT NULL LIMIT 1";
    tx.exists(sql, &[]).await
}

/// Surveys such tables.
pub(crate) async fn settle(tx: &Tx) -> Sql<()> {
    let sql = "SELECT id, columns FROM data_tables WHERE NOT is_surveyed AND name IS NOT NULL";
    let tables = tx.all(sql, &[]).await?;
    for row in &tables {
        let table: i64 = row.try_get(0)?;
        let columns: Vec<DataColumn> = rows::json(row, 1)?;
        let mut survey = Survey::new(&columns);
        let mut found = tx
            .stream("SELECT cells FROM data_rows WHERE data = $1 ORDER BY number", &[&table])
            .await?;
        while let Some(row) = found.next().await {
            let cells: Vec<DataValue> = rows::json(&row?, 0)?;
            survey.see(&cells);
        }
        let columns = rows::to_json(&survey.described(columns))?;
        let sql = "UPDATE data_tables SET columns = $2, is_surveyed = true WHERE id = $1";
        tx.run(sql, &[&table, &columns]).await?;
    }
    if !tables.is_empty() {
        advance(tx, DATA_VERSION).await?;
    }
    Ok(())
}
