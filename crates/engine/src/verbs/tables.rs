//! Lists the typed tables of the base and runs SQL statements over them (`tables`, `sql`).

use pikerag_knowledge::{DataError, DataTable, SqlLimits, SqlRows, StoreError};

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
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// for table in pikerag_engine::tables(session).await? {
///     let columns: Vec<&str> = table.columns.iter().map(|column| column.sql.as_str()).collect();
///     println!("{} ({}): {} rows", table.name, columns.join(", "), table.rows);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn tables(session: &Session) -> Result<Vec<DataTable>> {
    Ok(session.visible_base().await?.data_tables().await?)
}

/// One table, by its name in SQL.
///
/// # Errors
/// The errors of [`tables`], or there is no such table.
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// let table = pikerag_engine::table(session, "sales").await?;
/// if let Some(price) = table.column("price") {
///     println!("from {:?} to {:?} {:?}", price.least, price.greatest, price.unit);
/// }
/// # Ok(())
/// # }
/// ```
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
///
/// # Examples
/// ```no_run
/// # async fn f(session: &pikerag_engine::Session) -> pikerag_engine::Result<()> {
/// use pikerag_engine::knowledge::SqlLimits;
/// use pikerag_engine::{SqlRequest, sql};
///
/// let request = SqlRequest {
///     statement: "SELECT town, sum(price) FROM sales GROUP BY town".to_owned(),
///     limits: SqlLimits { rows: 20, ..Default::default() },
/// };
/// for row in sql(session, &request).await?.rows {
///     let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
///     println!("{}", cells.join(" | "));
/// }
/// # Ok(())
/// # }
/// ```
pub async fn sql(session: &Session, request: &SqlRequest) -> Result<SqlRows> {
    let base = session.visible_base().await?;
    let run = async { Ok(base.run_sql(&request.statement, request.limits).await?) };
    session.unless_cancelled(run).await
}
