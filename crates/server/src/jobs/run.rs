//! Runs one job within its accepted bill: file by file after a crash, and again if models were out
//! of reach.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use pikerag_engine::knowledge::telemetry::TRACED;
use pikerag_engine::knowledge::{
    FileMark, JobBill, JobFile, JobKind, JobQuery, JobRecord, JobState, Jobs as JobStore,
    error_chain,
};
use pikerag_engine::parts::Outcome;
use pikerag_engine::settings::FileChoice;
use pikerag_engine::{
    EngineError, EstimateRequest, IndexRequest, IndexResponse, IndexScope, Progress, Session,
    chinese_chain, estimate, job_places, setup,
};
use serde_json::json;
use tracing::{Instrument, error, info_span, warn};

use super::line::{AtWork, Line};
use super::offer::report;
use super::reason::JobReason;
use super::shown::{Bill, FailedFile, Job};
use super::{Host, KEPT, failed, no_job, now};
use crate::problem::{Fault, Problem};

/// Attempts of a job whose calls fail; the pauses between them start at `PAUSE` and grow fourfold.
const ATTEMPTS: u32 = 6;
const PAUSE: Duration = Duration::from_secs(5);

/// How an attempt ended.
enum Ended {
    Came(Box<IndexResponse>),
    Failed(EngineError),
    Panicked(String),
    /// The server stops, or a file of the job is deleted.
    Stopped,
}

/// Runs a due job, if it still exists when its turn comes.
pub(super) async fn run(host: &Arc<dyn Host>, line: &Line, store: &dyn JobStore, id: u64) {
    let gate = line.gate.lock().await;
    if let Err(problem) = begin(host, line, store, id).await {
        let problem = problem.detail();
        warn!(base = line.base, job = id, problem, "a job could not begin");
        // Otherwise it would be tried again at once.
        tokio::time::sleep(PAUSE).await;
    }
    line.set_at_work(None);
    drop(gate);
}

async fn begin(
    host: &Arc<dyn Host>,
    line: &Line,
    store: &dyn JobStore,
    id: u64,
) -> Result<(), Problem> {
    let order = line.order.lock().await;
    let found = store.jobs(JobQuery::One(id)).await.map_err(failed)?.pop();
    let Some(mut record) = found.filter(|job| job.state == JobState::Waiting) else {
        return Ok(());
    };
    let files = store.job_files(id).await.map_err(failed)?;
    let files: Vec<JobFile> = files.into_iter().filter(|file| !file.is_done).collect();
    let names = files.iter().map(|file| file.file.clone()).collect::<Vec<_>>();
    let granted = host.session_of(&line.base, record.key.as_deref())?;
    let has_key = granted.is_some();
    let session = granted.or_else(|| host.owner_of(&line.base)).ok_or_else(|| no_job(id))?;
    let session = host.hold(&line.base, session)?.in_background();
    if let Some((bill, reason)) = refused(&session, &record, has_key, &names).await? {
        (record.state, record.bill, record.reason) = (JobState::Offered, Some(bill), Some(reason));
        host.jobs().keep(&line.base, store, &record).await;
        report(host, line, &record);
        return Ok(());
    }
    record.setup = setup(&session);
    (record.state, record.started) = (JobState::Running, Some(now()));
    record.attempts += 1;
    let stop = host.stopping().child_token();
    let of_files = (record.kind == JobKind::Index).then(|| names.clone());
    // Durable before anything is read, so that the next process knows the number of attempts.
    let is_careful = files.iter().any(|file| 0 < file.attempts);
    if !is_careful {
        store.mark_job_files(id, names.clone(), FileMark::Begun).await.map_err(failed)?;
    }
    if !store.put_job(record.clone()).await.map_err(failed)? {
        return Ok(());
    }
    host.jobs().keep(&line.base, store, &record).await;
    line.set_at_work(Some(AtWork { files: of_files, stop: stop.clone() }));
    drop(order);
    let batches = match is_careful {
        true => names.into_iter().map(|name| vec![name]).collect(),
        false => vec![names],
    };
    let name = format!("index {}", line.base);
    let span =
        info_span!(target: TRACED, "job", otel.name = name, pikerag.job.id = id.cast_signed());
    let attempt = Attempt { host, line, store, session: &session, is_careful };
    let done = async {
        let mut whole = None;
        for batch in batches {
            let ended = tokio::select! {
                ended = attempt.index(&record, &batch) => ended?,
                () = stop.cancelled() => Ended::Stopped,
            };
            let is_over = !matches!(ended, Ended::Came(_));
            attempt.note(&mut record, &batch, ended, &mut whole).await?;
            if is_over {
                break;
            }
        }
        Ok::<_, Problem>(())
    };
    if let Err(problem) = done.instrument(span).await {
        // The base could not be written during the work.
        record.reason = Some(problem.detail());
        match record.attempts < ATTEMPTS {
            true => again(&mut record),
            false => record.state = JobState::Failed,
        }
    }
    record.state = match record.state {
        JobState::Running => JobState::Done,
        other => other,
    };
    if record.state.is_over() {
        record.ended = Some(now());
        line.folders(|folders| folders.remove(&id));
    }
    host.attempted(&line.base, &record);
    host.jobs().keep(&line.base, store, &record).await;
    if record.state.is_over() {
        store.prune_jobs(KEPT).await.map_err(failed)?;
    }
    Ok(())
}

/// Why an accepted job is offered again with its current bill; `None` if it may begin.
async fn refused(
    session: &Session,
    record: &JobRecord,
    has_key: bool,
    names: &[String],
) -> Result<Option<(JobBill, String)>, Problem> {
    let reason = match has_key {
        false => "the key that requested it is gone, or may not change this base any more",
        true if record.setup == setup(session) => return Ok(None),
        true => "models or settings have changed since it was accepted",
    };
    if session.indexes_for_free() {
        return Ok(None);
    }
    let paths = match names {
        [] => Vec::new(),
        names => job_places(session, names).await?,
    };
    let request = EstimateRequest {
        paths,
        databases: Vec::new(),
        with: Vec::new(),
        without: Vec::new(),
        chunking: None,
        choice: FileChoice::default(),
        own_files: record.kind == JobKind::Index,
    };
    let estimated = estimate(session, &request).await?;
    let usage = estimated.estimate.usage;
    let bill = JobBill {
        calls: estimated.estimate.calls as u64,
        tokens: usage.prompt_tokens + usage.completion_tokens,
        usd: estimated.usd,
        texts: u64::from(0 < estimated.estimate.embedded_tokens) * estimated.estimate.chunks as u64,
    };
    Ok((!bill.is_free()).then(|| (bill, reason.to_owned())))
}

/// The inputs of an attempt.
struct Attempt<'a> {
    host: &'a Arc<dyn Host>,
    line: &'a Line,
    store: &'a dyn JobStore,
    session: &'a Session,
    /// Whether an earlier attempt ended the process: then each file is marked when it begins.
    is_careful: bool,
}

impl Attempt<'_> {
    /// Indexes files of the job; a panic ends only this job.
    async fn index(&self, record: &JobRecord, batch: &[String]) -> Result<Ended, Problem> {
        let id = record.id;
        if self.is_careful {
            let marked = self.store.mark_job_files(id, batch.to_vec(), FileMark::Begun).await;
            marked.map_err(failed)?;
        }
        let folders: Option<Vec<PathBuf>> = self.line.folders(|folders| folders.get(&id).cloned());
        let (paths, scope) = match (record.kind, folders) {
            (JobKind::Watch, folders) => (folders.unwrap_or_default(), IndexScope::Changed),
            (JobKind::Index, _) => (job_places(self.session, batch).await?, IndexScope::Files),
            (JobKind::Complete, _) => (job_places(self.session, batch).await?, IndexScope::Base),
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
            }
            _ => {}
        };
        let request = IndexRequest {
            paths,
            databases: Vec::new(),
            prune: record.kind == JobKind::Watch,
            retry_refused: record.retry_refused,
            with: Vec::new(),
            without: Vec::new(),
            chunking: None,
            choice: FileChoice::default(),
            scope,
            accepted_calls: record.bill.map(|bill| bill.calls),
            progress: &report_progress,
        };
        Ok(match caught(pikerag_engine::index(self.session, &request)).await {
            Ok(Ok(response)) => Ended::Came(Box::new(response)),
            Ok(Err(error)) => Ended::Failed(error),
            Err(panic) => Ended::Panicked(panic),
        })
    }

    /// Records the result of a batch.
    async fn note(
        &self,
        record: &mut JobRecord,
        batch: &[String],
        ended: Ended,
        all_failed: &mut Option<Vec<FailedFile>>,
    ) -> Result<(), Problem> {
        let mut mark = FileMark::Done;
        let mut outcome = json!({});
        match ended {
            Ended::Came(response) => {
                let report = &response.report;
                let failed = all_failed.get_or_insert_default();
                failed.extend(failed_of(self.session, &response).await);
                let is_out = 0 < report.failures || report.out_of_reach;
                if is_out {
                    let first = report.failed.first().map(|(_, reason)| reason.clone());
                    record.reason = report.stopped.clone().or(first);
                }
                if is_out && record.attempts < ATTEMPTS {
                    again(record);
                    mark = FileMark::PutBack;
                } else if !report.is_whole() && record.state == JobState::Running {
                    record.state = JobState::Incomplete;
                }
                let bill = self.bill(record);
                outcome = json!({ "report": &*response, "failed": failed, "bill": bill });
            }
            Ended::Failed(error) => {
                record.reason = Some(error.to_string());
                let is_passing = matches!(error, EngineError::Store(_));
                match is_passing && record.attempts < ATTEMPTS {
                    true => again(record),
                    false => record.state = JobState::Failed,
                }
                outcome = json!({ "problem": Problem::from(error) });
                mark = FileMark::PutBack;
            }
            Ended::Panicked(message) => {
                error!(base = self.line.base, job = record.id, message, "a job panicked");
                record.state = JobState::Failed;
                record.reason = Some(JobReason::Panicked { message }.to_string());
                let problem = Problem::new(500, "panicked", Fault::Server)
                    .saying("the job ended because of a program error; see the server's log");
                outcome = json!({ "problem": problem });
                mark = FileMark::PutBack;
            }
            Ended::Stopped => {
                record.state = JobState::Waiting;
                record.attempts = record.attempts.saturating_sub(1);
                mark = FileMark::PutBack;
            }
        }
        record.outcome = Some(outcome);
        self.store.mark_job_files(record.id, batch.to_vec(), mark).await.map_err(failed)
    }

    /// Accepts the shown bill, unless a bill was accepted before, and returns it.
    fn bill(&self, record: &mut JobRecord) -> Option<serde_json::Value> {
        let mut shown = None;
        self.host.jobs().show(&self.line.base, record.id, |job| shown.clone_from(&job.bill));
        let number = |at: &str| shown.as_ref()?.pointer(at)?.as_u64();
        if record.bill.is_none()
            && let Some(calls) = number("/estimate/calls")
        {
            let tokens = ["/estimate/usage/prompt_tokens", "/estimate/usage/completion_tokens"];
            let tokens = tokens.into_iter().filter_map(number).sum();
            let usd = shown.as_ref().and_then(|bill| bill.get("usd")?.as_f64());
            record.bill = Some(JobBill { calls, tokens, usd, texts: 0 });
        }
        shown
    }
}

/// Schedules the job again after a pause.
fn again(record: &mut JobRecord) {
    let pause = PAUSE * 4_u32.pow(record.attempts.saturating_sub(1).min(ATTEMPTS));
    record.due = now().saturating_add(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX));
    record.state = JobState::Waiting;
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
