//! Stores runs, a row for each, with their events beside it.

use async_trait::async_trait;
use pikerag_knowledge::{
    Millis, Pruned, RunEvent, RunId, RunQuery, RunRecord, RunState, RunStore, RunsToKeep,
    StoreError,
};
use rusqlite::{Row, params};
use serde::de::DeserializeOwned;

use super::base::Base;
use super::forget::{forget_run, forgotten_since};
use super::origins;
use super::put::json;
use super::rows::{self, bad, limit_of};

/// Deletes the runs that started up to a time, and the ended runs behind the latest ones. It does
/// not read the records of the runs that stay: they may fill hundreds of MiB, and this happens
/// after each question.
const PRUNE: &str = "DELETE FROM runs WHERE id IN (
        SELECT id FROM runs WHERE started <= ?2
        UNION ALL SELECT id FROM (SELECT id FROM runs ORDER BY started DESC, id LIMIT -1 OFFSET ?3))
    AND (started <= ?2 OR state <> ?1)";

#[async_trait]
impl RunStore for Base {
    async fn keep_run(&self, run: RunRecord, events: Vec<RunEvent>) -> Result<(), StoreError> {
        let began_at = self.began_at();
        self.writing("keeping a run", move |tx| {
            // A run may be forgotten while it goes on.
            if tx
                .prepare_cached("SELECT 1 FROM forgotten_runs WHERE id = ?1")?
                .exists([&run.id.0])?
            {
                return Ok(());
            }
            if forgotten_since(tx)?(began_at) {
                // Only the names of its calls are noted, so that these calls are deleted too.
                origins::note_run(tx, &run.id, &events, &[])?;
                return forget_run(tx, &run.id);
            }
            let record = json(&run)?;
            tx.prepare_cached(
                "INSERT INTO runs(id, started, state, record) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT(id) DO UPDATE SET state = excluded.state, record = excluded.record",
            )?
            .execute(params![
                run.id.0,
                run.started.cast_signed(),
                run.state.as_str(),
                record
            ])?;
            let mut insert = tx.prepare_cached(
                "INSERT INTO run_events(run, seq, event) VALUES (?1, ?2, ?3)
                 ON CONFLICT(run, seq) DO UPDATE SET event = excluded.event",
            )?;
            let mut jsons = vec![record];
            for event in &events {
                let event_json = json(event)?;
                insert.execute(params![run.id.0, event.seq, event_json])?;
                jsons.push(event_json);
            }
            origins::note_run(tx, &run.id, &events, &jsons)
        })
        .await
    }

    async fn runs(&self, query: RunQuery<'_>) -> Result<Vec<RunRecord>, StoreError> {
        let (prefix, sql, limit) = match query {
            RunQuery::Latest(limit) => ("", "ORDER BY started DESC, id", limit),
            RunQuery::Named(prefix) => (prefix, "ORDER BY length(id), id", 2),
        };
        let prefix = prefix.to_owned();
        self.querying("reading runs", move |connection| {
            let sql = format!(
                "SELECT record FROM runs WHERE substr(id, 1, length(?1)) = ?1 {sql} LIMIT ?2"
            );
            connection
                .prepare_cached(&sql)?
                .query_map(params![prefix, limit_of(limit)], read)?
                .collect()
        })
        .await
    }

    async fn run_events(&self, run: &RunId) -> Result<Vec<RunEvent>, StoreError> {
        let run = run.clone();
        self.querying("reading the events of a run", move |connection| {
            connection
                .prepare_cached("SELECT event FROM run_events WHERE run = ?1 ORDER BY seq")?
                .query_map([run.0], read)?
                .collect()
        })
        .await
    }

    async fn prune_runs(&self, keep: RunsToKeep) -> Result<Pruned, StoreError> {
        self.writing("deleting old runs", move |tx| {
            let times: Vec<Millis> = tx
                .prepare_cached("SELECT started FROM runs ORDER BY started DESC, id")?
                .query_map([], |row| rows::id(row, 0))?
                .collect::<rusqlite::Result<_>>()?;
            let (oldest, leap) = keep.too_old(&times);
            let oldest = oldest.filter(|_| leap.is_none()).map(u64::cast_signed);
            let running = RunState::Running.as_str();
            let forgotten = tx.prepare_cached(PRUNE)?.execute(params![
                running,
                oldest,
                limit_of(keep.number)
            ])?;
            Ok(Pruned { forgotten, leap })
        })
        .await
    }
}

fn read<T: DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    let text: String = row.get(0)?;
    serde_json::from_str(&text).map_err(|error| bad(0, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The index of times also has the names; each record of a deleted run is found by its name.
    #[test]
    fn pruning_reads_no_record_of_a_run_that_stays() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let plan = base.inner.with_reader(|connection| {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {PRUNE}")).unwrap();
            let unbound = params![None::<i64>, None::<i64>, None::<i64>];
            let lines = statement.query_map(unbound, |row| row.get::<_, String>(3)).unwrap();
            Ok(lines.collect::<Result<Vec<_>, _>>().unwrap())
        });
        let plan = plan.unwrap();
        let reads_runs = |line: &&String| line.contains(" runs");
        assert!(3 <= plan.iter().filter(reads_runs).count(), "{plan:?}");
        for line in plan.iter().filter(reads_runs) {
            let by_name = line.starts_with("SEARCH runs USING PRIMARY KEY (id=?)");
            assert!(by_name || line.contains("USING COVERING INDEX runs_by_start"), "{plan:?}");
        }
    }
}
