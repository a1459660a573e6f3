//! Declares the port to the jobs of a base: what is to be done for it, who asked for it, and how far it is.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::error::StoreError;
use crate::time::Millis;

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Indexes the files that it names.
    Index,
    /// Indexes what changed in watched folders.
    Watch,
    /// Does what the whole base still lacks.
    Complete,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It was accepted and has not begun, or begins again when it is due.
    Waiting,
    /// It is at work; or its process ended amid the work.
    Running,
    /// Nobody has accepted it: it begins when somebody does.
    Offered,
    /// Its process ended three times amid its work: it begins again by hand alone.
    SetAside,
    /// All of it is done.
    Done,
    /// It ended with files or calls that failed; what is done is kept.
    Incomplete,
    /// It came to nothing.
    Failed,
}

impl JobState {
    /// Every state, in the order of a job's life.
    pub const ALL: [Self; 7] = [
        Self::Waiting,
        Self::Running,
        Self::Offered,
        Self::SetAside,
        Self::Done,
        Self::Incomplete,
        Self::Failed,
    ];

    /// Its name in the base and in responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Offered => "offered",
            Self::SetAside => "set_aside",
            Self::Done => "done",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
        }
    }

    /// Whether nothing more comes of it.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Incomplete | Self::Failed)
    }
}

/// What a job may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobBill {
    /// Calls to chat models.
    pub calls: u64,
    /// Tokens of their prompts and replies.
    pub tokens: u64,
    /// US dollars, where the prices are known.
    #[schema(required)]
    pub usd: Option<f64>,
    /// Texts to embed at a paid endpoint.
    pub texts: u64,
}

impl JobBill {
    /// Whether any of it is paid for.
    pub fn is_free(&self) -> bool {
        self.calls == 0 && self.texts == 0
    }
}

/// A job, without its files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Its number; 0 until it is added.
    pub id: u64,
    /// What it does.
    pub kind: JobKind,
    /// How far it is.
    pub state: JobState,
    /// The identifier of the key that asked for it; `None` where no key was needed.
    pub key: Option<String>,
    /// What that key may spend over all its life, in US dollars.
    pub cap_usd: Option<f64>,
    /// Hash of the models and settings under which it was accepted: under others it is offered again.
    pub setup: String,
    /// The bill that was accepted for it, or is offered.
    pub bill: Option<JobBill>,
    /// Whether it asks again what models refused before.
    pub retry_refused: bool,
    /// How often it was begun.
    pub attempts: u32,
    /// Why the last attempt failed.
    pub reason: Option<String>,
    /// When it was asked for.
    pub added: Millis,
    /// When it was last begun.
    pub started: Option<Millis>,
    /// When it was over.
    pub ended: Option<Millis>,
    /// It does not begin before this time.
    pub due: Millis,
    /// What came of it, as its caller is told.
    #[serde(skip)]
    pub outcome: Option<serde_json::Value>,
}

/// A file that a job reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    /// As the base calls it.
    pub file: String,
    /// How often its reading was begun and did not end.
    pub attempts: u32,
    /// Whether the job has done with it.
    pub is_done: bool,
}

/// Which jobs are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobQuery {
    /// The latest first, at most N.
    Latest(usize),
    /// Those that are not over, the oldest first.
    Unfinished,
    /// The one of this number.
    One(u64),
    /// Of those that wait, the first that is due at this time; else the one that is due next.
    Next(Millis),
}

/// What happened to files of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMark {
    /// Their reading begins: one attempt more.
    Begun,
    /// They are read once more, and attempts count from 0: the job was stopped on purpose, or is begun by hand.
    PutBack,
    /// The job has done with them.
    Done,
}

/// The jobs of a base. Each call is one transaction.
///
/// # Errors
/// The base cannot be read or written.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// Adds a job with the files that it reads; its number, above all numbers before.
    async fn add_job(&self, job: JobRecord, files: Vec<String>) -> Result<u64, StoreError>;

    /// Keeps what changed of a job; whether there is one of its number.
    async fn put_job(&self, job: JobRecord) -> Result<bool, StoreError>;

    /// Jobs without their files.
    async fn jobs(&self, query: JobQuery) -> Result<Vec<JobRecord>, StoreError>;

    /// The files of a job, by name.
    async fn job_files(&self, job: u64) -> Result<Vec<JobFile>, StoreError>;

    /// Marks files of a job.
    async fn mark_job_files(
        &self,
        job: u64,
        files: Vec<String>,
        mark: FileMark,
    ) -> Result<(), StoreError>;

    /// Takes files out of one job, or of all that are not over: none of those brings them back.
    async fn withdraw_files(&self, job: Option<u64>, files: Vec<String>) -> Result<(), StoreError>;

    /// The files of all jobs that are not over, each with the state of its job, by job and name.
    async fn files_to_read(&self) -> Result<Vec<(String, JobState)>, StoreError>;

    /// Drops jobs that are over, all but the `keep` latest jobs; how many went.
    async fn prune_jobs(&self, keep: usize) -> Result<usize, StoreError>;
}
