//! Takes parts of jobs, and ends the leases on them. Each function locks the row of the base first,
//! so that one transaction at a time decides about the jobs of a base.

use std::time::Duration;

use pikerag_knowledge::{
    ChangeJob, DueJob, FileMark, HeldLeases, JobFile, JobPart, JobRecord, JobState, Lease,
    LeaseAfter, PartsLeft, Share, StopLeases, StoreError, TakenJob, Taking, files_of_part,
    next_part, put_back,
};
use pikerag_store::shared::ProcessIdentity;
use tokio_postgres::Row;

use super::{UNFINISHED, change_of, put, read};
use crate::fault::{Fault, Sql};
use crate::meta::{LAST_FENCE, advance};
use crate::rows::{self, Text};
use crate::tx::Tx;

/// The time by the clock of the server, in milliseconds since 1970.
const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
/// The jobs among which the next one is chosen. More are passed over only where that number of
/// jobs is at work.
const CANDIDATES: i64 = 256;
/// The part of a lease that holds all jobs.
const HOLD: &str = "hold";

/// See [`pikerag_knowledge::Jobs::take_job`].
pub(super) async fn take(tx: &Tx, who: &ProcessIdentity, taking: &Taking) -> Sql<Option<TakenJob>> {
    lock(tx).await?;
    let leases = all(tx).await?;
    let (over, held): (Vec<Row>, Vec<Row>) = split(who, leases)?;
    let mut left = None;
    for row in &over {
        let (fence, job): (i64, Option<i64>) = (row.try_get(0)?, row.try_get(1)?);
        match (job, left) {
            (Some(job), None) => left = Some((fence, job, part_of(row)?)),
            (Some(_), Some(_)) => {}
            (None, _) => end(tx, fence).await?,
        }
    }
    let (job, part, files) = match left {
        Some((fence, job, part)) => {
            let sql = "SELECT file, attempts, is_done FROM job_files
                 WHERE fence = $1 AND NOT is_done ORDER BY file";
            let files = files(&tx.all(sql, &[&fence]).await?)?;
            end(tx, fence).await?;
            (job, part, files)
        }
        None => {
            let mut kind = HeldLeases::Nothing;
            for row in &held {
                kind = match kind {
                    HeldLeases::Alone => HeldLeases::Alone,
                    _ if is_alone(row)? => HeldLeases::Alone,
                    _ => HeldLeases::Files,
                };
            }
            let Some((job, part)) = next_part(&due(tx).await?, kind, taking) else {
                return Ok(None);
            };
            let most = match (part, taking.share) {
                (JobPart::Files, Share::Files(most)) => Some(rows::number(most.get())),
                _ => None,
            };
            let sql = "SELECT file, attempts, is_done FROM job_files
                 WHERE job = $1 AND NOT is_done AND fence IS NULL
                 ORDER BY 0 < attempts, file LIMIT $2";
            let job = job.cast_signed();
            let found = files(&tx.all(sql, &[&job, &most]).await?)?;
            (job, part, files_of_part(found, part, taking.share))
        }
    };
    let Some(record) = read(tx, "WHERE id = $1", &[&job]).await?.pop() else { return Ok(None) };
    let fence = add(tx, who, taking, Some((job, part))).await?;
    let names: Vec<String> = files.iter().map(|file| file.file.clone()).collect();
    let sql = "UPDATE job_files SET fence = $1 WHERE job = $2 AND file = ANY($3)";
    tx.run(sql, &[&fence, &job, &Text::all(&names)]).await?;
    let sql = format!("UPDATE pikerag.bases SET served = {NOW} WHERE id = pikerag.this_base()");
    tx.run(&sql, &[]).await?;
    let is_left = left.is_some() || part == JobPart::Whole && record.state == JobState::Running;
    let lease = Lease { job: job.cast_unsigned(), fence: fence.cast_unsigned() };
    Ok(Some(TakenJob { lease, job: record, part, files, is_left }))
}

/// See [`pikerag_knowledge::Jobs::renew_lease`].
pub(super) async fn renew(tx: &Tx, lease: Lease, holds: Duration) -> Sql<()> {
    let sql = "UPDATE job_leases SET until = clock_timestamp() + $2::double precision * interval '1 second'
         WHERE fence = $1";
    match tx.run(sql, &[&lease.fence.cast_signed(), &holds.as_secs_f64()]).await? {
        0 => Err(lost(lease)),
        _ => Ok(()),
    }
}

/// See [`pikerag_knowledge::Jobs::change_job`].
pub(super) async fn change(
    tx: &Tx,
    lease: Lease,
    (names, mark): (Vec<String>, FileMark),
    after: LeaseAfter,
    change: ChangeJob,
) -> Sql<JobRecord> {
    lock(tx).await?;
    let (job, fence) = (lease.job.cast_signed(), lease.fence.cast_signed());
    let sql = "SELECT 1 FROM job_leases WHERE fence = $1 AND job = $2";
    if !tx.exists(sql, &[&fence, &job]).await? {
        return Err(lost(lease));
    }
    let sql = format!(
        "UPDATE job_files SET {} WHERE job = $1 AND file = ANY($2) AND fence = $3",
        change_of(mark)
    );
    tx.run(&sql, &[&job, &Text::all(&names), &fence]).await?;
    if after == LeaseAfter::Released {
        end(tx, fence).await?;
    }
    let Some(mut record) = read(tx, "WHERE id = $1", &[&job]).await?.pop() else {
        return Err(lost(lease));
    };
    let sql = "SELECT count(*) FROM job_files WHERE job = $1 AND NOT is_done";
    let files = rows::count_of(tx.number(sql, &[&job]).await?)?;
    let leases = leases_of(tx, job, fence).await?;
    let has_next = has_next(tx, job).await?;
    change(&mut record, PartsLeft { files, leases, has_next });
    put(tx, &record).await?;
    Ok(record)
}

/// See [`pikerag_knowledge::Jobs::stop_jobs`].
pub(super) async fn stop(
    tx: &Tx,
    who: &ProcessIdentity,
    names: &[String],
    stopped: StopLeases,
    holder: &Taking,
) -> Sql<Option<Lease>> {
    lock(tx).await?;
    let read_it = "SELECT DISTINCT fence FROM job_files WHERE file = ANY($1) AND fence IS NOT NULL";
    let mut readers = Vec::new();
    for row in &tx.all(read_it, &[&Text::all(names)]).await? {
        readers.push(row.try_get::<_, i64>(0)?);
    }
    let mut ended = Vec::new();
    for row in &all(tx).await? {
        let (fence, job): (i64, Option<i64>) = (row.try_get(0)?, row.try_get(1)?);
        let Some(job) = job else { continue };
        let reads = "SELECT 1 FROM job_files WHERE fence = $1 LIMIT 1";
        let is_reader = readers.contains(&fence) || !tx.exists(reads, &[&fence]).await?;
        if stopped == StopLeases::All || is_reader {
            ended.push((fence, job));
        }
    }
    let sql = format!(
        "DELETE FROM job_files WHERE file = ANY($1) AND job IN
         (SELECT id FROM jobs WHERE {UNFINISHED})"
    );
    tx.run(&sql, &[&Text::all(names)]).await?;
    for (fence, job) in &ended {
        tx.run("UPDATE job_files SET attempts = 0 WHERE fence = $1", &[fence]).await?;
        end(tx, *fence).await?;
        if let Some(mut record) = read(tx, "WHERE id = $1", &[job]).await?.pop() {
            put_back(&mut record, leases_of(tx, *job, *fence).await?);
            put(tx, &record).await?;
        }
    }
    if ended.is_empty() {
        return Ok(None);
    }
    let fence = add(tx, who, holder, None).await?;
    Ok(Some(Lease { job: 0, fence: fence.cast_unsigned() }))
}

/// See [`pikerag_knowledge::Jobs::release_lease`].
pub(super) async fn release(tx: &Tx, lease: Lease) -> Sql<()> {
    lock(tx).await?;
    end(tx, lease.fence.cast_signed()).await
}

/// Whether a worker has taken a part of a job.
pub(super) async fn is_taken(tx: &Tx, job: i64) -> Sql<bool> {
    tx.exists("SELECT 1 FROM job_leases WHERE job = $1", &[&job]).await
}

/// The time of the server.
pub(super) async fn clock(tx: &Tx) -> Sql<i64> {
    tx.number(&format!("SELECT {NOW}"), &[]).await
}

/// Lets one transaction at a time decide about the jobs of the base. References to the base do not
/// wait for it.
pub(super) async fn lock(tx: &Tx) -> Sql<()> {
    let sql = "SELECT 1 FROM pikerag.bases WHERE id = pikerag.this_base() FOR NO KEY UPDATE";
    tx.all(sql, &[]).await.map(drop)
}

/// All leases, the oldest first: fence, job, part, place, process, began, and whether its time is
/// over.
async fn all(tx: &Tx) -> Sql<Vec<Row>> {
    let sql = "SELECT fence, job, part, place, process, began, until <= clock_timestamp()
         FROM job_leases ORDER BY fence";
    tx.all(sql, &[]).await
}

/// The leases that ran out, and the others.
fn split(who: &ProcessIdentity, leases: Vec<Row>) -> Sql<(Vec<Row>, Vec<Row>)> {
    let (mut over, mut held) = (Vec::new(), Vec::new());
    for row in leases {
        let is_over: bool = row.try_get(6)?;
        let began: i64 = row.try_get(5)?;
        let is_gone = who.knows_gone(row.try_get(3)?, rows::small(&row, 4)?, began.cast_unsigned());
        match is_over || is_gone {
            true => over.push(row),
            false => held.push(row),
        }
    }
    Ok((over, held))
}

fn part_of(row: &Row) -> Sql<JobPart> {
    let name: &str = row.try_get(2)?;
    let part = JobPart::ALL.into_iter().find(|part| part.as_str() == name);
    part.ok_or_else(|| rows::unknown(name))
}

fn is_alone(row: &Row) -> Sql<bool> {
    Ok(row.try_get::<_, &str>(2)? == HOLD || part_of(row)?.is_alone())
}

/// Unfinished jobs that may be taken now, in their order.
async fn due(tx: &Tx) -> Sql<Vec<DueJob>> {
    let sql = format!(
        "SELECT j.record,
           EXISTS (SELECT 1 FROM job_files f WHERE f.job = j.id AND f.fence IS NULL AND NOT f.is_done),
           EXISTS (SELECT 1 FROM job_leases l WHERE l.job = j.id)
         FROM jobs j WHERE j.state IN ('waiting', 'running') AND j.due <= {NOW}
         ORDER BY j.priority, j.id LIMIT {CANDIDATES}"
    );
    let job = |row: &Row| {
        let record: JobRecord = rows::json(row, 0)?;
        Ok(DueJob {
            id: record.id,
            kind: record.kind,
            priority: record.priority,
            worker: record.worker,
            has_files: row.try_get(1)?,
            is_leased: row.try_get(2)?,
        })
    };
    tx.all(&sql, &[]).await?.iter().map(job).collect()
}

fn files(found: &[Row]) -> Sql<Vec<JobFile>> {
    let file = |row: &Row| {
        Ok(JobFile {
            file: rows::text(row, 0)?,
            attempts: rows::small(row, 1)?,
            is_done: row.try_get(2)?,
        })
    };
    found.iter().map(file).collect()
}

/// Adds a lease, and returns its fence. `None` holds all jobs.
async fn add(
    tx: &Tx,
    who: &ProcessIdentity,
    taking: &Taking,
    of: Option<(i64, JobPart)>,
) -> Sql<i64> {
    let fence = advance(tx, LAST_FENCE).await?;
    let job = of.map(|(job, _)| job);
    let part = of.map_or(HOLD, |(_, part)| part.as_str());
    let sql = "INSERT INTO job_leases (fence, job, part, worker, place, process, began, until)
         VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + $8::double precision * interval '1 second')";
    let (process, began) = (i64::from(who.process), who.began.cast_signed());
    let (worker, holds) = (&taking.worker, taking.holds.as_secs_f64());
    tx.run(sql, &[&fence, &job, &part, worker, &who.place, &process, &began, &holds]).await?;
    Ok(fence)
}

/// Ends a lease. It waits until the writes under it are done, because each of them locks its row.
async fn end(tx: &Tx, fence: i64) -> Sql<()> {
    tx.run("UPDATE job_files SET fence = NULL WHERE fence = $1", &[&fence]).await?;
    tx.run("DELETE FROM job_leases WHERE fence = $1", &[&fence]).await.map(drop)
}

/// The number of leases on a job besides one.
async fn leases_of(tx: &Tx, job: i64, but: i64) -> Sql<usize> {
    let sql = "SELECT count(*) FROM job_leases WHERE job = $1 AND fence <> $2";
    rows::count_of(tx.number(sql, &[&job, &but]).await?)
}

/// Whether another accepted job of the base has unfinished files.
async fn has_next(tx: &Tx, job: i64) -> Sql<bool> {
    let sql = "SELECT 1 FROM jobs j WHERE j.state IN ('waiting', 'running') AND j.id <> $1
         AND EXISTS (SELECT 1 FROM job_files f WHERE f.job = j.id AND NOT f.is_done) LIMIT 1";
    tx.exists(sql, &[&job]).await
}

fn lost(lease: Lease) -> Fault {
    Fault::Store(StoreError::LeaseLost { job: lease.job })
}
