//! Lists the typed tables of a base, and runs statements over them.

use axum::extract::State;
use axum::{Extension, Json};
use pikerag_engine::SqlRequest;
use pikerag_engine::knowledge::{DataTable, SqlLimits, SqlRows};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::{App, Caller};
use crate::opened::Seen;
use crate::problem::{JsonBody, Parts, Problem};

/// The largest number of rows of one result.
pub(crate) const MOST: usize = 10_000;

/// The typed tables, by name.
#[utoipa::path(get, path = "/api/v1/bases/{base}/tables", operation_id = "listTables", tag = "look", params(("base" = String, Path)),
    responses((status = 200, body = Vec<DataTable>), (status = 404, body = Problem)))]
pub(crate) async fn tables(Seen(session): Seen) -> Result<Json<Vec<DataTable>>, Problem> {
    Ok(Json(pikerag_engine::tables(&session).await?))
}

/// A statement.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SqlBody {
    /// One `SELECT` over the tables, by their names in SQL.
    statement: String,
    /// The largest number of rows: 1 to 10,000; 1,000 by default.
    #[schema(minimum = 1, maximum = 10_000)]
    most: Option<usize>,
}

/// Runs a `SELECT` over the typed tables.
#[utoipa::path(post, path = "/api/v1/bases/{base}/sql", operation_id = "queryTables", tag = "look", params(("base" = String, Path)),
    request_body = SqlBody, responses((status = 200, body = SqlRows), (status = 400, body = Problem)))]
pub(crate) async fn sql(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Parts(base): Parts<String>,
    JsonBody(SqlBody { statement, most }): JsonBody<SqlBody>,
) -> Result<Json<SqlRows>, Problem> {
    let usual = SqlLimits::default();
    let rows = most.unwrap_or(usual.rows);
    if !(1..=MOST).contains(&rows) {
        return Err(Problem::bad_request(format!("`most` must be from 1 to {MOST}")));
    }
    let session = app.base(&caller, &base)?;
    app.within(&[&statement], &[])?;
    let request = SqlRequest { statement, limits: SqlLimits { rows, ..usual } };
    Ok(Json(pikerag_engine::sql(&session, &request).await?))
}
