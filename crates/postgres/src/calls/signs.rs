//! Shows which runs go on, so that every server notices a run whose server has ended.

use std::collections::BTreeSet;

use pikerag_knowledge::{RunEvent, RunId, RunRecord, RunState, StoreError};
use pikerag_store::RUN_SILENT;

use crate::base::Base;
use crate::error::Context;
use crate::rows::{self, Text};
use crate::tx::Access;

/// The running runs without a sign for `$1` seconds, by the clock of the server.
const SILENT: &str = "state = 'running' AND coalesce(beat, to_timestamp(started / 1000.0))
     < clock_timestamp() - make_interval(secs => $1::double precision)";

impl Base {
    /// Shows that a run goes on. It uses a connection of reads: writes may wait for each other for
    /// longer than a silent run counts as running.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn beat_run(&self, run: &RunId) -> Result<(), StoreError> {
        let client = self.inner.database.lent(Access::Read).await?;
        let sql = "UPDATE pikerag.runs SET beat = clock_timestamp()
             WHERE base = $1 AND id = $2 AND state = 'running'";
        let beaten = client.execute(sql, &[&self.inner.number, &Text(&run.0)]).await;
        beaten.map(drop).context("showing that a run goes on")
    }

    /// The running runs that showed nothing for [`RUN_SILENT`].
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn silent_runs(&self) -> Result<BTreeSet<RunId>, StoreError> {
        self.reading("looking for ended runs", |tx| async move {
            let sql = format!("SELECT id FROM runs WHERE {SILENT}");
            let found = tx.all(&sql, &[&RUN_SILENT.as_secs_f64()]).await?;
            found.iter().map(|row| rows::text(row, 0).map(RunId)).collect()
        })
        .await
    }

    /// Records that these runs failed. A process that was only out of reach writes its own result later.
    ///
    /// # Errors
    /// The base cannot be written.
    pub async fn end_silent_runs(&self, reason: &str) -> Result<usize, StoreError> {
        let reason = reason.to_owned();
        self.writing("recording that runs ended", Access::Records, move |tx| async move {
            let sql = format!(
                "SELECT record, (extract(epoch FROM coalesce(beat, to_timestamp(started / 1000.0))) * 1000)::bigint
                 FROM runs WHERE {SILENT} FOR UPDATE SKIP LOCKED"
            );
            let found = tx.all(&sql, &[&RUN_SILENT.as_secs_f64()]).await?;
            for row in &found {
                let run: RunRecord = rows::json(row, 0)?;
                let ended = RunRecord {
                    state: RunState::Failed,
                    ended: Some(rows::id(row, 1)?),
                    error: Some(reason.clone()),
                    ..run
                };
                let sql = "UPDATE runs SET state = $2, record = $3 WHERE id = $1";
                let record = rows::to_json(&ended)?;
                tx.run(sql, &[&Text(&ended.id.0), &ended.state.as_str(), &record]).await?;
            }
            Ok(found.len())
        })
        .await
    }

    /// The events of a run behind one of them, in order.
    ///
    /// # Errors
    /// The base cannot be read.
    pub async fn run_events_after(
        &self,
        run: &RunId,
        after: Option<u32>,
    ) -> Result<Vec<RunEvent>, StoreError> {
        self.reading("reading new events of a run", |tx| async move {
            let after = after.map_or(-1, i64::from);
            let sql = "SELECT event FROM run_events WHERE run = $1 AND $2 < seq ORDER BY seq";
            let found = tx.all(sql, &[&Text(&run.0), &after]).await?;
            found.iter().map(|row| rows::json(row, 0)).collect()
        })
        .await
    }
}
