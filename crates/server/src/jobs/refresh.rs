//! Shows the states of jobs that other processes run.

use std::sync::Arc;

use pikerag_engine::knowledge::{JobKind, JobQuery, JobRecord, JobState, Jobs as JobStore};
use pikerag_engine::shares_jobs;

use super::line::Line;
use super::{Host, Job, failed, recover, there};
use crate::problem::Problem;

/// The stage of a job that other processes run.
const READING: &str = "reading";

/// Publishes the states of a base's jobs that this process does not work on.
pub(super) async fn refresh(host: &Arc<dyn Host>, line: &Line) -> Result<(), Problem> {
    let Some(session) = host.owner_of(&line.base).filter(shares_jobs) else { return Ok(()) };
    let Some(store) = there(&session).await? else { return Ok(()) };
    let jobs = host.jobs();
    let mut unfinished = store.jobs(JobQuery::Unfinished).await.map_err(failed)?;
    for record in &mut unfinished {
        if recover::is_left_scan(line, record, true) {
            recover::end_scan(record);
            jobs.keep(&line.base, store.as_ref(), record).await;
            continue;
        }
        jobs.follow(&Job::of(&line.base, record));
        if !line.works_on(record.id) {
            // Streams send each publication.
            if !jobs.is_shown(&line.base, record) {
                jobs.publish(&line.base, record);
            }
            show_files(host, line, store.as_ref(), record).await?;
        }
    }
    for id in jobs.live_of(&line.base) {
        if unfinished.iter().any(|record| record.id == id) || line.works_on(id) {
            continue;
        }
        match store.jobs(JobQuery::One(id)).await.map_err(failed)?.pop() {
            Some(record) => jobs.publish(&line.base, &record),
            None => jobs.forget(&line.base, id),
        }
    }
    Ok(())
}

/// Shows the number of read files, if somebody watches the job.
async fn show_files(
    host: &Arc<dyn Host>,
    line: &Line,
    store: &dyn JobStore,
    record: &JobRecord,
) -> Result<(), Problem> {
    let is_read = record.kind == JobKind::Index && record.state == JobState::Running;
    if !is_read || !host.jobs().is_watched(&line.base, record.id) {
        return Ok(());
    }
    let files = store.job_files(record.id).await.map_err(failed)?;
    let done = files.iter().filter(|file| file.is_done).count();
    host.jobs().show_progress(&line.base, record.id, READING, (done, files.len()));
    Ok(())
}
