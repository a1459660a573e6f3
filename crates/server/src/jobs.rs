//! Keeps the jobs of all bases, which survive a restart. In a database, several processes run parts of
//! them at once; elsewhere a base runs one job after the other.

mod beat;
mod bill;
mod closing;
mod held;
mod host;
mod line;
mod note;
mod offer;
mod published;
mod queue;
mod reason;
mod recover;
mod refresh;
mod run;
mod shown;
mod taking;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pikerag_engine::keys::Key;
use pikerag_engine::knowledge::{
    FileMark, JobKind, JobPriority, JobQuery, JobRecord, JobState, Jobs as JobStore, Millis,
    StopLeases, StoreError, Taking,
};
use pikerag_engine::{
    CreateBase, EngineError, Session, job_names, job_places, setup, shares_jobs, worker_name,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::held::HeldJobs;
pub(crate) use self::host::Host;
pub use self::host::JobOffer;
use self::line::Line;
pub(crate) use self::shown::Job;
use crate::problem::{Fault, Problem};

/// The number of jobs that a base keeps; the oldest finished ones are dropped first.
const KEPT: usize = 10_000;
/// The number of jobs in a list.
const LISTED: usize = 500;
/// A job with at most this number of files comes before larger ones.
const FEW: usize = 20;
/// The pause after a job could not begin, and the first of those between its attempts.
const PAUSE: Duration = Duration::from_secs(5);
/// How long a worker may be silent before its part counts as left by a crash.
const HOLDS: Duration = Duration::from_secs(30);
/// The longest time that a deletion may hold the jobs of a base. It ends with its process, too.
const LONGEST_HOLD: Duration = Duration::from_mins(10);

/// The work of an indexing job.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) kind: JobKind,
    /// Files; for watched folders, the folders.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether to ask models again about passages that they refused before.
    pub(crate) retry_refused: bool,
}

impl Work {
    /// Indexing of files.
    pub(crate) fn files(paths: Vec<PathBuf>) -> Self {
        Self { kind: JobKind::Index, paths, retry_refused: false }
    }
}

/// All jobs of the process.
pub(crate) struct Jobs {
    /// The name of this process among workers.
    worker: String,
    /// How long a lease holds unless it is renewed.
    holds: Duration,
    /// The jobs that are not over, by base and number.
    live: Mutex<BTreeMap<(String, u64), watch::Sender<Job>>>,
    lines: Mutex<HashMap<String, Arc<Line>>>,
    running: Mutex<Vec<JoinHandle<()>>>,
}

impl Default for Jobs {
    fn default() -> Self {
        // Without random bytes, the number of the process distinguishes it on its host.
        let own = |_| format!("process/{}", std::process::id());
        Self {
            worker: worker_name().unwrap_or_else(own),
            holds: HOLDS,
            live: Mutex::default(),
            lines: Mutex::default(),
            running: Mutex::default(),
        }
    }
}

impl Jobs {
    /// Queues a job behind those of its base. The record is durable: it survives the end of the
    /// server.
    pub(crate) async fn begin(
        &self,
        host: &Arc<dyn Host>,
        key: Option<&Key>,
        base: &str,
        session: &Session,
        work: Work,
    ) -> Result<Job, Problem> {
        let files = match work.kind {
            JobKind::Watch => Vec::new(),
            JobKind::Index | JobKind::Complete => job_names(session, &work.paths).await?,
        };
        let priority = match work.kind {
            JobKind::Complete => JobPriority::Last,
            JobKind::Index if files.len() <= FEW => JobPriority::Soon,
            JobKind::Index | JobKind::Watch => JobPriority::Usual,
        };
        let mut record = JobRecord {
            id: 0,
            kind: work.kind,
            state: JobState::Waiting,
            key: key.map(|key| key.id.clone()),
            cap_usd: key.and_then(|key| key.params.cap_usd),
            setup: setup(session),
            bill: None,
            priority,
            // Only this process knows the folders.
            worker: (work.kind == JobKind::Watch).then(|| self.worker.clone()),
            retry_refused: work.retry_refused,
            attempts: 0,
            reason: None,
            added: now(),
            started: None,
            ended: None,
            due: 0,
            outcome: None,
        };
        let line = self.line(host, base);
        // No job may begin before its folders are known.
        let _order = line.order.lock().await;
        check_open(host, &line, session)?;
        record.id = made(session).await?.add_job(record.clone(), files).await.map_err(failed)?;
        if work.kind == JobKind::Watch {
            line.folders(|folders| folders.insert(record.id, work.paths));
        }
        let job = Job::of(base, &record);
        self.follow(&job);
        line.wake.notify_one();
        Ok(job)
    }

    /// Accepts the bill of an offered job, or begins a job again that was set aside or did not
    /// finish.
    pub(crate) async fn accept(
        &self,
        host: &Arc<dyn Host>,
        key: Option<&Key>,
        base: &str,
        session: &Session,
        id: u64,
    ) -> Result<Job, Problem> {
        let line = self.line(host, base);
        let _order = line.order.lock().await;
        check_open(host, &line, session)?;
        let store = made(session).await?;
        let found = store.jobs(JobQuery::One(id)).await.map_err(failed)?.pop();
        let Some(mut record) = found else { return Err(no_job(id)) };
        if matches!(record.state, JobState::Waiting | JobState::Running | JobState::Done) {
            return Err(Problem::new(409, "not-offered", Fault::Caller)
                .saying(format!(
                    "job {id} is {}: it needs no approval to begin",
                    record.state.as_str()
                ))
                .hint("GET …/jobs lists those that are `offered`, `set_aside`, `incomplete` or `failed`"));
        }
        record.key = key.map(|key| key.id.clone());
        record.cap_usd = key.and_then(|key| key.params.cap_usd);
        record.setup = setup(session);
        if record.kind == JobKind::Watch {
            // The server that began it may have ended. Without its folders, a scan reads nothing.
            let is_of_now = line.folders(|folders| folders.contains_key(&id));
            record.worker = is_of_now.then(|| self.worker.clone());
        }
        (record.state, record.reason) = (JobState::Waiting, None);
        (record.attempts, record.due, record.ended) = (0, 0, None);
        if shares_jobs(session) {
            // Parts add to the outcome.
            record.outcome = None;
        }
        let files = store.job_files(id).await.map_err(failed)?;
        let files = files.into_iter().map(|file| file.file).collect();
        let mark = FileMark::PutBack;
        store.mark_job_files(id, files, mark).await.map_err(failed)?;
        match store.put_job(record.clone()).await {
            Ok(_) => self.publish(base, &record),
            Err(StoreError::LeaseLost { .. }) => return Err(still_ending(id)),
            Err(error) => return Err(failed(error)),
        }
        line.wake.notify_one();
        Ok(Job::of(base, &record))
    }

    /// The latest jobs of a base and all that are not over, newest first.
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

    /// The number of a base's jobs that wait or run.
    pub(crate) fn waiting(&self, base: &str) -> usize {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let of_base = live.iter().filter(|((of, _), _)| of == base);
        let waits = |job: &Job| matches!(job.state, JobState::Waiting | JobState::Running);
        of_base.filter(|(_, job)| waits(&job.borrow())).count()
    }

    /// The files that unfinished jobs read or will read, each with the state of its job.
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

    /// Removes files from all unfinished jobs of a base, and waits until none works on them. No job
    /// begins while the returned guard is held.
    ///
    /// `everywhere`: whether any job may hold their text, not only the jobs that read them.
    pub(crate) async fn withdraw(
        &self,
        host: &Arc<dyn Host>,
        base: &str,
        session: &Session,
        files: &[String],
        everywhere: bool,
    ) -> Result<HeldJobs, Problem> {
        let line = self.line(host, base);
        let order = line.order.lock().await;
        check_open(host, &line, session)?;
        let mut held = HeldJobs::new(host, &line);
        if let Some(store) = there(session).await? {
            let stopped = if everywhere { StopLeases::All } else { StopLeases::Readers };
            let holder = Taking { holds: LONGEST_HOLD, ..self.taking(session) };
            let lease = store.stop_jobs(files.to_vec(), stopped, holder).await.map_err(failed)?;
            held.hold = lease.map(|lease| (store, lease));
        }
        // Before the order is released: otherwise the job could begin again first.
        if line.stop_those_at(files, everywhere) {
            held.gate = Some(Arc::clone(&line.gate).write_owned().await);
        }
        drop(order);
        Ok(held)
    }

    /// One job, with its later states.
    pub(crate) async fn watch(
        &self,
        host: &Arc<dyn Host>,
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
        let job = Job::of(base, &found.ok_or_else(|| no_job(id))?);
        if shares_jobs(session) && !job.is_over() {
            // Another server added it a moment ago. The queue shows its later states.
            self.go_on(host, base);
            self.follow(&job);
            if let Some(live) = live() {
                return Ok(live);
            }
        }
        Ok(watch::channel(job).1)
    }

    /// Resumes the jobs that were accepted before the server ended.
    pub(crate) fn go_on(&self, host: &Arc<dyn Host>, base: &str) {
        self.line(host, base);
    }

    /// Waits until stopped jobs have recorded their progress.
    pub(crate) async fn ended(&self) {
        let running =
            std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        for task in running {
            // A job that panicked has nothing left to record.
            let _ = task.await;
        }
    }

    fn line(&self, host: &Arc<dyn Host>, base: &str) -> Arc<Line> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let line = Arc::new(Line::new(base));
            // On the server's own runtime: connections to models that a job opens are used by later
            // jobs.
            let running = host.runtime().spawn(queue::run(Arc::clone(host), Arc::clone(&line)));
            let mut tasks = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            tasks.retain(|task| !task.is_finished());
            tasks.push(running);
            line
        };
        Arc::clone(lines.entry(base.to_owned()).or_insert_with(new))
    }
}

/// The job store of a base; the base is created if there is none.
async fn made(session: &Session) -> Result<Arc<dyn JobStore>, Problem> {
    let store = pikerag_engine::jobs(session, CreateBase::Yes).await?;
    store.ok_or_else(|| {
        Problem::new(503, "no-base", Fault::Server)
            .saying("the base was not created")
            .hint("try again in a moment")
    })
}

/// The job store of a base; `None` if there is no base.
async fn there(session: &Session) -> Result<Option<Arc<dyn JobStore>>, Problem> {
    Ok(pikerag_engine::jobs(session, CreateBase::No).await?)
}

fn failed(error: StoreError) -> Problem {
    EngineError::from(error).into()
}

/// Refuses work in a queue that is closed, or whose name another base has now: the base got another
/// name after the request began. Hold the order of the queue until the work is in it.
fn check_open(host: &Arc<dyn Host>, line: &Line, session: &Session) -> Result<(), Problem> {
    let current = host.owner_of(&line.base);
    let is_same = current.is_some_and(|current| current.folder() == session.folder());
    match is_same && !line.closed.is_cancelled() {
        true => Ok(()),
        false => Err(Problem::new(404, "no-such-base", Fault::Caller)
            .saying(format!("there is no base `{}`", line.base))
            .in_chinese(format!("没有知识库 `{}`", line.base))),
    }
}

/// A job has failed, and other workers have not ended their parts of it.
fn still_ending(id: u64) -> Problem {
    Problem::new(409, "not-offered", Fault::Caller)
        .saying(format!("workers still end the earlier attempt of job {id}"))
        .in_chinese(format!("工作进程尚未结束任务 {id} 的上一次运行"))
        .hint("try again in a moment")
}

fn no_job(id: u64) -> Problem {
    Problem::new(404, "no-such-job", Fault::Caller).saying(format!("there is no job `{id}`"))
}

/// Milliseconds since 1970.
fn now() -> Millis {
    pikerag_engine::keys::now()
}

#[cfg(test)]
mod tests {
    use pikerag_engine::settings::Settings;
    use tokio::runtime::Handle;
    use tokio_util::sync::CancellationToken;

    use super::*;

    /// A server with one base.
    struct OneBase {
        jobs: Jobs,
        stopping: CancellationToken,
        runtime: Handle,
        name: Mutex<&'static str>,
        session: Session,
    }

    impl Host for OneBase {
        fn jobs(&self) -> &Jobs {
            &self.jobs
        }

        fn stopping(&self) -> &CancellationToken {
            &self.stopping
        }

        fn runtime(&self) -> &Handle {
            &self.runtime
        }

        fn runs_jobs(&self, _: &str) -> bool {
            true
        }

        fn begun(&self, _: &str, _: &JobRecord, _: usize) {}

        fn owner_of(&self, base: &str) -> Option<Session> {
            (*self.name.lock().unwrap() == base).then(|| self.session.clone())
        }

        fn session_of(&self, base: &str, _: Option<&str>) -> Result<Option<Session>, Problem> {
            Ok(self.owner_of(base))
        }

        fn hold(&self, _: &str, session: Session) -> Result<Session, Problem> {
            Ok(session)
        }

        fn attempted(&self, _: &str, _: &JobRecord) {}

        fn offered(&self, _: &JobOffer) {}
    }

    /// A request that began under the old name must not use a second queue of the same base.
    #[tokio::test]
    async fn a_base_has_no_queue_under_its_old_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::defaults().unwrap();
        settings.base = folder.path().join("base");
        let session = pikerag_engine::open(settings).unwrap().session();
        let own = Arc::new(OneBase {
            jobs: Jobs::default(),
            stopping: CancellationToken::new(),
            runtime: Handle::current(),
            name: Mutex::new("law"),
            session: session.clone(),
        });
        let host: Arc<dyn Host> = Arc::<OneBase>::clone(&own);
        let held = own.jobs.line(&host, "law");
        // A deletion of files is under way.
        let gate = Arc::clone(&held.gate).write_owned().await;
        assert!(!own.jobs.close_idle("law").await);
        drop(gate);
        assert!(own.jobs.close_idle("law").await);
        *own.name.lock().unwrap() = "statutes";
        let (files, refused) = (["a.md".to_owned()], Some("no-such-base".to_owned()));
        let old = own.jobs.withdraw(&host, "law", &session, &files, true).await;
        assert_eq!(old.err().map(|problem| problem.code().to_owned()), refused);
        let begun = own.jobs.begin(&host, None, "law", &session, Work::files(Vec::new())).await;
        assert_eq!(begun.err().map(|problem| problem.code().to_owned()), refused);
        assert!(own.jobs.withdraw(&host, "statutes", &session, &files, true).await.is_ok());
        own.stopping.cancel();
        own.jobs.ended().await;
    }
}
