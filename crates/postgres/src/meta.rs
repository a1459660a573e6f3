//! Reads and changes the counters and texts that a base has one of.

use crate::fault::Sql;
use crate::tx::Tx;

/// Advances with every change of chunks.
pub(crate) const TEXT_GENERATION: &str = "text_generation";
/// Advances with every forget operation.
pub(crate) const FORGETTINGS: &str = "forgettings";
/// The mark that forgotten content may still be in dead rows of the tables.
pub(crate) const UNFINISHED: &str = "forgetting";
/// Advances with every change of typed tables and their rows.
pub(crate) const DATA_VERSION: &str = "data_version";
/// Advances with every change of the rows that filters read, by triggers (`migrations/6.sql`).
pub(crate) const FILTERABLE: &str = "filterable";
/// The number of the last job.
pub(crate) const LAST_JOB: &str = "last_job";
/// The fence of the last lease on a job.
pub(crate) const LAST_FENCE: &str = "last_fence";

/// A counter of `meta`; 0 before its first advance.
pub(crate) async fn counter(tx: &Tx, key: &str) -> Sql<i64> {
    let sql = "SELECT value::bigint FROM meta WHERE key = $1";
    match tx.optional(sql, &[&key]).await? {
        Some(row) => Ok(row.try_get(0)?),
        None => Ok(0),
    }
}

/// Advances a counter, and returns it. Its row is locked until the transaction ends, so a counter grows in the order of
/// commits.
pub(crate) async fn advance(tx: &Tx, key: &str) -> Sql<i64> {
    let sql = "INSERT INTO meta AS m (key, value) VALUES ($1, '1')
         ON CONFLICT (base, key) DO UPDATE SET value = (m.value::bigint + 1)::text
         RETURNING value::bigint";
    tx.number(sql, &[&key]).await
}

/// A text of `meta`.
pub(crate) async fn fact(tx: &Tx, key: &str) -> Sql<Option<String>> {
    let row = tx.optional("SELECT value FROM meta WHERE key = $1", &[&key]).await?;
    row.map(|row| Ok(row.try_get(0)?)).transpose()
}

/// Stores a text in `meta`, in place of an earlier one.
pub(crate) async fn set_fact(tx: &Tx, key: &str, value: &str) -> Sql<()> {
    let sql = "INSERT INTO meta (key, value) VALUES ($1, $2)
         ON CONFLICT (base, key) DO UPDATE SET value = excluded.value";
    tx.run(sql, &[&key, &value]).await.map(drop)
}

/// Whether content was forgotten since a question began: see [`Base::for_a_question`](crate::Base::for_a_question).
pub(crate) async fn is_forgotten_since(tx: &Tx, began_at: Option<i64>) -> Sql<bool> {
    match began_at {
        Some(began) => Ok(began < counter(tx, FORGETTINGS).await?),
        None => Ok(false),
    }
}
