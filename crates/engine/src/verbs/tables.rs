//! Lists the typed tables of the base and runs SQL statements over them (`tables`, `sql`).

use pikerag_knowledge::{DataError, DataTable, DataTables, SqlLimits, SqlRows, StoreError};

use crate::engine::Session;
use crate::error::Result;

/// A `SELECT` over the tables of a base.
#[derive(Clone, Debug, Default)]
pub struct SqlRequest {
    /// The statement. Tables and columns have the names that `tables` lists.
    pub statement: String,
    /// The limits of the statement.
    pub limits: SqlLimits,
}

/// Lists the typed tables that the caller may see.
///
/// # Errors
/// There is no base, or it cannot be read.
pub async fn tables(session: &Session) -> Result<Vec<DataTable>> {
    Ok(session.visible_base().await?.data_tables().await?)
}

/// One table, by its name in SQL.
///
/// # Errors
/// The errors of [`tables`], or there is no such table.
pub async fn table(session: &Session, name: &str) -> Result<DataTable> {
    let tables = tables(session).await?;
    let known = tables.iter().map(|table| table.name.clone()).collect();
    let found = tables.into_iter().find(|table| table.name == name);
    let none = || DataError::NoTable { table: name.to_owned(), known };
    Ok(found.ok_or_else(none).map_err(StoreError::from)?)
}

/// Runs a statement over the tables that the caller may see.
///
/// # Errors
/// There is no base, it cannot be read, or the statement may not be run ([`DataError`]).
pub async fn sql(session: &Session, request: &SqlRequest) -> Result<SqlRows> {
    let base = session.visible_base().await?;
    let run = async { Ok(base.run_sql(&request.statement, request.limits).await?) };
    session.unless_cancelled(run).await
}
