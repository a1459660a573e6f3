//! Declares the port to the jobs of a base: their work, their owners, their workers and their
//! progress.

mod leases;

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::leases::{
    ChangeJob, DueJob, HeldLeases, JobPart, Lease, LeaseAfter, PartsLeft, Share, StopLeases,
    TakenJob, Taking, files_of_part, next_part, put_back,
};
use super::error::StoreError;
use crate::time::Millis;

/// The work of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Indexes the files that it names.
    Index,
    /// Indexes what changed in watched folders.
    Watch,
    /// Completes the missing parts of the whole base.
    Complete,
}

/// The order in which the jobs of a base are taken.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum JobPriority {
    /// A few files, whose sender waits for them.
    Soon,
    /// Files.
    #[default]
    Usual,
    /// Work over the whole base, after all files.
    Last,
}

impl JobPriority {
    /// Its place in the order.
    pub fn rank(self) -> u8 {
        match self {
            Self::Soon => 0,
            Self::Usual => 1,
            Self::Last => 2,
        }
    }
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It was accepted and has not begun, or begins again when it is due.
    Waiting,
    /// It is running; or its process ended during the work.
    Running,
    /// It waits until somebody accepts its bill.
    Offered,
    /// Its process ended three times during its work: it begins again only by hand.
    SetAside,
    /// All of it is done.
    Done,
    /// It ended with files or calls that failed; what is done is kept.
    Incomplete,
    /// It had no result.
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

    /// Whether it runs, or will run without anybody's approval.
    pub fn is_accepted(self) -> bool {
        matches!(self, Self::Waiting | Self::Running)
    }

    /// Whether it has ended.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Incomplete | Self::Failed)
    }
}

/// The calls and the cost that a job may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobBill {
    /// Calls to chat models.
    pub calls: u64,
    /// Tokens of their prompts and replies.
    pub tokens: u64,
    /// US dollars, if the prices are known.
    #[schema(required)]
    pub usd: Option<f64>,
    /// Texts to embed at a paid endpoint.
    pub texts: u64,
}

impl JobBill {
    /// Whether none of it costs money.
    pub fn is_free(&self) -> bool {
        self.calls == 0 && self.texts == 0
    }
}

/// A job, without its files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Its number; 0 until it is added.
    pub id: u64,
    /// The kind of work.
    pub kind: JobKind,
    /// Its state.
    pub state: JobState,
    /// Its place among the jobs of the base.
    #[serde(default)]
    pub priority: JobPriority,
    /// The only worker that may take it, because others do not have what it needs; `None` for any.
    #[serde(default)]
    pub worker: Option<String>,
    /// The identifier of the key that requested it; `None` if no key was needed.
    pub key: Option<String>,
    /// What that key may spend over its whole life, in US dollars.
    pub cap_usd: Option<f64>,
    /// Hash of the models and settings at acceptance: under others it is offered again.
    pub setup: String,
    /// The accepted or offered bill.
    pub bill: Option<JobBill>,
    /// Whether it asks models again about passages that they refused before.
    pub retry_refused: bool,
    /// The number of attempts.
    pub attempts: u32,
    /// Why the last attempt failed.
    pub reason: Option<String>,
    /// When it was requested.
    pub added: Millis,
    /// When the last attempt began.
    pub started: Option<Millis>,
    /// When it ended.
    pub ended: Option<Millis>,
    /// It does not begin before this time.
    pub due: Millis,
    /// The result, as it is shown to the caller.
    #[serde(skip)]
    pub outcome: Option<serde_json::Value>,
}

/// A file that a job reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    /// The base's name for it.
    pub file: String,
    /// The number of attempts to read it that did not end.
    pub attempts: u32,
    /// Whether the job has finished it.
    pub is_done: bool,
}

/// The jobs to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobQuery {
    /// The latest first, at most N.
    Latest(usize),
    /// Those that have not ended, the oldest first.
    Unfinished,
    /// The job with this number.
    One(u64),
    /// The first waiting job that is due at this time; else the one that is due next.
    Next(Millis),
}

/// The progress of files of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMark {
    /// Their reading begins: one more attempt.
    Begun,
    /// They will be read again, and attempts restart at 0: the job was stopped on purpose, or is
    /// begun by hand.
    PutBack,
    /// The job has finished them.
    Done,
}

/// The jobs of a base. Each call is one transaction.
///
/// A worker takes a part of a job, and changes the job with its lease only. Times are those of
/// [`Jobs::clock`].
///
/// # Errors
/// The base cannot be read or written. [`StoreError::LeaseLost`] if the part of a job was stopped, or
/// another worker has taken it.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
pub trait Jobs: Send + Sync {
    /// Adds a job with the files that it reads; returns its number, which is above all earlier
    /// ones.
    async fn add_job(&self, job: JobRecord, files: Vec<String>) -> Result<u64, StoreError>;

    /// Stores the changes of a job that no worker has taken. Returns whether the job exists.
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

    /// Removes files from one job, or from all that have not ended: none of those reads them
    /// afterwards.
    async fn withdraw_files(&self, job: Option<u64>, files: Vec<String>) -> Result<(), StoreError>;

    /// The files of all jobs that have not ended, each with the state of its job, by job and name.
    async fn files_to_read(&self) -> Result<Vec<(String, JobState)>, StoreError>;

    /// Drops ended jobs, except among the `keep` latest jobs. Returns the number of dropped ones.
    async fn prune_jobs(&self, keep: usize) -> Result<usize, StoreError>;

    /// Takes a part whose lease ran out, or else the next part by [`next_part`]; `None` if nothing
    /// can be taken now. The state of the job does not change.
    async fn take_job(&self, taking: Taking) -> Result<Option<TakenJob>, StoreError>;

    /// Lets a lease run out after this time.
    async fn renew_lease(&self, lease: Lease, holds: Duration) -> Result<(), StoreError>;

    /// Marks files of a taken part, lets `change` change the job, and returns the job.
    async fn change_job(
        &self,
        lease: Lease,
        marks: (Vec<String>, FileMark),
        after: LeaseAfter,
        change: ChangeJob,
    ) -> Result<JobRecord, StoreError>;

    /// Removes files from all jobs that have not ended, and stops leases; their other files can be
    /// taken again. If a lease was stopped, no part is taken until the returned lease is released or
    /// runs out. A write under a stopped lease has happened before, or fails.
    async fn stop_jobs(
        &self,
        files: Vec<String>,
        stopped: StopLeases,
        holder: Taking,
    ) -> Result<Option<Lease>, StoreError>;

    /// Ends a lease; does nothing if it has ended. Unfinished files of its part can be taken again.
    async fn release_lease(&self, lease: Lease) -> Result<(), StoreError>;

    /// The time by the clock of the store, in milliseconds since 1970.
    async fn clock(&self) -> Result<Millis, StoreError>;
}
