//! Keeps the jobs of all bases: rows of each base, run one after the other, followed while they go on, found again for good.

mod line;
mod offer;
mod recover;
mod run;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pikerag_engine::knowledge::{
    JobBill, JobKind, JobQuery, JobRecord, JobState, Jobs as JobStore, Millis,
};
use pikerag_engine::parts::Estimate;
use pikerag_engine::{
    CreateBase, EngineError, IndexResponse, Session, job_names, job_places, setup,
};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{OwnedMutexGuard, watch};
use tokio::task::JoinHandle;
use tracing::warn;
use utoipa::ToSchema;

use self::line::Line;
pub use self::offer::JobOffer;
use crate::app::{App, Caller};
use crate::problem::{Fault, Problem};

/// Jobs that a base keeps, the oldest that are over dropped first.
const KEPT: usize = 10_000;
/// Jobs that a list shows.
const LISTED: usize = 500;

/// A job of indexing.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Job {
    /// Names it.
    id: u64,
    /// The base that it works for.
    base: String,
    /// What it does.
    kind: JobKind,
    /// How far it has come.
    stand: JobState,
    /// What it is at: `reading`, `vectors`, …
    stage: String,
    /// Pieces of that which are done.
    done: usize,
    /// Pieces of it in all; 0 where that is not known.
    total: usize,
    /// What the calls of models will take, once that is known.
    #[schema(required, value_type = Option<Bill>)]
    bill: Option<Value>,
    /// Files that failed, each with its reason.
    #[schema(value_type = Vec<FailedFile>)]
    failed: Value,
    /// What came of it.
    #[schema(required, value_type = Option<IndexResponse>)]
    report: Option<Value>,
    /// Why it did not come to an end.
    #[schema(required, value_type = Option<Problem>)]
    problem: Option<Value>,
    /// Identifier of the key that asked for it.
    #[schema(required)]
    key: Option<String>,
    /// What that key may spend over all its life, in US dollars.
    #[schema(required)]
    cap_usd: Option<f64>,
    /// The bill that was accepted; of a job that is offered, the bill to accept.
    #[schema(required)]
    accepted: Option<JobBill>,
    /// How often it was begun.
    attempts: u32,
    /// Why the last attempt failed, or why the job is offered or set aside.
    #[schema(required)]
    reason: Option<String>,
    /// When it was asked for, in milliseconds since 1970.
    #[schema(value_type = u64)]
    added: Millis,
    /// When it was last begun.
    #[schema(required, value_type = Option<u64>)]
    started: Option<Millis>,
    /// When it was over.
    #[schema(required, value_type = Option<u64>)]
    ended: Option<Millis>,
}

/// What the calls of models will take.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Bill {
    /// Calls and tokens, in all and by role.
    estimate: Estimate,
    /// US dollars, where the prices are known.
    #[schema(required)]
    usd: Option<f64>,
}

/// A file that could not be read.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct FailedFile {
    /// As the base would call it.
    file: String,
    /// What it was called when it came over the wire, if it did: `POST …/index` takes it again by this name.
    #[schema(required)]
    sent_as: Option<String>,
    /// Why.
    reason: String,
}

impl Job {
    fn of(base: &str, record: &JobRecord) -> Self {
        let outcome = record.outcome.as_ref();
        let part = |name: &str| outcome?.get(name).filter(|part| !part.is_null()).cloned();
        Self {
            id: record.id,
            base: base.to_owned(),
            kind: record.kind,
            stand: record.state,
            stage: String::new(),
            done: 0,
            total: 0,
            bill: part("bill"),
            failed: part("failed").unwrap_or_else(|| Value::Array(Vec::new())),
            report: part("report"),
            problem: part("problem"),
            key: record.key.clone(),
            cap_usd: record.cap_usd,
            accepted: record.bill,
            attempts: record.attempts,
            reason: record.reason.clone(),
            added: record.added,
            started: record.started,
            ended: record.ended,
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn is_over(&self) -> bool {
        self.stand.is_over()
    }
}

/// What is to be indexed.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) kind: JobKind,
    /// Files; of watched folders, the folders.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether what models refused before is asked again.
    pub(crate) retry_refused: bool,
}

impl Work {
    /// Indexing of files.
    pub(crate) fn files(paths: Vec<PathBuf>) -> Self {
        Self { kind: JobKind::Index, paths, retry_refused: false }
    }
}

/// All jobs of the server.
#[derive(Default)]
pub(crate) struct Jobs {
    /// Those that are not over, by base and number.
    live: Mutex<BTreeMap<(String, u64), watch::Sender<Job>>>,
    lines: Mutex<HashMap<String, Arc<Line>>>,
    running: Mutex<Vec<JoinHandle<()>>>,
}

impl Jobs {
    /// Puts a job behind those of its base, for good: it survives the end of the server.
    pub(crate) async fn begin(
        &self,
        app: &App,
        caller: &Caller,
        base: &str,
        session: &Session,
        work: Work,
    ) -> Result<Job, Problem> {
        let files = match work.kind {
            JobKind::Watch => Vec::new(),
            JobKind::Index | JobKind::Complete => job_names(session, &work.paths).await?,
        };
        let mut record = JobRecord {
            id: 0,
            kind: work.kind,
            state: JobState::Waiting,
            key: caller.key.as_ref().map(|key| key.id.clone()),
            cap_usd: caller.key.as_ref().and_then(|key| key.params.cap_usd),
            setup: setup(session),
            bill: None,
            retry_refused: work.retry_refused,
            attempts: 0,
            reason: None,
            added: now(),
            started: None,
            ended: None,
            due: 0,
            outcome: None,
        };
        let line = self.line(app, base);
        // Nobody begins it before its folders are known.
        let _order = line.order.lock().await;
        record.id = made(session).await?.add_job(record.clone(), files).await.map_err(failed)?;
        if work.kind == JobKind::Watch {
            line.folders(|folders| folders.insert(record.id, work.paths));
        }
        let job = Job::of(base, &record);
        self.follow(&job);
        line.wake.notify_one();
        Ok(job)
    }

    /// Accepts the bill of a job that is offered, or has one begun again that was set aside or did not come to its end.
    pub(crate) async fn accept(
        &self,
        app: &App,
        caller: &Caller,
        base: &str,
        session: &Session,
        id: u64,
    ) -> Result<Job, Problem> {
        let line = self.line(app, base);
        let _order = line.order.lock().await;
        let store = made(session).await?;
        let found = store.jobs(JobQuery::One(id)).await.map_err(failed)?.pop();
        let Some(mut record) = found else { return Err(no_job(id)) };
        if matches!(record.state, JobState::Waiting | JobState::Running | JobState::Done) {
            return Err(Problem::new(409, "not-offered", Fault::Caller)
                .saying(format!(
                    "job {id} is {}: it needs nobody to begin it",
                    record.state.as_str()
                ))
                .hint("GET …/jobs lists those that are `offered`, `set_aside`, `incomplete` or `failed`"));
        }
        record.key = caller.key.as_ref().map(|key| key.id.clone());
        record.cap_usd = caller.key.as_ref().and_then(|key| key.params.cap_usd);
        record.setup = setup(session);
        (record.state, record.reason) = (JobState::Waiting, None);
        (record.attempts, record.due, record.ended) = (0, 0, None);
        let files = store.job_files(id).await.map_err(failed)?;
        let files = files.into_iter().map(|file| file.file).collect();
        let mark = pikerag_engine::knowledge::FileMark::PutBack;
        store.mark_job_files(id, files, mark).await.map_err(failed)?;
        self.keep(base, store.as_ref(), &record).await;
        line.wake.notify_one();
        Ok(Job::of(base, &record))
    }

    /// The latest jobs of a base and all that are not over, the latest first.
    pub(crate) async fn of(&self, base: &str, session: &Session) -> Result<Vec<Job>, Problem> {
        let Some(store) = there(session).await? else { return Ok(Vec::new()) };
        let mut records = store.jobs(JobQuery::Latest(LISTED)).await.map_err(failed)?;
        let oldest = records.last().map_or(0, |record| record.id);
        let unfinished = store.jobs(JobQuery::Unfinished).await.map_err(failed)?;
        records.extend(unfinished.into_iter().rev().filter(|record| record.id < oldest));
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let job = |record: &JobRecord| match live.get(&(base.to_owned(), record.id)) {
            Some(live) => live.borrow().clone(),
            None => Job::of(base, record),
        };
        Ok(records.iter().map(job).collect())
    }

    /// How many of a base's jobs wait or are at work.
    pub(crate) fn waiting(&self, base: &str) -> usize {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let of_base = live.iter().filter(|((of, _), _)| of == base);
        let waits = |job: &Job| matches!(job.stand, JobState::Waiting | JobState::Running);
        of_base.filter(|(_, job)| waits(&job.borrow())).count()
    }

    /// Files that jobs that are not over read or will, where they lie, each with the state of its job.
    pub(crate) async fn to_read(
        &self,
        session: &Session,
    ) -> Result<Vec<(String, PathBuf, JobState)>, Problem> {
        let Some(store) = there(session).await? else { return Ok(Vec::new()) };
        let (names, states): (Vec<String>, Vec<JobState>) =
            store.files_to_read().await.map_err(failed)?.into_iter().unzip();
        let places = job_places(session, &names).await?;
        let files = names.into_iter().zip(places).zip(states);
        Ok(files.map(|((name, place), state)| (name, place, state)).collect())
    }

    /// Takes files out of all jobs of a base that are not over, and waits until none is at work on them. While what it returns
    /// is held, none begins.
    ///
    /// `everywhere`: whether any job may hold their text, not only those that read them.
    pub(crate) async fn withdraw(
        &self,
        app: &App,
        base: &str,
        session: &Session,
        files: &[String],
        everywhere: bool,
    ) -> Result<Option<OwnedMutexGuard<()>>, Problem> {
        let line = self.line(app, base);
        let order = line.order.lock().await;
        if let Some(store) = there(session).await? {
            store.withdraw_files(None, files.to_vec()).await.map_err(failed)?;
        }
        // Before the order is given up: else the job could begin again first.
        let held = match line.stop_those_at(files, everywhere) {
            true => Some(Arc::clone(&line.gate).lock_owned().await),
            false => None,
        };
        drop(order);
        Ok(held)
    }

    /// One job, to look at while it goes on.
    pub(crate) async fn watch(
        &self,
        base: &str,
        session: &Session,
        id: u64,
    ) -> Result<watch::Receiver<Job>, Problem> {
        let live = || {
            let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            live.get(&(base.to_owned(), id)).map(watch::Sender::subscribe)
        };
        if let Some(live) = live() {
            return Ok(live);
        }
        let Some(store) = there(session).await? else { return Err(no_job(id)) };
        let found = store.jobs(JobQuery::One(id)).await.map_err(failed)?.pop();
        let record = found.ok_or_else(|| no_job(id))?;
        Ok(watch::channel(Job::of(base, &record)).1)
    }

    /// Goes on with what was accepted before the server ended.
    pub(crate) fn go_on(&self, app: &App, base: &str) {
        self.line(app, base);
    }

    /// Waits until jobs that were told to stop have noted where they are.
    pub(crate) async fn ended(&self) {
        let running =
            std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        for task in running {
            // One that panicked has nothing more to note.
            let _ = task.await;
        }
    }

    fn line(&self, app: &App, base: &str) -> Arc<Line> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let line = Arc::new(Line::new(base));
            // On the server's own runtime: connections to models that a job opens serve others after it.
            let running = app.runtime.spawn(line::run(Arc::clone(app), Arc::clone(&line)));
            self.running.lock().unwrap_or_else(PoisonError::into_inner).push(running);
            line
        };
        Arc::clone(lines.entry(base.to_owned()).or_insert_with(new))
    }

    /// Shows a job to whoever follows it, until it is over.
    fn follow(&self, job: &Job) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.insert((job.base.clone(), job.id), watch::channel(job.clone()).0);
    }

    /// Changes what is shown of a job.
    fn show(&self, base: &str, id: u64, change: impl FnOnce(&mut Job)) {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(job) = live.get(&(base.to_owned(), id)) {
            job.send_modify(change);
        }
    }

    /// Keeps a job and shows it.
    async fn keep(&self, base: &str, store: &dyn JobStore, record: &JobRecord) {
        if let Err(error) = store.put_job(record.clone()).await {
            warn!(base, job = record.id, %error, "the state of a job is not kept");
        }
        let job = Job::of(base, record);
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (base.to_owned(), record.id);
        match live.get(&key) {
            Some(held) => held.send_modify(|held| {
                let (stage, done, total) = (std::mem::take(&mut held.stage), held.done, held.total);
                *held =
                    Job { stage, done, total, bill: job.bill.clone().or(held.bill.take()), ..job };
            }),
            None => drop(live.insert(key.clone(), watch::channel(job).0)),
        }
        if record.state.is_over() {
            live.remove(&key);
        }
    }
}

/// The jobs of a base; it is made where there is none.
async fn made(session: &Session) -> Result<Arc<dyn JobStore>, Problem> {
    let store = pikerag_engine::jobs(session, CreateBase::Yes).await?;
    store.ok_or_else(|| Problem::new(503, "no-base", Fault::Server))
}

/// The jobs of a base; `None` where there is no base.
async fn there(session: &Session) -> Result<Option<Arc<dyn JobStore>>, Problem> {
    Ok(pikerag_engine::jobs(session, CreateBase::No).await?)
}

fn failed(error: pikerag_engine::knowledge::StoreError) -> Problem {
    EngineError::from(error).into()
}

fn no_job(id: u64) -> Problem {
    Problem::new(404, "no-such-job", Fault::Caller).saying(format!("there is no job `{id}`"))
}

/// Milliseconds since 1970.
fn now() -> Millis {
    pikerag_engine::keys::now()
}
