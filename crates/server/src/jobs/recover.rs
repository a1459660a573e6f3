//! Decides about jobs that an ended process left: accepted jobs continue; a file that ended its
//! process three times is set aside.

use std::sync::Arc;

use pikerag_engine::knowledge::{
    FileMark, JobFile, JobKind, JobPart, JobQuery, JobRecord, JobState, Jobs as JobStore,
    LeaseAfter, PartsLeft, TakenJob,
};
use pikerag_engine::shares_jobs;

use super::line::Line;
use super::note::count_crash;
use super::reason::JobReason;
use super::{Host, Job, failed, now, there};
use crate::problem::Problem;

/// A file is set aside after it ended the process this number of times.
pub(super) const CRASHES: u32 = 3;
/// The time after which a scan of another process's folders counts as left, in milliseconds.
const OLD_SCAN: u64 = 3_600_000;

/// Shows the jobs that have not ended, and ends scans of folders that no process will run.
pub(super) async fn recover(host: &Arc<dyn Host>, line: &Line) -> Result<(), Problem> {
    let Some(session) = host.owner_of(&line.base) else { return Ok(()) };
    let Some(store) = there(&session).await? else { return Ok(()) };
    let _order = line.order.lock().await;
    for mut record in store.jobs(JobQuery::Unfinished).await.map_err(failed)? {
        if is_left_scan(line, &record, shares_jobs(&session)) {
            end_scan(&mut record);
            host.jobs().keep(&line.base, store.as_ref(), &record).await;
        } else {
            host.jobs().follow(&Job::of(&line.base, &record));
        }
    }
    Ok(())
}

/// Whether a scan of folders waits for a process that has ended, as far as this one knows. The folders
/// are scanned again in any case.
pub(super) fn is_left_scan(line: &Line, record: &JobRecord, is_shared: bool) -> bool {
    let is_waiting = record.kind == JobKind::Watch && record.state == JobState::Waiting;
    let is_of_now = line.folders(|folders| folders.contains_key(&record.id));
    let is_old = record.added.max(record.due).saturating_add(OLD_SCAN) < now();
    is_waiting && !is_of_now && (is_old || !is_shared)
}

/// Ends the waiting scans of this process, which stops. Otherwise the other servers would show them as
/// waiting jobs.
pub(super) async fn end_own_scans(host: &Arc<dyn Host>, line: &Line) -> Result<(), Problem> {
    let scans: Vec<u64> = line.folders(|folders| folders.keys().copied().collect());
    let session = host.owner_of(&line.base).filter(|_| !scans.is_empty()).filter(shares_jobs);
    let Some(session) = session else { return Ok(()) };
    let Some(store) = there(&session).await? else { return Ok(()) };
    for id in scans {
        let found = store.jobs(JobQuery::One(id)).await.map_err(failed)?.pop();
        if let Some(mut record) = found.filter(|job| job.state == JobState::Waiting) {
            end_scan(&mut record);
            host.jobs().keep(&line.base, store.as_ref(), &record).await;
        }
    }
    Ok(())
}

/// Decides about a part whose earlier worker ended without releasing it.
pub(super) async fn crashed(
    host: &Arc<dyn Host>,
    line: &Line,
    store: &dyn JobStore,
    taken: TakenJob,
) -> Result<(), Problem> {
    let TakenJob { lease, job, part, files, .. } = taken;
    if !job.state.is_accepted() {
        // Another part has ended the job, or a person decides about it.
        return store.release_lease(lease).await.map_err(failed);
    }
    let (left, poison): (Vec<JobFile>, Vec<JobFile>) =
        files.into_iter().partition(|file| file.attempts < CRASHES);
    let unfinished = store.job_files(job.id).await.map_err(failed)?;
    let unfinished = unfinished.iter().filter(|file| !file.is_done).count();
    let reads_files = job.kind == JobKind::Index && part != JobPart::Rest;
    // The attempts of such a job count the ends of its other parts, too.
    let is_rest = job.kind == JobKind::Index && part == JobPart::Rest;
    let is_poison = match reads_files {
        // The job has no other file.
        true => left.is_empty() && !poison.is_empty() && unfinished == poison.len(),
        false => !is_rest && CRASHES <= job.attempts,
    };
    let mut reason = JobReason::ProcessEnded.to_string();
    if is_poison {
        reason = set_aside(poison.first().map_or("it", |file| file.file.as_str()));
    } else if reads_files {
        for JobFile { file, .. } in poison {
            set_apart(host, line, store, &job, file).await?;
        }
    }
    let change = move |record: &mut JobRecord, left: PartsLeft| {
        let is_poison = is_poison || is_rest && CRASHES <= count_crash(record);
        record.reason = Some(if is_rest && is_poison { set_aside("it") } else { reason });
        if record.kind == JobKind::Watch {
            // The server scans the folders when it starts.
            end_scan(record);
        } else if is_poison {
            record.state = JobState::SetAside;
        } else if left.leases == 0 && record.state == JobState::Running {
            record.state = JobState::Waiting;
        }
    };
    let (marks, after) = ((Vec::new(), FileMark::Begun), LeaseAfter::Released);
    let changed = store.change_job(lease, marks, after, Box::new(change)).await;
    host.jobs().publish(&line.base, &changed.map_err(failed)?);
    Ok(())
}

/// Moves a file that ended its process to a job of its own.
async fn set_apart(
    host: &Arc<dyn Host>,
    line: &Line,
    store: &dyn JobStore,
    job: &JobRecord,
    file: String,
) -> Result<(), Problem> {
    let apart = JobRecord {
        state: JobState::SetAside,
        reason: Some(set_aside(&file)),
        attempts: CRASHES,
        ..job.clone()
    };
    let id = store.add_job(apart.clone(), vec![file.clone()]).await.map_err(failed)?;
    store.withdraw_files(Some(job.id), vec![file]).await.map_err(failed)?;
    host.jobs().follow(&Job::of(&line.base, &JobRecord { id, ..apart }));
    Ok(())
}

pub(super) fn end_scan(record: &mut JobRecord) {
    (record.state, record.ended) = (JobState::Failed, Some(now()));
    record.reason = Some(JobReason::ServerEnded.to_string());
}

fn set_aside(file: &str) -> String {
    JobReason::SetAside { file: file.to_owned(), times: CRASHES }.to_string()
}
