//! Updates the statistics of the planner after large changes. Without them, a statement over a new
//! base can take minutes; the server itself updates them about once a minute.

use pikerag_knowledge::StoreError;

use crate::database::Database;
use crate::error::Context;
use crate::tx::Access;

/// The tables whose statistics are updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tables {
    All,
    /// Those of which more than a tenth changed since.
    Changed,
}

/// Updates the statistics. The tables can be read and changed meanwhile. A table is left out while its
/// statistics or an index of it are made elsewhere, which may take minutes.
pub(crate) async fn update(database: &Database, tables: Tables) -> Result<(), StoreError> {
    let doing = "updating the statistics of tables";
    let client = database.lent(Access::Documents).await?;
    let sql = "SELECT format('ANALYZE (SKIP_LOCKED) %I.%I', schemaname, relname)
         FROM pg_stat_user_tables
         WHERE schemaname = 'pikerag' AND ($1 OR 1000 + n_live_tup / 10 < n_mod_since_analyze)
         ORDER BY relname";
    for row in client.query(sql, &[&(tables == Tables::All)]).await.context(doing)? {
        let statement: String = row.try_get(0).context(doing)?;
        client.batch_execute(&statement).await.context(doing)?;
    }
    Ok(())
}
