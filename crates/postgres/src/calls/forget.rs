//! Forgets documents. Their derived data goes, and so do the calls and runs that hold their text.
//! Then the server removes the dead rows. Its log and its backups are not in reach of a base.

mod texts;
mod traces;

use std::time::{Duration, Instant};

use pikerag_knowledge::{Ledger, Millis, RunId, StoreError};
use pikerag_store::{Overwriting, Remains};

use self::traces::{Found, Traces};
use super::{jobs, responses};
use crate::base::Base;
use crate::documents::{corrections, put};
use crate::error::Context;
use crate::fault::Sql;
use crate::meta::{FORGETTINGS, UNFINISHED, advance, fact, set_fact};
use crate::rows::{self, Text};
use crate::tx::{Access, Tx};

/// How long to wait for questions and exports that read an earlier state.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// The pause between two checks whether they have ended.
const PAUSE: Duration = Duration::from_millis(50);

const OVERWRITING: &str = "overwriting forgotten content";

/// Whether a transaction can still see rows that the transaction `$1` deleted: VACUUM keeps such
/// rows. A number from the future is one of another server, which wrote a copy of this base.
const IS_STILL_READ: &str =
    "SELECT $1::text::xid8 < pg_snapshot_xmax(pg_current_snapshot()) AND (
         EXISTS (
             SELECT 1 FROM pg_stat_activity s
             WHERE s.pid <> pg_backend_pid() AND s.backend_type IS DISTINCT FROM 'autovacuum worker'
               AND (age(s.backend_xid) >= age($1::text::xid8::xid)
                 OR (s.datid IS NULL OR s.datname = current_database())
                   AND age(s.backend_xmin) >= age($1::text::xid8::xid)))
         OR EXISTS (SELECT 1 FROM pg_prepared_xacts WHERE age(transaction) >= age($1::text::xid8::xid))
         OR EXISTS (SELECT 1 FROM pg_replication_slots WHERE age(xmin) >= age($1::text::xid8::xid)))";

/// All tables of bases, as a list.
const TABLES: &str =
    "SELECT string_agg(format('pikerag.%I', c.relname), ', ' ORDER BY c.relname) FROM pg_class c
     WHERE c.relnamespace = 'pikerag'::regnamespace AND c.relkind = 'r' AND EXISTS
       (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'base' AND NOT a.attisdropped)";

impl Base {
    /// Counts the calls, runs and verified answers that hold the text of these files, or were made
    /// of an earlier version. The files must still be in the base.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn remains_of(&self, files: &[String]) -> Result<Remains, StoreError> {
        if files.is_empty() {
            return Ok(Remains::default());
        }
        Ok(self.traces_of(files).await?.found().remains())
    }

    /// Deletes files with everything derived from them, the calls, runs and verified answers
    /// that hold their text, and all kept responses of servers. Then removes the dead rows. A crash
    /// leaves a mark, and [`Base::finish_forgetting`] continues. It also continues if removing them
    /// had to wait for others.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn forget_files(
        &self,
        files: &[String],
        now: Millis,
    ) -> Result<(Remains, Overwriting), StoreError> {
        // Replies in memory are searched with the others.
        self.keep_all(Vec::new()).await?;
        // The ledger is searched while others can write; entries that came since are searched while
        // they wait.
        let traces = self.traces_of(files).await?;
        let files = files.to_vec();
        let removed = self
            .writing("forgetting", Access::Forget, move |tx| async move {
                let found = traces.find_new(&tx).await?.found();
                found.remove(&tx, now).await?;
                for file in &files {
                    corrections::forget(&tx, file).await?;
                    jobs::forget(&tx, file).await?;
                }
                responses::forget(&tx).await?;
                put::delete_files(&tx, &files).await?;
                advance(&tx, FORGETTINGS).await?;
                // The mark shows later which transactions may still see the rows.
                let this = tx.one("SELECT pg_current_xact_id()::text", &[]).await?;
                set_fact(&tx, UNFINISHED, this.try_get(0)?).await?;
                Ok(found.remains())
            })
            .await?;
        Ok((removed, self.finish_forgetting().await?))
    }

    async fn traces_of(&self, files: &[String]) -> Result<Traces, StoreError> {
        let files = files.to_vec();
        self.reading("searching for traces", |tx| async move { Traces::find(&tx, files).await })
            .await
    }

    /// Removes rows of forgotten content that are not removed yet. It waits at most ten seconds for
    /// earlier questions and exports; meanwhile others read and write.
    ///
    /// # Errors
    /// As [`Base::forget_files`].
    pub async fn finish_forgetting(&self) -> Result<Overwriting, StoreError> {
        let base = self.clone();
        // It goes on if the caller no longer waits.
        tokio::spawn(async move { base.overwrite().await }).await.context(OVERWRITING)?
    }

    /// The first forgotten run whose name is or begins with `name`, and when it was forgotten.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn forgotten_run(&self, name: &str) -> Result<Option<(RunId, Millis)>, StoreError> {
        self.reading("reading forgotten runs", |tx| async move {
            let sql = "SELECT id, forgotten FROM forgotten_runs WHERE starts_with(id, $1)
                 ORDER BY id LIMIT 1";
            match tx.optional(sql, &[&Text(name)]).await? {
                Some(row) => Ok(Some((RunId(row.try_get(0)?), rows::id(&row, 1)?))),
                None => Ok(None),
            }
        })
        .await
    }

    /// Removes the dead rows of all tables, and then the mark.
    async fn overwrite(&self) -> Result<Overwriting, StoreError> {
        let mark =
            self.reading(OVERWRITING, |tx| async move { fact(&tx, UNFINISHED).await }).await?;
        let Some(mark) = mark else { return Ok(Overwriting::Nothing) };
        let began = Instant::now();
        while self.is_still_read(&mark).await? {
            if MAX_WAIT <= began.elapsed() {
                return Ok(Overwriting::StillRead);
            }
            tokio::time::sleep(PAUSE).await;
        }
        let client = self.inner.database.lent(Access::Forget).await?;
        let tables = client.query_one(TABLES, &[]).await.context(OVERWRITING)?;
        let tables: String = tables.try_get(0).context(OVERWRITING)?;
        // By itself, VACUUM may leave few dead rows in the indexes.
        let vacuum = format!("VACUUM (INDEX_CLEANUP ON) {tables}");
        client.batch_execute(&vacuum).await.context(OVERWRITING)?;
        drop(client);
        // A later forget operation has another mark.
        self.writing(OVERWRITING, Access::Records, move |tx| async move {
            let sql = "DELETE FROM meta WHERE key = $1 AND value = $2";
            tx.run(sql, &[&UNFINISHED, &mark]).await.map(drop)
        })
        .await?;
        Ok(Overwriting::Done)
    }

    async fn is_still_read(&self, mark: &str) -> Result<bool, StoreError> {
        let client = self.inner.database.lent(Access::Read).await?;
        let row = client.query_one(IS_STILL_READ, &[&mark]).await.context(OVERWRITING)?;
        row.try_get(0).context(OVERWRITING)
    }
}

/// Deletes a run that read content which was forgotten since, and the calls that only this run
/// rests on.
pub(super) async fn forget_run(tx: &Tx, run: &RunId) -> Sql<()> {
    let sql = "SELECT call FROM run_calls WHERE run = $1
         AND call NOT IN (SELECT call FROM run_calls WHERE run <> $1)";
    let alone = tx.all(sql, &[&run.0]).await?;
    let calls = alone.iter().map(|row| Ok(row.try_get(0)?)).collect::<Sql<_>>()?;
    let found =
        Found { calls, runs: vec![run.0.clone()], pruned: Vec::new(), verified: Vec::new() };
    let now = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let now = tx.number(now, &[]).await?;
    found.remove(tx, now.cast_unsigned()).await
}
