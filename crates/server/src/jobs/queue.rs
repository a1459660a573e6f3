//! Runs the jobs of one base in order of arrival; failed jobs are repeated when they are due.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pikerag_engine::CreateBase;
use pikerag_engine::knowledge::{JobQuery, JobRecord, Jobs as JobStore};
use tracing::{info, warn};

use super::line::Line;
use super::{Host, failed, now, offer, recover, run, there};
use crate::problem::Problem;

/// The longest sleep of a queue, because a change of the clock can make a job due.
const LONGEST: Duration = Duration::from_mins(1);

/// How long an incomplete upload may stay unchanged, and how often this is checked.
const PARTS_KEPT: Duration = Duration::from_hours(7 * 24);
const EXPIRING: Duration = Duration::from_hours(1);

/// Runs due jobs until the server stops, or the queue is closed.
pub(super) async fn run(host: Arc<dyn Host>, line: Arc<Line>) {
    if let Err(problem) = recover::recover(&host, &line).await {
        warn!(base = line.base, problem = problem.detail(), "earlier jobs were not resumed");
    }
    let mut is_counted = false;
    let mut expired: Option<Instant> = None;
    while !host.stopping().is_cancelled() && !line.closed.is_cancelled() {
        let mut wait = LONGEST;
        match next(&host, &line).await {
            Ok(Some((store, job))) if job.due <= now() => {
                run::run(&host, &line, store.as_ref(), job.id).await;
                is_counted = false;
                continue;
            }
            Ok(Some((_, job))) => {
                wait = wait.min(Duration::from_millis(job.due.saturating_sub(now())));
            }
            Ok(None) => {}
            Err(problem) => {
                warn!(base = line.base, problem = problem.detail(), "the jobs could not be read");
            }
        }
        if expired.is_none_or(|last| EXPIRING <= last.elapsed()) {
            expired = Some(Instant::now());
            expire(&host, &line.base).await;
        }
        if !is_counted {
            is_counted = true;
            let counted = host.stopping().run_until_cancelled(offer::offer(&host, &line)).await;
            if let Some(Err(problem)) = counted {
                let problem = problem.detail();
                warn!(base = line.base, problem, "the remaining work of the base was not counted");
            }
        }
        tokio::select! {
            () = host.stopping().cancelled() => {}
            () = line.closed.cancelled() => {}
            () = line.wake.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Drops incomplete uploads that no longer grow.
async fn expire(host: &Arc<dyn Host>, base: &str) {
    let Some(session) = host.owner_of(base) else { return };
    let uploads = match session.uploads(CreateBase::No).await {
        Ok(uploads) => uploads,
        Err(error) => return warn!(base, %error, "incomplete uploads could not be found"),
    };
    match uploads.drop_parts(PARTS_KEPT).await {
        Ok(0) => {}
        Ok(parts) => info!(base, parts, "incomplete uploads expired"),
        Err(error) => warn!(base, %error, "incomplete uploads could not be dropped"),
    }
}

async fn next(
    host: &Arc<dyn Host>,
    line: &Line,
) -> Result<Option<(Arc<dyn JobStore>, JobRecord)>, Problem> {
    let Some(session) = host.owner_of(&line.base) else { return Ok(None) };
    let Some(store) = there(&session).await? else { return Ok(None) };
    let next = store.jobs(JobQuery::Next(now())).await.map_err(failed)?.pop();
    Ok(next.map(|job| (store, job)))
}
