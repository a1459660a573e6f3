//! Takes parts of jobs, and ends the leases on them.

use std::time::Duration;

use pikerag_knowledge::{
    ChangeJob, DueJob, FileMark, HeldLeases, JobFile, JobPart, JobRecord, JobState, Lease,
    LeaseAfter, Millis, PartsLeft, Share, StopLeases, TakenJob, Taking, files_of_part, next_part,
    put_back,
};
use rusqlite::{Connection, Row, Transaction, params};

use super::{UNFINISHED, change_of, put, read};
use crate::sqlite::claims::ProcessIdentity;
use crate::sqlite::counters::advance;
use crate::sqlite::leased::is_held;
use crate::sqlite::rows;

/// The counter of fences.
const LAST_FENCE: &str = "last_fence";
/// The time in milliseconds since 1970.
const NOW: &str = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
/// The jobs among which the next one is chosen. More are passed over only where that number of
/// jobs is at work.
const CANDIDATES: i64 = 256;
/// The part of a lease that holds all jobs.
const HOLD: &str = "hold";

/// A lease of the table.
struct Held {
    fence: i64,
    job: Option<i64>,
    /// `None` for one that holds all jobs.
    part: Option<JobPart>,
    /// Whether its time or its process is over.
    is_over: bool,
}

/// See [`pikerag_knowledge::Jobs::take_job`].
pub(super) fn take(
    tx: &Transaction<'_>,
    who: &ProcessIdentity,
    taking: &Taking,
) -> rusqlite::Result<Option<TakenJob>> {
    let leases = all(tx, who)?;
    let left = leases
        .iter()
        .filter(|held| held.is_over)
        .find_map(|held| Some((held.fence, held.job?, held.part?)));
    for hold in leases.iter().filter(|held| held.is_over && held.job.is_none()) {
        end(tx, hold.fence)?;
    }
    let (job, part, files) = match left {
        Some((fence, job, part)) => {
            let files = files(tx, "fence = ?1 AND NOT is_done ORDER BY file LIMIT ?2", fence, -1)?;
            end(tx, fence)?;
            (job, part, files)
        }
        None => {
            let is_alone = |held: &&Held| held.part.is_none_or(JobPart::is_alone);
            let mut held = leases.iter().filter(|held| !held.is_over).peekable();
            let held = match held.peek().is_none() {
                true => HeldLeases::Nothing,
                false if held.any(|one| is_alone(&one)) => HeldLeases::Alone,
                false => HeldLeases::Files,
            };
            let Some((job, part)) = next_part(&due(tx)?, held, taking) else { return Ok(None) };
            let most = match (part, taking.share) {
                (JobPart::Files, Share::Files(most)) => rows::limit_of(most.get()),
                _ => -1,
            };
            let free = "job = ?1 AND NOT is_done AND fence IS NULL
                 ORDER BY 0 < attempts, file LIMIT ?2";
            let found = files(tx, free, job.cast_signed(), most)?;
            (job.cast_signed(), part, files_of_part(found, part, taking.share))
        }
    };
    let Some(record) = read(tx, "WHERE id = ?1", job)?.pop() else { return Ok(None) };
    let fence = add(tx, who, taking, Some((job, part)))?;
    let mut cover =
        tx.prepare_cached("UPDATE job_files SET fence = ?1 WHERE job = ?2 AND file = ?3")?;
    for file in &files {
        cover.execute(params![fence, job, file.file])?;
    }
    let is_left = left.is_some() || part == JobPart::Whole && record.state == JobState::Running;
    let lease = Lease { job: job.cast_unsigned(), fence: fence.cast_unsigned() };
    Ok(Some(TakenJob { lease, job: record, part, files, is_left }))
}

/// See [`pikerag_knowledge::Jobs::renew_lease`]; false if it has ended.
pub(super) fn renew(tx: &Transaction<'_>, lease: Lease, holds: Duration) -> rusqlite::Result<bool> {
    let sql = format!("UPDATE job_leases SET until = {NOW} + ?2 WHERE fence = ?1");
    let changed =
        tx.prepare_cached(&sql)?.execute(params![lease.fence.cast_signed(), millis(holds)])?;
    Ok(changed != 0)
}

/// See [`pikerag_knowledge::Jobs::change_job`]; `None` if the lease has ended.
pub(super) fn change(
    tx: &Transaction<'_>,
    lease: Lease,
    (names, mark): (Vec<String>, FileMark),
    after: LeaseAfter,
    change: ChangeJob,
) -> rusqlite::Result<Option<JobRecord>> {
    if !is_held(tx, lease)? {
        return Ok(None);
    }
    let (job, fence) = (lease.job.cast_signed(), lease.fence.cast_signed());
    let set = change_of(mark);
    let sql = format!("UPDATE job_files SET {set} WHERE job = ?1 AND file = ?2 AND fence = ?3");
    let mut statement = tx.prepare_cached(&sql)?;
    for name in &names {
        statement.execute(params![job, name, fence])?;
    }
    if after == LeaseAfter::Released {
        end(tx, fence)?;
    }
    let Some(mut record) = read(tx, "WHERE id = ?1", job)?.pop() else { return Ok(None) };
    let files = "SELECT count(*) FROM job_files WHERE job = ?1 AND NOT is_done";
    let files: i64 = tx.prepare_cached(files)?.query_row([job], |row| row.get(0))?;
    let next = "SELECT 1 FROM jobs j WHERE j.state IN ('waiting', 'running') AND j.id <> ?1
         AND EXISTS (SELECT 1 FROM job_files f WHERE f.job = j.id AND NOT f.is_done)";
    let has_next = tx.prepare_cached(next)?.exists([job])?;
    let leases = leases_of(tx, job, fence)?;
    let files = usize::try_from(files).unwrap_or_default();
    change(&mut record, PartsLeft { files, leases, has_next });
    put(tx, &record)?;
    Ok(Some(record))
}

/// See [`pikerag_knowledge::Jobs::stop_jobs`].
pub(super) fn stop(
    tx: &Transaction<'_>,
    who: &ProcessIdentity,
    names: &[String],
    stopped: StopLeases,
    holder: &Taking,
) -> rusqlite::Result<Option<Lease>> {
    let mut ended = Vec::new();
    for held in all(tx, who)? {
        let Some(job) = held.job else { continue };
        let covers = "SELECT 1 FROM job_files WHERE fence = ?1 LIMIT 1";
        let mut is_reader = !tx.prepare_cached(covers)?.exists([held.fence])?;
        let mut reads =
            tx.prepare_cached("SELECT 1 FROM job_files WHERE fence = ?1 AND file = ?2 LIMIT 1")?;
        for name in names {
            is_reader = is_reader || reads.exists(params![held.fence, name])?;
        }
        if stopped == StopLeases::All || is_reader {
            ended.push((held.fence, job));
        }
    }
    let sql = format!(
        "DELETE FROM job_files WHERE file = ?1 AND job IN
         (SELECT id FROM jobs WHERE {UNFINISHED})"
    );
    let mut delete = tx.prepare_cached(&sql)?;
    for name in names {
        delete.execute([name])?;
    }
    for (fence, job) in &ended {
        tx.execute("UPDATE job_files SET attempts = 0 WHERE fence = ?1", [fence])?;
        end(tx, *fence)?;
        if let Some(mut record) = read(tx, "WHERE id = ?1", *job)?.pop() {
            put_back(&mut record, leases_of(tx, *job, *fence)?);
            put(tx, &record)?;
        }
    }
    if ended.is_empty() {
        return Ok(None);
    }
    let fence = add(tx, who, holder, None)?.cast_unsigned();
    Ok(Some(Lease { job: 0, fence }))
}

/// Ends a lease; does nothing if it has ended.
pub(super) fn release(tx: &Transaction<'_>, lease: Lease) -> rusqlite::Result<()> {
    end(tx, lease.fence.cast_signed())
}

/// Whether a worker has taken a part of a job.
pub(super) fn is_taken(connection: &Connection, job: u64) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM job_leases WHERE job = ?1";
    connection.prepare_cached(sql)?.exists([job.cast_signed()])
}

/// The time, in milliseconds since 1970.
pub(super) fn clock(connection: &Connection) -> rusqlite::Result<Millis> {
    let now: i64 = connection.query_row(&format!("SELECT {NOW}"), [], |row| row.get(0))?;
    Ok(now.cast_unsigned())
}

/// All leases, the oldest first.
fn all(tx: &Transaction<'_>, who: &ProcessIdentity) -> rusqlite::Result<Vec<Held>> {
    let sql = format!(
        "SELECT fence, job, part, place, process, began, until <= {NOW} FROM job_leases
         ORDER BY fence"
    );
    let held = |row: &Row<'_>| {
        let name: String = row.get(2)?;
        let part = JobPart::ALL.into_iter().find(|part| part.as_str() == name);
        if part.is_none() && name != HOLD {
            return Err(rows::unknown(2, &name));
        }
        let place: String = row.get(3)?;
        let began = row.get::<_, i64>(5)?.cast_unsigned();
        let is_gone = who.knows_gone(&place, row.get(4)?, began);
        Ok(Held { fence: row.get(0)?, job: row.get(1)?, part, is_over: row.get(6)? || is_gone })
    };
    tx.prepare_cached(&sql)?.query_map([], held)?.collect()
}

/// Unfinished jobs that may be taken now, in their order.
fn due(tx: &Transaction<'_>) -> rusqlite::Result<Vec<DueJob>> {
    let sql = format!(
        "SELECT j.record,
           EXISTS (SELECT 1 FROM job_files f WHERE f.job = j.id AND f.fence IS NULL AND NOT f.is_done),
           EXISTS (SELECT 1 FROM job_leases l WHERE l.job = j.id)
         FROM jobs j WHERE j.state IN ('waiting', 'running') AND j.due <= {NOW}
         ORDER BY j.priority, j.id LIMIT {CANDIDATES}"
    );
    let job = |row: &Row<'_>| {
        let record: JobRecord = rows::json(row, 0)?;
        Ok(DueJob {
            id: record.id,
            kind: record.kind,
            priority: record.priority,
            worker: record.worker,
            has_files: row.get(1)?,
            is_leased: row.get(2)?,
        })
    };
    tx.prepare_cached(&sql)?.query_map([], job)?.collect()
}

fn files(tx: &Transaction<'_>, which: &str, of: i64, most: i64) -> rusqlite::Result<Vec<JobFile>> {
    let sql = format!("SELECT file, attempts, is_done FROM job_files WHERE {which}");
    let file = |row: &Row<'_>| {
        Ok(JobFile { file: row.get(0)?, attempts: row.get(1)?, is_done: row.get(2)? })
    };
    tx.prepare_cached(&sql)?.query_map([of, most], file)?.collect()
}

/// Adds a lease, and returns its fence. `None` holds all jobs.
fn add(
    tx: &Transaction<'_>,
    who: &ProcessIdentity,
    taking: &Taking,
    of: Option<(i64, JobPart)>,
) -> rusqlite::Result<i64> {
    let fence = advance(tx, LAST_FENCE)?;
    let sql = format!(
        "INSERT INTO job_leases(fence, job, part, worker, place, process, began, until)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, {NOW} + ?8)"
    );
    tx.prepare_cached(&sql)?.execute(params![
        fence,
        of.map(|(job, _)| job),
        of.map_or(HOLD, |(_, part)| part.as_str()),
        taking.worker,
        who.place,
        who.process,
        who.began.cast_signed(),
        millis(taking.holds)
    ])?;
    Ok(fence)
}

fn end(tx: &Transaction<'_>, fence: i64) -> rusqlite::Result<()> {
    tx.execute("UPDATE job_files SET fence = NULL WHERE fence = ?1", [fence])?;
    tx.execute("DELETE FROM job_leases WHERE fence = ?1", [fence]).map(drop)
}

/// The number of leases on a job besides one.
fn leases_of(tx: &Transaction<'_>, job: i64, but: i64) -> rusqlite::Result<usize> {
    let sql = "SELECT count(*) FROM job_leases WHERE job = ?1 AND fence <> ?2";
    let count: i64 = tx.prepare_cached(sql)?.query_row([job, but], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or_default())
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
