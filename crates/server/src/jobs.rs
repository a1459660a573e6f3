//! What is being indexed? One job after the other for each base, on a thread of its own; everybody may look how far it has come.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use pikerag_engine::knowledge::error_chain;
use pikerag_engine::knowledge::telemetry::TRACED;
use pikerag_engine::parts::{Estimate, Outcome};
use pikerag_engine::{IndexRequest, IndexResponse, Progress, Session};
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info_span, warn};
use utoipa::ToSchema;

use crate::problem::{Fault, Problem};

/// Jobs that are remembered, the oldest forgotten first.
const REMEMBERED: usize = 500;

/// How far a job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stand {
    /// Others are before it.
    Waiting,
    /// It is at work.
    Running,
    /// All of it is done.
    Done,
    /// It ended with files or calls that failed; what is done is kept.
    Incomplete,
    /// It did not come to an end.
    Failed,
}

/// A job of indexing.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Job {
    /// Names it.
    id: u64,
    /// The base that it works for.
    base: String,
    /// How far it has come.
    stand: Stand,
    /// What it is at: `reading`, `vectors`, …
    stage: String,
    /// Pieces of that which are done.
    done: usize,
    /// Pieces of it in all; 0 where that is not known.
    total: usize,
    /// What the calls of models will take, once that is known.
    #[schema(required)]
    bill: Option<Bill>,
    /// Files that failed, each with its reason.
    failed: Vec<FailedFile>,
    /// What came of it.
    #[schema(required)]
    report: Option<IndexResponse>,
    /// Why it did not come to an end.
    #[schema(required)]
    problem: Option<Problem>,
    /// What it reads: files, and folders with all below them.
    #[serde(skip)]
    paths: Vec<PathBuf>,
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
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    pub(crate) fn stand(&self) -> &'static str {
        match self.stand {
            Stand::Waiting => "waiting",
            Stand::Running => "running",
            Stand::Done => "done",
            Stand::Incomplete => "incomplete",
            Stand::Failed => "failed",
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.stand, Stand::Done | Stand::Incomplete | Stand::Failed)
    }
}

/// What is to be indexed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) prune: bool,
    pub(crate) retry_refused: bool,
}

struct Queued {
    stopping: CancellationToken,
    ended: Ended,
    session: Session,
    work: Work,
    job: watch::Sender<Job>,
}

/// Hears that a job is over: what it cost is booked.
pub(crate) type Ended = Box<dyn FnOnce(&Job) + Send + Sync>;

/// All jobs of the server.
pub(crate) struct Jobs {
    stopping: CancellationToken,
    /// The server's own: connections to models that a job opens serve others after it.
    runtime: Handle,
    next: AtomicU64,
    all: Mutex<VecDeque<watch::Receiver<Job>>>,
    queues: Mutex<HashMap<String, UnboundedSender<Queued>>>,
}

impl Jobs {
    /// None yet; those that are begun end when the server is told to stop.
    pub(crate) fn new(stopping: CancellationToken, runtime: Handle) -> Self {
        Self {
            stopping,
            runtime,
            next: AtomicU64::default(),
            all: Mutex::default(),
            queues: Mutex::default(),
        }
    }

    /// Puts a job behind those of its base.
    pub(crate) fn begin(
        &self,
        base: &str,
        session: Session,
        work: Work,
        ended: Ended,
    ) -> Result<Job, Problem> {
        let job = Job {
            id: self.next.fetch_add(1, Ordering::Relaxed) + 1,
            base: base.to_owned(),
            stand: Stand::Waiting,
            stage: String::new(),
            done: 0,
            total: 0,
            bill: None,
            failed: Vec::new(),
            paths: work.paths.iter().map(|path| real(path)).collect(),
            report: None,
            problem: None,
        };
        let (sender, receiver) = watch::channel(job.clone());
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back(receiver);
        while REMEMBERED < all.len() {
            all.pop_front();
        }
        drop(all);
        let stopping = self.stopping.clone();
        let queued = Queued { stopping, ended, session, work, job: sender };
        let mut by_base = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = match by_base.get(base) {
            Some(queue) => queue.clone(),
            None => {
                let (sender, receiver) = unbounded_channel();
                self.runtime.spawn(run_queue(receiver));
                by_base.insert(base.to_owned(), sender.clone());
                sender
            }
        };
        queue.send(queued).map(|()| job).map_err(|_| no_queue())
    }

    /// The latest jobs of a base, the latest first.
    pub(crate) fn of(&self, base: &str) -> Vec<Job> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let jobs = all.iter().rev().map(|job| job.borrow().clone());
        jobs.filter(|job| job.base == base).collect()
    }

    /// How many of a base's jobs are not over.
    pub(crate) fn waiting(&self, base: &str) -> usize {
        self.of(base).iter().filter(|job| !job.is_over()).count()
    }

    /// What jobs that are not over read, or will: files, and folders with all below them.
    pub(crate) fn to_read(&self, base: &str) -> Vec<PathBuf> {
        let under_way = self.of(base).into_iter().filter(|job| !job.is_over());
        under_way.flat_map(|job| job.paths).collect()
    }

    /// One job, to look at while it goes on.
    pub(crate) fn watch(&self, base: &str, id: u64) -> Option<watch::Receiver<Job>> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter()
            .find(|job| {
                let job = job.borrow();
                job.id == id && job.base == base
            })
            .cloned()
    }
}

fn no_queue() -> Problem {
    Problem::new(503, "no-thread", Fault::Server).saying("the server takes no more work")
}

/// Runs the jobs of a base, one after the other.
async fn run_queue(mut queue: UnboundedReceiver<Queued>) {
    while let Some(queued) = queue.recv().await {
        if queued.stopping.is_cancelled() {
            // It is done when the server comes up again.
            continue;
        }
        let id = queued.job.borrow().id;
        let name = format!("index {}", queued.job.borrow().base);
        let span =
            info_span!(target: TRACED, "job", otel.name = name, pikerag.job.id = id.cast_signed());
        index(&queued).instrument(span).await;
        let job = queued.job.borrow().clone();
        (queued.ended)(&job);
    }
}

async fn index(Queued { session, work, job, stopping, .. }: &Queued) {
    job.send_modify(|job| job.stand = Stand::Running);
    let told = |progress: Progress| match progress {
        Progress::Stage { name, done, total } => job.send_modify(|job| {
            job.stage = name;
            (job.done, job.total) = (done, total);
        }),
        Progress::Bill { estimate, usd } => {
            job.send_modify(|job| job.bill = Some(Bill { estimate, usd }));
        }
        _ => {}
    };
    let request = IndexRequest {
        paths: work.paths.clone(),
        prune: work.prune,
        retry_refused: work.retry_refused,
        with: Vec::new(),
        without: Vec::new(),
        chunking: None,
        progress: &told,
    };
    let came = tokio::select! {
        came = pikerag_engine::index(session, &request) => Some(came),
        // What is done is kept, and the rest when the server comes up again.
        () = stopping.cancelled() => None,
    };
    let failed = match &came {
        Some(Ok(response)) => failed_of(session, response).await,
        _ => Vec::new(),
    };
    job.send_modify(|job| match came {
        Some(Ok(response)) => {
            let is_whole = response.report.is_whole();
            job.stand = if is_whole { Stand::Done } else { Stand::Incomplete };
            job.failed = failed;
            job.report = Some(response);
        }
        Some(Err(error)) => {
            job.stand = Stand::Failed;
            job.problem = Some(Problem::from(error));
        }
        None => {
            job.stand = Stand::Failed;
            job.problem = Some(Problem::new(503, "stopping", Fault::Server));
        }
    });
}

/// Without links on the way, as files that were sent are listed.
fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The files that failed, those that were sent with the names that they were sent by.
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
        warn!(error = error_chain(&error), "what was sent is not told");
        vec![None; names.len()]
    });
    let told = failed.into_iter().zip(sent).map(|((file, reason), sent_as)| FailedFile {
        sent_as,
        file: file.clone(),
        reason: reason.to_string(),
    });
    told.collect()
}
