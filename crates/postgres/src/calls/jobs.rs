//! Keeps the jobs of a base: a row for each, with its files and leases beside it.

mod leases;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pikerag_knowledge::{
    ChangeJob, FileMark, JobFile, JobKind, JobQuery, JobRecord, JobState, Jobs, Lease, LeaseAfter,
    Millis, StopLeases, StoreError, TakenJob, Taking,
};
use serde_json::Value;
use tokio_postgres::Row;

use crate::base::Base;
use crate::fault::{Fault, Sql};
use crate::meta::{LAST_JOB, advance};
use crate::rows::{self, Text};
use crate::tx::{Access, Param, Tx};

/// Jobs that have not ended.
const UNFINISHED: &str = "state NOT IN ('done', 'incomplete', 'failed')";

#[async_trait]
impl Jobs for Base {
    async fn add_job(&self, job: JobRecord, files: Vec<String>) -> Result<u64, StoreError> {
        self.writing("adding a job", Access::Records, move |tx| async move {
            let number = advance(&tx, LAST_JOB).await?;
            let sql = "INSERT INTO jobs (id, state, due, record) VALUES ($1, '', 0, '{}')";
            tx.run(sql, &[&number]).await?;
            let id = number.cast_unsigned();
            put(&tx, &JobRecord { id, ..job }).await?;
            let sql = "INSERT INTO job_files (job, file) SELECT $1::bigint, unnest($2::text[])
                 ON CONFLICT DO NOTHING";
            tx.run(sql, &[&number, &Text::all(&files)]).await?;
            Ok(id)
        })
        .await
    }

    async fn put_job(&self, job: JobRecord) -> Result<bool, StoreError> {
        self.writing("keeping a job", Access::Records, move |tx| async move {
            leases::lock(&tx).await?;
            if leases::is_taken(&tx, job.id.cast_signed()).await? {
                return Err(Fault::Store(StoreError::LeaseLost { job: job.id }));
            }
            put(&tx, &job).await
        })
        .await
    }

    async fn jobs(&self, query: JobQuery) -> Result<Vec<JobRecord>, StoreError> {
        self.reading("reading jobs", |tx| async move {
            match query {
                JobQuery::Latest(limit) => {
                    read(&tx, "ORDER BY id DESC LIMIT $1", &[&rows::number(limit)]).await
                }
                JobQuery::Unfinished => {
                    read(&tx, &format!("WHERE {UNFINISHED} ORDER BY id"), &[]).await
                }
                JobQuery::One(id) => read(&tx, "WHERE id = $1", &[&id.cast_signed()]).await,
                JobQuery::Next(now) => {
                    let which = "WHERE state = 'waiting'
                         ORDER BY CASE WHEN due <= $1 THEN 0 ELSE due END, id LIMIT 1";
                    read(&tx, which, &[&now.cast_signed()]).await
                }
            }
        })
        .await
    }

    async fn job_files(&self, job: u64) -> Result<Vec<JobFile>, StoreError> {
        self.reading("reading the files of a job", |tx| async move {
            let sql = "SELECT file, attempts, is_done FROM job_files WHERE job = $1 ORDER BY file";
            let found = tx.all(sql, &[&job.cast_signed()]).await?;
            let file = |row: &Row| {
                Ok(JobFile {
                    file: rows::text(row, 0)?,
                    attempts: rows::small(row, 1)?,
                    is_done: row.try_get(2)?,
                })
            };
            found.iter().map(file).collect()
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
        self.writing("marking the files of a job", Access::Records, move |tx| async move {
            let sql = format!("UPDATE job_files SET {change} WHERE job = $1 AND file = ANY($2)");
            tx.run(&sql, &[&job.cast_signed(), &Text::all(&files)]).await.map(drop)
        })
        .await
    }

    async fn withdraw_files(&self, job: Option<u64>, files: Vec<String>) -> Result<(), StoreError> {
        self.writing("taking files out of jobs", Access::Records, move |tx| async move {
            let sql = format!(
                "DELETE FROM job_files WHERE file = ANY($1) AND job IN
                 (SELECT id FROM jobs WHERE {UNFINISHED} AND ($2::bigint IS NULL OR id = $2))"
            );
            let job = job.map(u64::cast_signed);
            tx.run(&sql, &[&Text::all(&files), &job]).await.map(drop)
        })
        .await
    }

    async fn files_to_read(&self) -> Result<Vec<(String, JobState)>, StoreError> {
        self.reading("reading the pending files of jobs", |tx| async move {
            let sql = format!(
                "SELECT f.file, j.state FROM job_files f JOIN jobs j ON j.id = f.job
                 WHERE {UNFINISHED} AND NOT f.is_done ORDER BY f.job, f.file"
            );
            let found = tx.all(&sql, &[]).await?;
            found.iter().map(|row| Ok((rows::text(row, 0)?, state(row, 1)?))).collect()
        })
        .await
    }

    async fn prune_jobs(&self, keep: usize) -> Result<usize, StoreError> {
        self.writing("dropping old jobs", Access::Records, move |tx| async move {
            let sql = format!(
                "DELETE FROM jobs WHERE NOT ({UNFINISHED}) AND id NOT IN
                 (SELECT id FROM jobs ORDER BY id DESC LIMIT $1)"
            );
            Ok(tx.run(&sql, &[&rows::number(keep)]).await? as usize)
        })
        .await
    }

    async fn take_job(&self, taking: Taking) -> Result<Option<TakenJob>, StoreError> {
        let inner = Arc::clone(&self.inner);
        self.writing("taking a job", Access::Records, move |tx| async move {
            leases::take(&tx, &inner.who, &taking).await
        })
        .await
    }

    async fn renew_lease(&self, lease: Lease, holds: Duration) -> Result<(), StoreError> {
        self.writing("renewing a lease", Access::Records, move |tx| async move {
            leases::renew(&tx, lease, holds).await
        })
        .await
    }

    async fn change_job(
        &self,
        lease: Lease,
        marks: (Vec<String>, FileMark),
        after: LeaseAfter,
        change: ChangeJob,
    ) -> Result<JobRecord, StoreError> {
        self.writing("changing a job", Access::Records, move |tx| async move {
            leases::change(&tx, lease, marks, after, change).await
        })
        .await
    }

    async fn stop_jobs(
        &self,
        files: Vec<String>,
        stopped: StopLeases,
        holder: Taking,
    ) -> Result<Option<Lease>, StoreError> {
        let inner = Arc::clone(&self.inner);
        self.writing("stopping jobs", Access::Records, move |tx| async move {
            leases::stop(&tx, &inner.who, &files, stopped, &holder).await
        })
        .await
    }

    async fn release_lease(&self, lease: Lease) -> Result<(), StoreError> {
        self.writing("releasing a lease", Access::Records, move |tx| async move {
            leases::release(&tx, lease).await
        })
        .await
    }

    async fn clock(&self) -> Result<Millis, StoreError> {
        self.reading("reading the clock", |tx| async move {
            Ok(leases::clock(&tx).await?.cast_unsigned())
        })
        .await
    }
}

/// The change of a file's row by a mark.
fn change_of(mark: FileMark) -> &'static str {
    match mark {
        FileMark::Begun => "attempts = attempts + 1",
        FileMark::PutBack => "attempts = 0, is_done = false",
        FileMark::Done => "attempts = 0, is_done = true",
    }
}

/// Deletes what jobs store about a forgotten file: its name, and outcomes and reasons that may
/// quote it. A job that goes on may have read it before it was withdrawn.
pub(crate) async fn forget(tx: &Tx, file: &str) -> Sql<()> {
    let sql = format!(
        "SELECT id, record, id IN (SELECT job FROM job_files WHERE file = $1)
           OR {UNFINISHED} AND (outcome IS NOT NULL OR state IN ('waiting', 'running'))
         FROM jobs"
    );
    let index = serde_json::to_value(JobKind::Index)?;
    let (mut ids, mut records) = (Vec::<i64>::new(), Vec::new());
    for row in &tx.all(&sql, &[&Text(file)]).await? {
        // PostgreSQL cannot change JSON that contains U+0000.
        let mut record: Value = rows::json(row, 1)?;
        let Some(fields) = record.as_object_mut() else { continue };
        let reads_it: bool = row.try_get(2)?;
        if reads_it || fields.get("kind") != Some(&index) {
            fields.insert("reason".to_owned(), Value::Null);
            ids.push(row.try_get(0)?);
            records.push(rows::to_json(&record)?);
        }
    }
    if !ids.is_empty() {
        let sql = "UPDATE jobs AS j SET outcome = NULL, record = u.record
             FROM unnest($1::bigint[], $2::text[]) AS u(id, record) WHERE j.id = u.id";
        tx.run(sql, &[&ids, &records]).await?;
    }
    tx.run("DELETE FROM job_files WHERE file = $1", &[&Text(file)]).await.map(drop)
}

async fn put(tx: &Tx, job: &JobRecord) -> Sql<bool> {
    let outcome = job.outcome.as_ref().map(rows::to_json).transpose()?;
    let sql = "UPDATE jobs SET state = $2, due = $3, record = $4, outcome = $5, priority = $6
         WHERE id = $1";
    let (id, state, due) = (job.id.cast_signed(), job.state.as_str(), job.due.cast_signed());
    let (record, rank) = (rows::to_json(job)?, i64::from(job.priority.rank()));
    let changed = tx.run(sql, &[&id, &state, &due, &record, &outcome, &rank]).await?;
    Ok(0 < changed)
}

async fn read(tx: &Tx, which: &str, params: &[Param<'_>]) -> Sql<Vec<JobRecord>> {
    let found = tx.all(&format!("SELECT record, outcome FROM jobs {which}"), params).await?;
    found.iter().map(record).collect()
}

fn record(row: &Row) -> Sql<JobRecord> {
    let record: JobRecord = rows::json(row, 0)?;
    Ok(JobRecord { outcome: rows::optional_json(row, 1)?, ..record })
}

fn state(row: &Row, column: usize) -> Sql<JobState> {
    let name: &str = row.try_get(column)?;
    let state = JobState::ALL.into_iter().find(|state| state.as_str() == name);
    state.ok_or_else(|| rows::unknown(name))
}
