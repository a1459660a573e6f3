//! Creates the tables of a database and brings older ones to the current layout. Each step is one
//! transaction under a lock, so that of several processes one does it.

use deadpool_postgres::Object;
use pikerag_knowledge::StoreError;
use tokio_postgres::error::SqlState;

use crate::error::{Context, ServerProblem};
use crate::fault::{Fault, Sql};
use crate::rows;
use crate::tx::lock;

/// The step to each layout, from the first on.
const STEPS: &[&str] = &[
    include_str!("migrations/1.sql"),
    include_str!("migrations/2.sql"),
    include_str!("migrations/3.sql"),
    include_str!("migrations/4.sql"),
    include_str!("migrations/5.sql"),
    include_str!("migrations/6.sql"),
];
/// Views and functions that follow from the tables, made again after any step.
const VIEWS: &str = include_str!("migrations/views.sql");
/// The layout that this version reads and writes.
pub(crate) const LAYOUT: i64 = STEPS.len().cast_signed() as i64;
/// The oldest version of PostgreSQL, as `server_version_num` counts.
const LEAST: i32 = 160_000;

const DOING: &str = "preparing the database";

/// Checks the server, and brings its tables up to date.
///
/// # Errors
/// A [`ServerProblem`]; [`StoreError::NotOurs`] if a newer version wrote the tables.
pub(crate) async fn bring_up_to_date(client: &Object, server: &str) -> Result<(), StoreError> {
    check_server(client, server).await?;
    if layout(client).await.map_err(|fault| fault.in_words(DOING))? == Some(LAYOUT) {
        return Ok(());
    }
    let updated = update(client, server).await;
    if updated.is_err() {
        // The transaction is over in any case.
        let _ = client.batch_execute("ROLLBACK").await;
    }
    match updated {
        Err(Fault::Database(source))
            if source.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) =>
        {
            Err(ServerProblem::NotAllowed { server: server.to_owned(), source }).context(DOING)
        }
        updated => updated.map_err(|fault| fault.in_words(DOING)),
    }
}

async fn check_server(client: &Object, server: &str) -> Result<(), StoreError> {
    let sql =
        "SELECT current_setting('server_version_num')::integer, current_setting('server_encoding')";
    let row = client.query_one(sql, &[]).await.context(DOING)?;
    let (version, encoding): (i32, String) =
        (row.try_get(0).context(DOING)?, row.try_get(1).context(DOING)?);
    let server = server.to_owned();
    if version < LEAST {
        let (version, least) = (version / 10_000, LEAST / 10_000);
        return Err(ServerProblem::OldServer { server, version, least }).context(DOING);
    }
    if encoding != "UTF8" {
        return Err(ServerProblem::Encoding { server, encoding }).context(DOING);
    }
    Ok(())
}

/// The layout of the tables; `None` if there are none.
async fn layout(client: &Object) -> Sql<Option<i64>> {
    let there = client.query_one("SELECT to_regclass('pikerag.layouts') IS NOT NULL", &[]).await?;
    if !there.try_get::<_, bool>(0)? {
        return Ok(None);
    }
    let row = client.query_one("SELECT coalesce(max(layout), 0) FROM pikerag.layouts", &[]).await?;
    Ok(Some(row.try_get(0)?))
}

async fn update(client: &Object, server: &str) -> Sql<()> {
    client.batch_execute("BEGIN").await?;
    client.execute("SELECT pg_advisory_xact_lock($1, 0)", &[&lock::MIGRATION]).await?;
    // Another process may have done it meanwhile, and uses the views already.
    let found = layout(client).await?;
    if found == Some(LAYOUT) {
        client.batch_execute("COMMIT").await?;
        return Ok(());
    }
    if let Some(newer) = found.filter(|found| LAYOUT < *found) {
        return Err(Fault::Store(StoreError::NotOurs {
            path: server.to_owned(),
            reason: format!(
                "it has layout {newer}, and this version of pikerag knows layouts up to {LAYOUT}: a newer version \
                 wrote it"
            ),
        }));
    }
    if found.is_none() {
        make_schemas(client, server).await?;
    }
    // The type of vectors may be in a schema of its own.
    let types = "SELECT format('SET LOCAL search_path = %I, public', n.nspname) FROM pg_extension e
         JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'";
    let types: String = client.query_one(types, &[]).await?.try_get(0)?;
    client.batch_execute(&types).await?;
    let done = rows::count_of(found.unwrap_or_default())?;
    for (number, step) in STEPS.iter().enumerate().skip(done) {
        client.batch_execute(step).await?;
        let layout = rows::number(number + 1);
        client.execute("INSERT INTO pikerag.layouts VALUES ($1, now())", &[&layout]).await?;
    }
    client.batch_execute(VIEWS).await?;
    client.batch_execute("COMMIT").await?;
    Ok(())
}

async fn make_schemas(client: &Object, server: &str) -> Sql<()> {
    let has_vectors = "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'
         AND string_to_array(coalesce(installed_version, default_version), '.')::integer[] >= ARRAY[0, 8]";
    let row = client.query_one(has_vectors, &[]).await?;
    if row.try_get::<_, i64>(0)? == 0 {
        let problem = ServerProblem::NoVectors { server: server.to_owned() };
        return Err(Fault::content(problem));
    }
    client
        .batch_execute(
            "CREATE EXTENSION IF NOT EXISTS vector;
             CREATE SCHEMA IF NOT EXISTS pikerag;
             CREATE SCHEMA IF NOT EXISTS pikerag_base;
             CREATE TABLE pikerag.layouts (layout bigint PRIMARY KEY, at timestamptz NOT NULL);",
        )
        .await?;
    Ok(())
}
