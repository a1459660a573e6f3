//! Takes parts of jobs and runs them within the accepted bill: file by file after a crash, and again
//! if models were out of reach.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use pikerag_engine::knowledge::telemetry::TRACED;
use pikerag_engine::knowledge::{
    FileMark, JobKind, JobPart, JobQuery, JobRecord, JobState, Jobs as JobStore, Lease, LeaseAfter,
    PartsLeft, StoreError, TakenJob, Taking, error_chain,
};
use pikerag_engine::parts::Outcome;
use pikerag_engine::settings::FileChoice;
use pikerag_engine::{
    EngineError, IndexRequest, IndexResponse, IndexScope, Progress, Session, chinese_chain,
    job_places, setup,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span, warn};

use super::bill::refused;
use super::line::{AtWork, Line};
use super::note::{Ended, Noted, allowed_calls, settle, unstored};
use super::offer::report;
use super::shown::{Bill, FailedFile, Job};
use super::{Host, KEPT, PAUSE, beat, failed, now, recover, there};
use crate::problem::Problem;

/// The attempts to give a part back to a store that cannot be written.
const ASKED: u32 = 20;

/// Takes the next part of a job of the base, and runs it. Returns whether there was one.
pub(super) async fn next(host: &Arc<dyn Host>, line: &Line) -> Result<bool, Problem> {
    let order = line.order.lock().await;
    if host.stopping().is_cancelled() || line.closed.is_cancelled() {
        return Ok(false);
    }
    // A deletion of files may hold the gate.
    let Ok(gate) = Arc::clone(&line.gate).try_read_owned() else { return Ok(false) };
    let Some(owner) = host.owner_of(&line.base) else { return Ok(false) };
    let Some(store) = there(&owner).await? else { return Ok(false) };
    // Without a job, nothing is written: the base may be read-only.
    if !has_jobs(store.as_ref()).await? {
        return Ok(false);
    }
    let taking = host.jobs().taking(&owner);
    let Some(taken) = store.take_job(taking).await.map_err(failed)? else { return Ok(false) };
    let lease = taken.lease;
    if taken.is_left {
        recover::crashed(host, line, store.as_ref(), taken).await?;
        return Ok(true);
    }
    let part = match begin(host, line, &store, owner, taken).await {
        Ok(Some(part)) => part,
        Ok(None) => return Ok(true),
        Err(problem) => {
            // If the base cannot be written, the lease runs out.
            let _ = store.release_lease(lease).await;
            return Err(problem);
        }
    };
    drop(order);
    let names = part.names.clone();
    let done = part.run().await;
    if let Err(problem) = &done {
        give_back(host, line, store.as_ref(), lease, names, &problem.detail()).await;
    }
    line.end_work(lease);
    drop(gate);
    done.map(|()| true)
}

/// Whether a job waits or runs.
async fn has_jobs(store: &dyn JobStore) -> Result<bool, Problem> {
    let next = store.jobs(JobQuery::Next(now())).await.map_err(failed)?;
    if !next.is_empty() {
        return Ok(true);
    }
    let unfinished = store.jobs(JobQuery::Unfinished).await.map_err(failed)?;
    Ok(unfinished.iter().any(|job| job.state.is_accepted()))
}

/// Gives a part back whose result could not be stored, so that it does not count as a crash.
async fn give_back(
    host: &Arc<dyn Host>,
    line: &Line,
    store: &dyn JobStore,
    lease: Lease,
    names: Vec<String>,
    problem: &str,
) {
    for _ in 0..ASKED {
        let reason = problem.to_owned();
        let change = move |record: &mut JobRecord, _: PartsLeft| unstored(record, reason, now());
        let marks = (names.clone(), FileMark::PutBack);
        match store.change_job(lease, marks, LeaseAfter::Released, Box::new(change)).await {
            Ok(record) => {
                if record.state.is_over() {
                    line.folders(|folders| folders.remove(&record.id));
                }
                host.attempted(&line.base, &record);
                return host.jobs().publish(&line.base, &record);
            }
            Err(StoreError::LeaseLost { .. }) => return,
            Err(error) => {
                warn!(job = lease.job, %error, "a job could not be given back");
                host.jobs().show(&line.base, lease.job, |job| job.wait_because(problem));
            }
        }
        if host.stopping().run_until_cancelled(tokio::time::sleep(PAUSE)).await.is_none() {
            return;
        }
    }
}

/// Accepts a part, unless its bill changed: then the job is offered again.
async fn begin<'a>(
    host: &'a Arc<dyn Host>,
    line: &'a Line,
    store: &Arc<dyn JobStore>,
    owner: Session,
    taken: TakenJob,
) -> Result<Option<Part<'a>>, Problem> {
    let TakenJob { lease, job, part, files, .. } = taken;
    let granted = host.session_of(&line.base, job.key.as_deref())?;
    let has_key = granted.is_some();
    let session = host.hold(&line.base, granted.unwrap_or(owner))?.in_background();
    let unfinished = match part {
        JobPart::Files => store.job_files(job.id).await.map_err(failed)?,
        JobPart::Whole | JobPart::Rest => files.clone(),
    };
    let unfinished = unfinished.into_iter().filter(|file| !file.is_done);
    let unfinished: Vec<String> = unfinished.map(|file| file.file).collect();
    if let Some((bill, reason)) = refused(&session, &job, has_key, &unfinished).await? {
        let offer = move |record: &mut JobRecord, _| {
            (record.state, record.bill) = (JobState::Offered, Some(bill));
            record.reason = Some(reason);
        };
        let marks = (Vec::new(), FileMark::Begun);
        let offered = store.change_job(lease, marks, LeaseAfter::Released, Box::new(offer)).await;
        let offered = offered.map_err(failed)?;
        host.jobs().publish(&line.base, &offered);
        report(host, line, &offered);
        return Ok(None);
    }
    let is_careful = files.iter().any(|file| 0 < file.attempts);
    let names: Vec<String> = files.into_iter().map(|file| file.file).collect();
    // Durable before anything is read, so that the next process knows the number of attempts.
    let fresh = if is_careful { Vec::new() } else { names.clone() };
    let (setup, at) = (setup(&session), now());
    let begin = move |record: &mut JobRecord, _| {
        if record.state == JobState::Waiting {
            (record.state, record.started) = (JobState::Running, Some(at));
            record.attempts += 1;
            Noted::begin(record, part);
        }
        record.setup = setup;
    };
    let marks = (fresh, FileMark::Begun);
    let record = store.change_job(lease, marks, LeaseAfter::Held, Box::new(begin)).await;
    let record = record.map_err(failed)?;
    host.jobs().publish(&line.base, &record);
    if record.state != JobState::Running {
        // Another worker found that its bill changed.
        store.release_lease(lease).await.map_err(failed)?;
        return Ok(None);
    }
    let stop = host.stopping().child_token();
    let reads_files = record.kind == JobKind::Index && part != JobPart::Rest;
    let files = reads_files.then(|| names.clone());
    line.begin_work(lease, AtWork { job: record.id, files, stop: stop.clone() });
    let session = session.leased(lease);
    let store = Arc::clone(store);
    let is_first = part == JobPart::Files && record.started == Some(at);
    let asks_again = record.retry_refused && (part == JobPart::Whole || is_first);
    let bill = Mutex::default();
    Ok(Some(Part {
        host,
        line,
        store,
        session,
        lease,
        extent: part,
        record,
        names,
        is_careful,
        asks_again,
        stop,
        bill,
    }))
}

/// A part of a job that this worker runs.
struct Part<'a> {
    host: &'a Arc<dyn Host>,
    line: &'a Line,
    store: Arc<dyn JobStore>,
    session: Session,
    lease: Lease,
    extent: JobPart,
    record: JobRecord,
    names: Vec<String>,
    /// Whether an earlier attempt ended the process: then each file is marked when it begins.
    is_careful: bool,
    /// Whether it makes refused passages pending again. Only the first part of an attempt does that:
    /// later parts would undo the refusals of this attempt.
    asks_again: bool,
    stop: CancellationToken,
    /// The bill of the current batch. This process may run other parts of the same job.
    bill: Mutex<Option<Value>>,
}

impl Part<'_> {
    /// Runs the part to its end, unless it is stopped or its lease is lost.
    async fn run(mut self) -> Result<(), Problem> {
        let (base, id) = (&self.line.base, self.record.id);
        self.host.begun(base, &self.record, self.names.len());
        let name = format!("index {base}");
        let span =
            info_span!(target: TRACED, "job", otel.name = name, pikerag.job.id = id.cast_signed());
        let lost = CancellationToken::new();
        let Taking { holds, share, .. } = self.host.jobs().taking(&self.session);
        let beating =
            beat::renew(Arc::clone(&self.store), self.lease, (holds, share), lost.clone());
        let beating = self.host.runtime().spawn(beating);
        let done = self.batches(&lost).instrument(span).await;
        beating.abort();
        let record = match done {
            Ok(Some(record)) => record,
            // The job belongs to another worker, or waits for one.
            Ok(None) => {
                self.host.jobs().reread(&self.line.base, self.store.as_ref(), id).await;
                return Ok(());
            }
            Err(problem) => return Err(problem),
        };
        if record.state.is_over() {
            self.line.folders(|folders| folders.remove(&id));
        }
        self.host.attempted(&self.line.base, &record);
        self.host.jobs().publish(&self.line.base, &record);
        if record.state.is_over() {
            self.store.prune_jobs(KEPT).await.map_err(failed)?;
        }
        Ok(())
    }

    /// Indexes the files, all together or one by one. Returns the job, whose lease is released;
    /// `None` if the lease is lost.
    async fn batches(&mut self, lost: &CancellationToken) -> Result<Option<JobRecord>, Problem> {
        let names = std::mem::take(&mut self.names);
        let mut batches: Vec<Vec<String>> = match self.is_careful {
            true => names.into_iter().map(|name| vec![name]).collect(),
            false => vec![names],
        };
        batches.reverse();
        while let Some(batch) = batches.pop() {
            let stop = self.stop.clone();
            let ended = tokio::select! {
                ended = self.index(&batch) => ended?,
                () = lost.cancelled() => return Ok(None),
                () = stop.cancelled() => Ended::Stopped,
            };
            if matches!(&ended, Ended::Failed(EngineError::Store(StoreError::LeaseLost { .. }))) {
                return Ok(None);
            }
            let is_last = batches.is_empty() || !matches!(ended, Ended::Came(..));
            let after = if is_last { LeaseAfter::Released } else { LeaseAfter::Held };
            let shown = self.bill.lock().unwrap_or_else(PoisonError::into_inner).take();
            // A retry is due by the clock of the store, which other workers share.
            let at = self.store.clock().await.unwrap_or_else(|_| now());
            let noted =
                Noted::of(&self.line.base, &self.record, self.extent, ended, shown.as_ref(), at);
            let (mark, part) = (noted.mark(), self.extent);
            let change = Box::new(move |record: &mut JobRecord, left| {
                noted.apply(record, part, left);
                if is_last {
                    settle(record, part, left, at);
                }
            });
            match self.store.change_job(self.lease, (batch, mark), after, change).await {
                Ok(record) => self.record = record,
                Err(StoreError::LeaseLost { .. }) => return Ok(None),
                Err(error) => return Err(failed(error)),
            }
            if is_last {
                return Ok(Some(self.record.clone()));
            }
        }
        Ok(None)
    }

    /// Indexes files of the part; a panic ends only this job.
    async fn index(&self, batch: &[String]) -> Result<Ended, Problem> {
        let (record, id) = (&self.record, self.record.id);
        if self.is_careful {
            let marks = (batch.to_vec(), FileMark::Begun);
            let same = Box::new(|_: &mut JobRecord, _| ());
            let marked = self.store.change_job(self.lease, marks, LeaseAfter::Held, same).await;
            if let Err(error) = marked {
                return Ok(Ended::Failed(error.into()));
            }
        }
        let folders: Option<Vec<PathBuf>> = self.line.folders(|folders| folders.get(&id).cloned());
        let scope = match (record.kind, self.extent) {
            (JobKind::Watch, _) => IndexScope::Changed,
            (JobKind::Complete, _) => IndexScope::Base,
            (JobKind::Index, JobPart::Whole) => IndexScope::Files,
            (JobKind::Index, JobPart::Files) => IndexScope::Own,
            (JobKind::Index, JobPart::Rest) => IndexScope::Rest,
        };
        let paths = match folders.filter(|_| record.kind == JobKind::Watch) {
            Some(folders) => folders,
            None if batch.is_empty() => Vec::new(),
            None => match job_places(&self.session, batch).await {
                Ok(paths) => paths,
                Err(error) => return Ok(Ended::Failed(error)),
            },
        };
        let show = |change: &dyn Fn(&mut Job)| {
            self.host.jobs().show(&self.line.base, id, |job| change(job));
        };
        let report_progress = |progress: Progress| match progress {
            Progress::Stage { name, done, total } => show(&|job| {
                job.stage.clone_from(&name);
                (job.done, job.total) = (done, total);
            }),
            Progress::Bill { estimate, usd } => {
                let bill = serde_json::to_value(Bill { estimate, usd }).ok();
                show(&|job| job.bill.clone_from(&bill));
                *self.bill.lock().unwrap_or_else(PoisonError::into_inner) = bill;
            }
            _ => {}
        };
        show(&|job| job.bill = None);
        let request = IndexRequest {
            paths,
            databases: Vec::new(),
            prune: record.kind == JobKind::Watch,
            retry_refused: self.asks_again,
            with: Vec::new(),
            without: Vec::new(),
            chunking: None,
            choice: FileChoice::default(),
            scope,
            accepted_calls: allowed_calls(record, self.extent),
            progress: &report_progress,
        };
        Ok(match caught(pikerag_engine::index(&self.session, &request)).await {
            Ok(Ok(response)) => {
                let failed = failed_of(&self.session, &response).await;
                Ended::Came(Box::new(response), failed)
            }
            Ok(Err(error)) => Ended::Failed(error),
            Err(panic) => Ended::Panicked(panic),
        })
    }
}

/// The result of work, or its panic message.
async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let came = AssertUnwindSafe(work).catch_unwind().await;
    came.map_err(|panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| panic.downcast_ref().cloned()).unwrap_or_else(|| "no message".to_owned())
    })
}

/// The files that failed; uploaded files have the names that they were uploaded under.
async fn failed_of(session: &Session, response: &IndexResponse) -> Vec<FailedFile> {
    let failed = response.report.files.iter().filter_map(|(file, outcome)| match outcome {
        Outcome::Failed { reason } => Some((file, reason)),
        _ => None,
    });
    let failed: Vec<_> = failed.collect();
    if failed.is_empty() {
        return Vec::new();
    }
    let names: Vec<&str> = failed.iter().map(|(file, _)| file.as_str()).collect();
    let sent = pikerag_engine::sent_as(session, &names).await.unwrap_or_else(|error| {
        warn!(error = error_chain(&error), "the upload names of failed files are not shown");
        vec![None; names.len()]
    });
    let shown = failed.into_iter().zip(sent).map(|((file, reason), sent_as)| FailedFile {
        sent_as,
        file: file.clone(),
        reason: reason.to_string(),
        code: reason.code(),
        reason_zh: chinese_chain(reason),
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_ends_only_its_own_job() {
        assert_eq!(caught(async { 7 }).await, Ok(7));
        let text = caught(async { panic!("a file that nobody expected") }).await;
        assert_eq!(text, Err::<(), _>("a file that nobody expected".to_owned()));
        let page = 3;
        let text = caught(async { panic!("page {page}") }).await;
        assert_eq!(text, Err::<(), _>("page 3".to_owned()));
    }
}
