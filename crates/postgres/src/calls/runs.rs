//! Stores runs, a row for each, with their events beside it.

use std::collections::BTreeMap;

use async_trait::async_trait;
use pikerag_knowledge::{
    Millis, Pruned, RunEvent, RunId, RunQuery, RunRecord, RunState, RunStore, RunsToKeep,
    StoreError,
};
use serde::de::DeserializeOwned;
use tokio_postgres::Row;

use super::forget::forget_run;
use super::origins;
use crate::base::Base;
use crate::fault::Sql;
use crate::listener::NOTIFY;
use crate::meta::is_forgotten_since;
use crate::rows::{self, Text};
use crate::tx::{Access, Tx};

/// Deletes the runs that started up to a time, and the ended runs behind the latest ones. It does
/// not read the records of the runs that stay: they may fill hundreds of MiB, and this happens
/// after each question.
const PRUNE: &str = "DELETE FROM runs WHERE id IN (
        SELECT id FROM runs WHERE started <= $2
        UNION ALL SELECT id FROM (SELECT id FROM runs ORDER BY started DESC, id OFFSET $3) AS behind)
    AND (started <= $2 OR state <> $1)";

#[async_trait]
impl RunStore for Base {
    async fn keep_run(&self, run: RunRecord, events: Vec<RunEvent>) -> Result<(), StoreError> {
        let began_at = self.began_at();
        self.writing("keeping a run", Access::Records, move |tx| async move {
            // A run may be forgotten while it goes on.
            if tx.exists("SELECT 1 FROM forgotten_runs WHERE id = $1", &[&run.id.0]).await? {
                return Ok(());
            }
            if is_forgotten_since(&tx, began_at).await? {
                // Only the names of its calls are noted, so that these calls are deleted too.
                origins::note_run(&tx, &run.id, &events, &[]).await?;
                return forget_run(&tx, &run.id).await;
            }
            let mut jsons = vec![put(&tx, &run).await?];
            jsons.extend(put_events(&tx, &run.id, &events).await?);
            tx.batch(NOTIFY).await?;
            origins::note_run(&tx, &run.id, &events, &jsons).await
        })
        .await
    }

    async fn runs(&self, query: RunQuery<'_>) -> Result<Vec<RunRecord>, StoreError> {
        self.reading("reading runs", |tx| async move {
            let found = match query {
                RunQuery::Latest(limit) => {
                    let sql = "SELECT record FROM runs ORDER BY started DESC, id LIMIT $1";
                    tx.all(sql, &[&rows::number(limit)]).await?
                }
                RunQuery::Named(prefix) => {
                    let sql = "SELECT record FROM runs WHERE starts_with(id, $1)
                         ORDER BY length(id), id LIMIT 2";
                    tx.all(sql, &[&Text(prefix)]).await?
                }
            };
            all(&found)
        })
        .await
    }

    async fn run_events(&self, run: &RunId) -> Result<Vec<RunEvent>, StoreError> {
        self.reading("reading the events of a run", |tx| async move {
            let sql = "SELECT event FROM run_events WHERE run = $1 ORDER BY seq";
            all(&tx.all(sql, &[&Text(&run.0)]).await?)
        })
        .await
    }

    async fn prune_runs(&self, keep: RunsToKeep) -> Result<Pruned, StoreError> {
        self.writing("deleting old runs", Access::Records, move |tx| async move {
            let sql = "SELECT started FROM runs ORDER BY started DESC, id";
            let times: Vec<Millis> = rows::ids(&tx.all(sql, &[]).await?)?;
            let (oldest, leap) = keep.too_old(&times);
            let oldest = oldest.filter(|_| leap.is_none()).map(u64::cast_signed);
            let (running, behind) = (RunState::Running.as_str(), rows::number(keep.number));
            let forgotten = tx.run(PRUNE, &[&running, &oldest, &behind]).await?;
            Ok(Pruned { forgotten: forgotten as usize, leap })
        })
        .await
    }
}

/// Stores a run, and returns its JSON.
async fn put(tx: &Tx, run: &RunRecord) -> Sql<String> {
    let record = rows::to_json(run)?;
    let sql = "INSERT INTO runs (id, started, state, record, beat)
         VALUES ($1, $2, $3, $4, clock_timestamp())
         ON CONFLICT (base, id) DO UPDATE
         SET state = excluded.state, record = excluded.record, beat = excluded.beat";
    let (started, state) = (run.started.cast_signed(), run.state.as_str());
    tx.run(sql, &[&run.id.0, &started, &state, &record]).await?;
    Ok(record)
}

/// Stores events of a run, and returns their JSON.
async fn put_events(tx: &Tx, run: &RunId, events: &[RunEvent]) -> Sql<Vec<String>> {
    // Of two events with one number, the later counts.
    let mut numbered: BTreeMap<i64, String> = BTreeMap::new();
    for event in events {
        numbered.insert(i64::from(event.seq), rows::to_json(event)?);
    }
    if numbered.is_empty() {
        return Ok(Vec::new());
    }
    let (numbers, jsons): (Vec<i64>, Vec<String>) = numbered.into_iter().unzip();
    let sql = "INSERT INTO run_events (run, seq, event)
         SELECT $1::text, e.seq, e.event FROM unnest($2::bigint[], $3::text[]) AS e(seq, event)
         ON CONFLICT (base, run, seq) DO UPDATE SET event = excluded.event";
    tx.run(sql, &[&run.0, &numbers, &jsons]).await?;
    Ok(jsons)
}

/// The values in the first column, which holds JSON.
fn all<T: DeserializeOwned>(found: &[Row]) -> Sql<Vec<T>> {
    found.iter().map(|row| rows::json(row, 0)).collect()
}
