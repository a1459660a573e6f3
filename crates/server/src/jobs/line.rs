//! Runs the jobs of one base in turn, in the order in which they were asked for, those that failed again when they are due.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pikerag_engine::knowledge::{JobQuery, JobRecord, Jobs as JobStore};
use pikerag_engine::uploads::Uploads;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{now, offer, recover, run, there};
use crate::app::App;
use crate::problem::Problem;

/// The longest that a line sleeps though a job may be due: clocks are set.
const LONGEST: Duration = Duration::from_mins(1);

/// How long an upload that has not come whole may rest, and how often that is looked at.
const PARTS_KEPT: Duration = Duration::from_hours(7 * 24);
const EXPIRING: Duration = Duration::from_hours(1);

/// The jobs of one base.
pub(super) struct Line {
    pub(super) base: String,
    /// Told when a job came.
    pub(super) wake: Notify,
    /// Held while it is decided which files a job reads, and which none may read any more.
    pub(super) order: tokio::sync::Mutex<()>,
    /// Held while a job is at work, and while nothing may be.
    pub(super) gate: Arc<tokio::sync::Mutex<()>>,
    at_work: Mutex<Option<AtWork>>,
    folders: Mutex<HashMap<u64, Vec<PathBuf>>>,
}

/// The job that is at work.
pub(super) struct AtWork {
    /// Files that it reads; of other jobs than those of named files, `None`: any.
    pub(super) files: Option<Vec<String>>,
    pub(super) stop: CancellationToken,
}

impl Line {
    pub(super) fn new(base: &str) -> Self {
        Self {
            base: base.to_owned(),
            wake: Notify::new(),
            order: tokio::sync::Mutex::default(),
            gate: Arc::default(),
            at_work: Mutex::default(),
            folders: Mutex::default(),
        }
    }

    /// The folders of jobs of watched folders, by number.
    pub(super) fn folders<T>(&self, with: impl FnOnce(&mut HashMap<u64, Vec<PathBuf>>) -> T) -> T {
        with(&mut self.folders.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set_at_work(&self, job: Option<AtWork>) {
        *self.at_work.lock().unwrap_or_else(PoisonError::into_inner) = job;
    }

    /// Stops the job that is at work on any of these files; whether there is one.
    pub(super) fn stop_those_at(&self, files: &[String], everywhere: bool) -> bool {
        let at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(job) = &*at_work else { return false };
        let reads =
            job.files.as_ref().is_none_or(|own| files.iter().any(|file| own.contains(file)));
        if everywhere || reads {
            job.stop.cancel();
        }
        everywhere || reads
    }
}

/// Runs what is due until the server stops.
pub(super) async fn run(app: App, line: Arc<Line>) {
    if let Err(problem) = recover::recover(&app, &line).await {
        warn!(base = line.base, problem = problem.detail(), "jobs of before are not resumed");
    }
    let mut is_counted = false;
    let mut expired: Option<Instant> = None;
    while !app.stopping.is_cancelled() {
        let mut wait = LONGEST;
        match next(&app, &line).await {
            Ok(Some((store, job))) if job.due <= now() => {
                run::run(&app, &line, store.as_ref(), job.id).await;
                is_counted = false;
                continue;
            }
            Ok(Some((_, job))) => {
                wait = wait.min(Duration::from_millis(job.due.saturating_sub(now())));
            }
            Ok(None) => {}
            Err(problem) => {
                warn!(base = line.base, problem = problem.detail(), "jobs are not read")
            }
        }
        if expired.is_none_or(|last| EXPIRING <= last.elapsed()) {
            expired = Some(Instant::now());
            expire(&app, &line.base);
        }
        if !is_counted {
            is_counted = true;
            let counted = app.stopping.run_until_cancelled(offer::offer(&app, &line)).await;
            if let Some(Err(problem)) = counted {
                let problem = problem.detail();
                warn!(base = line.base, problem, "what the base lacks is not counted");
            }
        }
        tokio::select! {
            () = app.stopping.cancelled() => {}
            () = line.wake.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Drops uploads that have not come whole and grow no more.
fn expire(app: &App, base: &str) {
    let Some(session) = app.owner_of(base) else { return };
    let dropped = Uploads::beside(session.folder()).drop_parts(|age| PARTS_KEPT < age);
    match dropped {
        Ok(0) => {}
        Ok(parts) => info!(base, parts, "incomplete uploads expired"),
        Err(error) => warn!(base, %error, "incomplete uploads do not expire"),
    }
}

async fn next(app: &App, line: &Line) -> Result<Option<(Arc<dyn JobStore>, JobRecord)>, Problem> {
    let Some(session) = app.owner_of(&line.base) else { return Ok(None) };
    let Some(store) = there(&session).await? else { return Ok(None) };
    let next = store.jobs(JobQuery::Next(now())).await.map_err(super::failed)?.pop();
    Ok(next.map(|job| (store, job)))
}
