//! Makes an index for each large set of vectors (HNSW, Malkov and Yashunin, 2018), and removes those
//! that are no longer needed. An index belongs to one base, one set and one length.

use std::sync::Arc;

use deadpool_postgres::Object;
use pikerag_knowledge::{StoreError, VectorSet};
use pikerag_store::shared::{set_name, sets};

use super::vectors::{of_kind, table};
use crate::base::Base;
use crate::database::Database;
use crate::error::Context;
use crate::fault::Sql;
use crate::rows;
use crate::tx::{Access, Tx, lock};

/// A set with fewer vectors of a length is compared without an index.
pub(crate) const EXACT: i64 = 50_000;

const DOING: &str = "building the indexes of vectors";
/// The most memory for building one index, in KiB, unless the server allows more (`maintenance_work_mem`).
const MOST_MEMORY: i64 = 1 << 20;
/// Bytes that the graph needs for a vector, besides its values.
const BESIDE: i64 = 512;

/// The expression in an index, and its operators; `None` for a length that has no index.
fn indexed(dims: usize) -> Option<(String, &'static str)> {
    match dims {
        1..=2000 => Some((format!("vector::vector({dims})"), "vector_ip_ops")),
        2001..=4000 => Some((format!("vector::halfvec({dims})"), "halfvec_ip_ops")),
        _ => None,
    }
}

/// The distance of a vector `v.vector` to `$1`, in the form that the index has.
pub(super) fn distance(dims: usize) -> Option<String> {
    match dims {
        1..=2000 => Some(format!("v.vector::vector({dims}) <#> $1::vector")),
        2001..=4000 => Some(format!("v.vector::halfvec({dims}) <#> $1::vector::halfvec({dims})")),
        _ => None,
    }
}

/// The start of the names of all indexes of a base.
fn names(base: i32) -> String {
    format!("hnsw_{base}_")
}

fn name(base: i32, set: VectorSet, dims: usize) -> String {
    format!("{}{}_{dims}", names(base), set_name(set))
}

/// Whether the set has an index for vectors of this length.
pub(super) async fn is_ready(tx: &Tx, set: VectorSet, dims: usize) -> Sql<bool> {
    let sql = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass($1) AND indisvalid";
    tx.exists(sql, &[&format!("pikerag.{}", name(tx.base(), set, dims))]).await
}

/// The statements that build and remove the indexes of a base.
struct Work {
    build: Vec<Build>,
    remove: Vec<String>,
}

struct Build {
    name: String,
    table: &'static str,
    /// The memory that holds its graph, in KiB.
    memory: i64,
    sql: String,
}

/// Builds the indexes that large sets miss, and removes unneeded ones. Searches and writes go on
/// meanwhile. A failed build is a warning, because searches compare all vectors without an index.
///
/// # Errors
/// The database cannot be reached.
pub(crate) async fn build_indexes(base: &Base) -> Result<(), StoreError> {
    build_above(base, EXACT).await
}

/// Removes all indexes of a base, and builds them again.
///
/// # Errors
/// The database cannot be reached.
pub(crate) async fn rebuild_indexes(base: &Base) -> Result<(), StoreError> {
    build_above(base, i64::MAX).await?;
    build_indexes(base).await
}

/// The same for sets with at least this many vectors.
pub(super) async fn build_above(base: &Base, least: i64) -> Result<(), StoreError> {
    let work = base.reading(DOING, |tx| async move { work(&tx, least).await }).await?;
    if work.build.is_empty() && work.remove.is_empty() {
        return Ok(());
    }
    let (database, number) = (Arc::clone(&base.inner.database), base.inner.number);
    // It goes on if its caller is dropped.
    tokio::spawn(async move { do_work(&database, number, &work).await }).await.context(DOING)?
}

async fn work(tx: &Tx, least: i64) -> Sql<Work> {
    // Those of this base, and those of bases that were deleted.
    let sql = "SELECT c.relname::text, i.indisvalid FROM pg_index i
         JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = 'pikerag' AND starts_with(c.relname::text, 'hnsw_')
         AND (starts_with(c.relname::text, $1) OR NOT EXISTS (
             SELECT 1 FROM pikerag.bases b WHERE starts_with(c.relname::text, format('hnsw_%s_', b.id))
         )) ORDER BY 1";
    let mut held: Vec<(String, bool)> = Vec::new();
    for row in tx.all(sql, &[&names(tx.base())]).await? {
        held.push((row.try_get(0)?, row.try_get(1)?));
    }
    let (mut build, mut kept) = (Vec::new(), Vec::new());
    for set in sets() {
        let sql = format!(
            "SELECT v.dims::bigint, count(*) FROM pikerag_base.{} v WHERE true{}
             GROUP BY v.dims ORDER BY v.dims",
            table(set),
            of_kind(set)
        );
        for row in tx.all(&sql, &[]).await? {
            let (dims, count): (usize, i64) = (rows::size(&row, 0)?, row.try_get(1)?);
            let Some((expression, operators)) = indexed(dims) else { continue };
            let name = name(tx.base(), set, dims);
            let is_there = held.iter().any(|(held, is_valid)| *held == name && *is_valid);
            // A set that shrinks a little keeps its index.
            if is_there && least / 2 <= count {
                kept.push(name);
            } else if !is_there && least <= count {
                let values = rows::number(dims).saturating_mul(4);
                let bytes = count.saturating_mul(values.saturating_add(BESIDE));
                let sql = format!(
                    "CREATE INDEX CONCURRENTLY {name} ON pikerag.{} USING hnsw (({expression}) {operators})
                     WHERE base = {} AND dims = {dims}{}",
                    table(set),
                    tx.base(),
                    of_kind(set).replace("v.kind", "kind")
                );
                let memory = (bytes / 1024).max(1024);
                build.push(Build { name, table: table(set), memory, sql });
            }
        }
    }
    // An interrupted build leaves an invalid index.
    let remove = held.into_iter().map(|(name, _)| name).filter(|name| !kept.contains(name));
    Ok(Work { build, remove: remove.collect() })
}

async fn do_work(database: &Database, number: i32, work: &Work) -> Result<(), StoreError> {
    // Indexes are built outside of transactions, on a connection that is closed afterwards.
    let client = Object::take(database.lent(Access::Documents).await?);
    let sql = "SELECT pg_try_advisory_lock($1, $2)";
    let row = client.query_one(sql, &[&lock::INDEXES, &number]).await.context(DOING)?;
    if !row.try_get::<_, bool>(0).context(DOING)? {
        // Another process does it.
        return Ok(());
    }
    // A build waits for earlier transactions, thus also for questions that hold one.
    let settings = format!(
        "SET lock_timeout = '10min'; SET statement_timeout = 0; SET search_path = {}",
        database.types
    );
    client.batch_execute(&settings).await.context(DOING)?;
    for name in &work.remove {
        let sql = format!("DROP INDEX CONCURRENTLY IF EXISTS pikerag.{name}");
        if let Err(error) = client.batch_execute(&sql).await {
            tracing::warn!(index = name, %error, "an unneeded index of vectors was not removed");
        }
    }
    for Build { name, table, memory, sql } in &work.build {
        // The graph is built much faster in memory. Workers of a build share memory, which
        // containers limit, so there are none.
        client.batch_execute("SET max_parallel_maintenance_workers = 0").await.context(DOING)?;
        let own = (*memory).min(MOST_MEMORY);
        let sql_of_memory = format!(
            "SELECT pg_size_bytes(set_config('maintenance_work_mem', greatest(pg_size_bytes(current_setting('maintenance_work_mem')) / 1024, {own})::text || 'kB', false)) / 1024"
        );
        let row = client.query_one(&sql_of_memory, &[]).await.context(DOING)?;
        let granted: i64 = row.try_get(0).context(DOING)?;
        tracing::info!(index = name, "building an index of vectors");
        if granted < *memory {
            let (needed_mib, granted_mib) = (memory / 1024, granted / 1024);
            tracing::warn!(
                index = name,
                needed_mib,
                granted_mib,
                "the build of an index takes many times as long, because its graph does not fit into memory; \
                 raise `maintenance_work_mem` of the database server"
            );
        }
        let built = client.batch_execute(sql).await;
        // The planner prefers an index to a comparison once it knows how large the table is.
        let _ = client.batch_execute(&format!("ANALYZE pikerag.{table}")).await;
        if let Err(error) = built {
            tracing::warn!(index = name, %error, "an index of vectors was not built; searches compare all vectors");
            let sql = format!("DROP INDEX CONCURRENTLY IF EXISTS pikerag.{name}");
            let _ = client.batch_execute(&sql).await;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
