//! Recovers the jobs that an ended process left: accepted jobs continue; a file that ended the
//! process three times is set aside.

use std::sync::Arc;

use pikerag_engine::knowledge::{
    JobFile, JobKind, JobQuery, JobRecord, JobState, Jobs as JobStore,
};

use super::line::Line;
use super::reason::JobReason;
use super::{Host, Job, failed, now, there};
use crate::problem::Problem;

/// A file is set aside after it ended the process this number of times.
pub(super) const CRASHES: u32 = 3;

pub(super) async fn recover(host: &Arc<dyn Host>, line: &Line) -> Result<(), Problem> {
    let Some(session) = host.owner_of(&line.base) else { return Ok(()) };
    let Some(store) = there(&session).await? else { return Ok(()) };
    let _order = line.order.lock().await;
    for mut record in store.jobs(JobQuery::Unfinished).await.map_err(failed)? {
        let is_of_now = line.folders(|folders| folders.contains_key(&record.id));
        if record.kind == JobKind::Watch && !is_of_now {
            // The server scans the folders when it starts.
            (record.state, record.ended) = (JobState::Failed, Some(now()));
            record.reason = Some(JobReason::ServerEnded.to_string());
        } else if record.state == JobState::Running {
            crashed(host, line, store.as_ref(), &mut record).await?;
        } else {
            host.jobs().follow(&Job::of(&line.base, &record));
            continue;
        }
        host.jobs().keep(&line.base, store.as_ref(), &record).await;
    }
    Ok(())
}

/// Decides what happens to a job that was running when the process ended.
async fn crashed(
    host: &Arc<dyn Host>,
    line: &Line,
    store: &dyn JobStore,
    record: &mut JobRecord,
) -> Result<(), Problem> {
    record.reason = Some(JobReason::ProcessEnded.to_string());
    let files = store.job_files(record.id).await.map_err(failed)?;
    let (left, poison): (Vec<JobFile>, Vec<JobFile>) =
        files.into_iter().filter(|file| !file.is_done).partition(|file| file.attempts < CRASHES);
    let is_poison = match record.kind {
        JobKind::Index => left.is_empty() && !poison.is_empty(),
        JobKind::Watch | JobKind::Complete => CRASHES <= record.attempts,
    };
    if is_poison {
        record.state = JobState::SetAside;
        let file = poison.first().map_or("it", |file| file.file.as_str());
        record.reason = Some(set_aside(file));
        return Ok(());
    }
    record.state = JobState::Waiting;
    if record.kind != JobKind::Index {
        return Ok(());
    }
    for JobFile { file, .. } in poison {
        let apart = JobRecord {
            state: JobState::SetAside,
            reason: Some(set_aside(&file)),
            attempts: CRASHES,
            ..record.clone()
        };
        let id = store.add_job(apart.clone(), vec![file.clone()]).await.map_err(failed)?;
        store.withdraw_files(Some(record.id), vec![file]).await.map_err(failed)?;
        host.jobs().follow(&Job::of(&line.base, &JobRecord { id, ..apart }));
    }
    Ok(())
}

fn set_aside(file: &str) -> String {
    JobReason::SetAside { file: file.to_owned(), times: CRASHES }.to_string()
}
