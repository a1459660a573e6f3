//! Keeps the jobs of a base: a row for each, with its files and leases beside it.

mod leases;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pikerag_knowledge::{
    ChangeJob, FileMark, JobFile, JobQuery, JobRecord, JobState, Jobs, Lease, LeaseAfter, Millis,
    StopLeases, StoreError, TakenJob, Taking,
};
use rusqlite::{Connection, Row, Transaction, params};

use super::base::Base;
use super::put::json;
use super::rows;

/// Jobs that have not ended.
const UNFINISHED: &str = "state NOT IN ('done', 'incomplete', 'failed')";

#[async_trait]
impl Jobs for Base {
    async fn add_job(&self, job: JobRecord, files: Vec<String>) -> Result<u64, StoreError> {
        self.writing("adding a job", move |tx| {
            tx.execute("INSERT INTO jobs(state, due, record) VALUES ('', 0, '{}')", [])?;
            let id = tx.last_insert_rowid().cast_unsigned();
            put(tx, &JobRecord { id, ..job })?;
            let mut insert =
                tx.prepare_cached("INSERT OR IGNORE INTO job_files(job, file) VALUES (?1, ?2)")?;
            for file in &files {
                insert.execute(params![id.cast_signed(), file])?;
            }
            Ok(id)
        })
        .await
    }

    async fn put_job(&self, job: JobRecord) -> Result<bool, StoreError> {
        let id = job.id;
        let kept = self.writing("keeping a job", move |tx| match leases::is_taken(tx, id)? {
            true => Ok(None),
            false => put(tx, &job).map(Some),
        });
        kept.await?.ok_or(StoreError::LeaseLost { job: id })
    }

    async fn jobs(&self, query: JobQuery) -> Result<Vec<JobRecord>, StoreError> {
        self.querying("reading jobs", move |connection| match query {
            JobQuery::Latest(limit) => {
                read(connection, "ORDER BY id DESC LIMIT ?1", rows::limit_of(limit))
            }
            JobQuery::Unfinished => {
                read(connection, &format!("WHERE {UNFINISHED} ORDER BY id LIMIT ?1"), -1)
            }
            JobQuery::One(id) => read(connection, "WHERE id = ?1", id.cast_signed()),
            JobQuery::Next(now) => next(connection, now),
        })
        .await
    }

    async fn job_files(&self, job: u64) -> Result<Vec<JobFile>, StoreError> {
        self.querying("reading the files of a job", move |connection| {
            connection
                .prepare_cached(
                    "SELECT file, attempts, is_done FROM job_files WHERE job = ?1 ORDER BY file",
                )?
                .query_map([job.cast_signed()], |row| {
                    Ok(JobFile { file: row.get(0)?, attempts: row.get(1)?, is_done: row.get(2)? })
                })?
                .collect()
        })
        .await
    }

    async fn mark_job_files(
        &self,
        job: u64,
        files: Vec<String>,
        mark: FileMark,
    ) -> Result<(), StoreError> {
        let change = change_of(mark);
        self.writing("marking the files of a job", move |tx| {
            let sql = format!("UPDATE job_files SET {change} WHERE job = ?1 AND file = ?2");
            let mut statement = tx.prepare_cached(&sql)?;
            files
                .iter()
                .try_for_each(|file| statement.execute(params![job.cast_signed(), file]).map(drop))
        })
        .await
    }

    async fn withdraw_files(&self, job: Option<u64>, files: Vec<String>) -> Result<(), StoreError> {
        self.writing("taking files out of jobs", move |tx| {
            let sql = format!(
                "DELETE FROM job_files WHERE file = ?1 AND job IN
                 (SELECT id FROM jobs WHERE {UNFINISHED} AND (?2 IS NULL OR id = ?2))"
            );
            let mut statement = tx.prepare_cached(&sql)?;
            let job = job.map(u64::cast_signed);
            files.iter().try_for_each(|file| statement.execute(params![file, job]).map(drop))
        })
        .await
    }

    async fn files_to_read(&self) -> Result<Vec<(String, JobState)>, StoreError> {
        self.querying("reading the pending files of jobs", |connection| {
            let sql = format!(
                "SELECT f.file, j.state FROM job_files f JOIN jobs j ON j.id = f.job
                 WHERE {UNFINISHED} AND NOT f.is_done ORDER BY f.job, f.file"
            );
            connection
                .prepare_cached(&sql)?
                .query_map([], |row| Ok((row.get(0)?, state(row, 1)?)))?
                .collect()
        })
        .await
    }

    async fn prune_jobs(&self, keep: usize) -> Result<usize, StoreError> {
        self.writing("dropping old jobs", move |tx| {
            tx.prepare_cached(&format!(
                "DELETE FROM jobs WHERE NOT ({UNFINISHED}) AND id NOT IN
                 (SELECT id FROM jobs ORDER BY id DESC LIMIT ?1)"
            ))?
            .execute([rows::limit_of(keep)])
        })
        .await
    }

    async fn take_job(&self, taking: Taking) -> Result<Option<TakenJob>, StoreError> {
        let inner = Arc::clone(&self.inner);
        self.writing("taking a job", move |tx| leases::take(tx, &inner.who, &taking)).await
    }

    async fn renew_lease(&self, lease: Lease, holds: Duration) -> Result<(), StoreError> {
        let renewed = self.writing("renewing a lease", move |tx| leases::renew(tx, lease, holds));
        renewed.await?.then_some(()).ok_or(StoreError::LeaseLost { job: lease.job })
    }

    async fn change_job(
        &self,
        lease: Lease,
        marks: (Vec<String>, FileMark),
        after: LeaseAfter,
        change: ChangeJob,
    ) -> Result<JobRecord, StoreError> {
        let changed = self
            .writing("changing a job", move |tx| leases::change(tx, lease, marks, after, change));
        changed.await?.ok_or(StoreError::LeaseLost { job: lease.job })
    }

    async fn stop_jobs(
        &self,
        files: Vec<String>,
        stopped: StopLeases,
        holder: Taking,
    ) -> Result<Option<Lease>, StoreError> {
        let inner = Arc::clone(&self.inner);
        self.writing("stopping jobs", move |tx| {
            leases::stop(tx, &inner.who, &files, stopped, &holder)
        })
        .await
    }

    async fn release_lease(&self, lease: Lease) -> Result<(), StoreError> {
        self.writing("releasing a lease", move |tx| leases::release(tx, lease)).await
    }

    async fn clock(&self) -> Result<Millis, StoreError> {
        self.querying("reading the clock", leases::clock).await
    }
}

/// The change of a file's row by a mark.
fn change_of(mark: FileMark) -> &'static str {
    match mark {
        FileMark::Begun => "attempts = attempts + 1",
        FileMark::PutBack => "attempts = 0, is_done = 0",
        FileMark::Done => "attempts = 0, is_done = 1",
    }
}

/// Deletes what jobs store about a forgotten file: its name, and outcomes and reasons that may
/// quote it. A job that goes on may have read it before it was withdrawn.
pub(super) fn forget(tx: &Transaction<'_>, file: &str) -> rusqlite::Result<()> {
    let sql = format!(
        "UPDATE jobs SET outcome = NULL, record = json_set(record, '$.reason', NULL)
         WHERE id IN (SELECT job FROM job_files WHERE file = ?1)
            OR json_extract(record, '$.kind') <> 'index'
            OR {UNFINISHED} AND (outcome IS NOT NULL OR state IN ('waiting', 'running'))"
    );
    tx.execute(&sql, [file])?;
    tx.execute("DELETE FROM job_files WHERE file = ?1", [file]).map(drop)
}

fn put(tx: &Transaction<'_>, job: &JobRecord) -> rusqlite::Result<bool> {
    let outcome = job.outcome.as_ref().map(json).transpose()?;
    let changed = tx
        .prepare_cached(
            "UPDATE jobs SET state = ?2, due = ?3, record = ?4, outcome = ?5, priority = ?6
             WHERE id = ?1",
        )?
        .execute(params![
            job.id.cast_signed(),
            job.state.as_str(),
            job.due.cast_signed(),
            json(job)?,
            outcome,
            job.priority.rank()
        ])?;
    Ok(0 < changed)
}

fn read(connection: &Connection, which: &str, value: i64) -> rusqlite::Result<Vec<JobRecord>> {
    connection
        .prepare_cached(&format!("SELECT record, outcome FROM jobs {which}"))?
        .query_map([value], record)?
        .collect()
}

fn next(connection: &Connection, now: Millis) -> rusqlite::Result<Vec<JobRecord>> {
    let which =
        "WHERE state = 'waiting' ORDER BY CASE WHEN due <= ?1 THEN 0 ELSE due END, id LIMIT 1";
    read(connection, which, now.cast_signed())
}

fn record(row: &Row<'_>) -> rusqlite::Result<JobRecord> {
    let mut record: JobRecord = rows::json(row, 0)?;
    if row.get_ref(1)?.as_str_or_null()?.is_some() {
        record.outcome = Some(rows::json(row, 1)?);
    }
    Ok(record)
}

fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<JobState> {
    let name: String = row.get(column)?;
    JobState::ALL
        .into_iter()
        .find(|state| state.as_str() == name)
        .ok_or_else(|| rows::unknown(column, &name))
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::{CorpusWriter, FileRecord, JobKind, JobPriority, Share, Which};

    use super::*;

    fn job() -> JobRecord {
        JobRecord {
            id: 0,
            kind: JobKind::Index,
            state: JobState::Waiting,
            key: None,
            cap_usd: None,
            setup: String::new(),
            bill: None,
            priority: JobPriority::Usual,
            worker: None,
            retry_refused: false,
            attempts: 0,
            reason: None,
            added: 0,
            started: None,
            ended: None,
            due: 0,
            outcome: None,
        }
    }

    fn taking() -> Taking {
        let (worker, holds) = ("worker".to_owned(), Duration::from_hours(1));
        Taking { worker, holds, share: Share::Whole }
    }

    #[tokio::test]
    async fn a_job_that_goes_on_does_not_quote_a_forgotten_file() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        let (path, hash, recipe) = ("a.md".to_owned(), "h".to_owned(), "r".to_owned());
        base.put_file(&FileRecord { path, hash, recipe }, Vec::new()).await.unwrap();
        let outcome = Some(serde_json::json!({ "failed": ["a.md"] }));
        let record = JobRecord { outcome, reason: Some("a.md: no text".to_owned()), ..job() };
        let both = vec!["a.md".to_owned(), "b.md".to_owned()];
        let id = base.add_job(record.clone(), both).await.unwrap();
        let over = JobRecord { state: JobState::Done, ..record };
        let over = base.add_job(over, vec!["b.md".to_owned()]).await.unwrap();
        base.withdraw_files(None, vec!["a.md".to_owned()]).await.unwrap();
        base.forget_files(&["a.md".to_owned()], 7).await.unwrap();
        let kept = async |id| {
            let found = base.jobs(JobQuery::One(id)).await.unwrap().remove(0);
            (found.reason.is_some(), found.outcome.is_some())
        };
        assert_eq!(kept(id).await, (false, false));
        assert_eq!(kept(over).await, (true, true));
    }

    /// A server that is started again does not wait until the lease of the ended one runs out.
    #[tokio::test]
    async fn a_lease_ends_with_its_process_and_its_writes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::open_or_create(folder.path()).unwrap();
        base.add_job(job(), vec!["a.md".to_owned()]).await.unwrap();
        let first = base.take_job(taking()).await.unwrap().unwrap();
        let put = async |lease, path: &str| {
            let (hash, recipe) = (path.to_owned(), "r".to_owned());
            let file = FileRecord { path: path.to_owned(), hash, recipe };
            base.leased(lease).put_file(&file, Vec::new()).await
        };
        put(first.lease, "a.md").await.unwrap();
        assert_eq!(base.take_job(taking()).await.unwrap(), None);
        // Another process had the number before.
        let over = base.writing("changing a lease", |tx| {
            tx.execute("UPDATE job_leases SET began = began - 1", [])
        });
        over.await.unwrap();
        let second = base.take_job(taking()).await.unwrap().unwrap();
        assert!(second.is_left);
        let refused = put(first.lease, "b.md").await;
        assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
        put(second.lease, "c.md").await.unwrap();
        let files = base.files(Which::All).await.unwrap();
        assert_eq!(files.into_iter().map(|file| file.path).collect::<Vec<_>>(), ["a.md", "c.md"]);
    }
}
