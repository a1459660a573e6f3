//! Runs the jobs of one base, one part after the other; failed jobs are repeated when they are due.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pikerag_engine::knowledge::JobQuery;
use pikerag_engine::{CreateBase, shares_jobs};
use tracing::{info, warn};

use super::line::Line;
use super::{Host, PAUSE, failed, now, offer, recover, refresh, run, there};
use crate::problem::Problem;

/// The longest sleep of a queue, because a change of the clock can make a job due.
const LONGEST: Duration = Duration::from_mins(1);
/// The sleep while another process may have a job, or may give one back.
const SHORTEST: Duration = Duration::from_secs(1);
/// The longest sleep where other processes add jobs.
const SHARED: Duration = Duration::from_secs(2);

/// How long an incomplete upload may stay unchanged, and how often this is checked.
const PARTS_KEPT: Duration = Duration::from_hours(7 * 24);
const EXPIRING: Duration = Duration::from_hours(1);

/// Runs due jobs until the server stops, or the queue is closed. Where workers run them, it only
/// shows their states.
pub(super) async fn run(host: Arc<dyn Host>, line: Arc<Line>) {
    if let Err(problem) = recover::recover(&host, &line).await {
        warn!(base = line.base, problem = problem.detail(), "earlier jobs were not resumed");
    }
    let mut expired: Option<Instant> = None;
    while !host.stopping().is_cancelled() && !line.closed.is_cancelled() {
        let runs = host.runs_jobs(&line.base);
        if runs {
            match run::next(&host, &line).await {
                Ok(true) => continue,
                Ok(false) => {}
                Err(problem) => {
                    warn!(base = line.base, problem = problem.detail(), "a job could not begin");
                    // Otherwise it would be tried again at once.
                    let _ = host.stopping().run_until_cancelled(tokio::time::sleep(PAUSE)).await;
                }
            }
        }
        if let Err(problem) = refresh::refresh(&host, &line).await {
            let problem = problem.detail();
            warn!(base = line.base, problem, "the states of jobs could not be read");
        }
        if expired.is_none_or(|last| EXPIRING <= last.elapsed()) {
            expired = Some(Instant::now());
            expire(&host, &line.base).await;
        }
        if runs && line.take_uncounted() {
            let counted = host.stopping().run_until_cancelled(offer::offer(&host, &line)).await;
            if let Some(Err(problem)) = counted {
                let problem = problem.detail();
                warn!(base = line.base, problem, "the remaining work of the base was not counted");
            }
        }
        let wait = wait(&host, &line).await.unwrap_or(SHORTEST);
        tokio::select! {
            () = host.stopping().cancelled() => {}
            () = line.closed.cancelled() => {}
            () = line.wake.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
    if host.stopping().is_cancelled()
        && let Err(problem) = recover::end_own_scans(&host, &line).await
    {
        warn!(base = line.base, problem = problem.detail(), "waiting scans of folders remain");
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

/// The time until a job may be due.
async fn wait(host: &Arc<dyn Host>, line: &Line) -> Result<Duration, Problem> {
    let Some(session) = host.owner_of(&line.base) else { return Ok(LONGEST) };
    let longest = if shares_jobs(&session) { SHARED } else { LONGEST };
    let Some(store) = there(&session).await? else { return Ok(longest) };
    let unfinished = store.jobs(JobQuery::Unfinished).await.map_err(failed)?;
    let waits = unfinished.iter().filter(|job| job.state.is_accepted());
    let due = waits.map(|job| Duration::from_millis(job.due.saturating_sub(now())));
    Ok(due.min().map_or(longest, |due| due.clamp(SHORTEST, longest)))
}
