//! Declares the services that jobs need from the server.

use pikerag_engine::Session;
use pikerag_engine::knowledge::{JobBill, JobRecord};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::Jobs;
use crate::problem::Problem;

/// A job that waits for approval.
#[derive(Clone, Debug)]
pub struct JobOffer {
    /// The base that it works for.
    pub base: String,
    /// Its number: `POST …/jobs/{id}/begin` accepts it.
    pub id: u64,
    /// The calls and the cost that it needs.
    pub bill: JobBill,
}

/// The server, as its jobs see it.
pub(crate) trait Host: Send + Sync {
    /// All jobs of the server.
    fn jobs(&self) -> &Jobs;

    /// Signals that the server is stopping.
    fn stopping(&self) -> &CancellationToken;

    /// The server's own runtime: connections to models that a job opens are used by later jobs.
    fn runtime(&self) -> &Handle;

    /// Whether this process runs the jobs of a base; otherwise workers do.
    fn runs_jobs(&self, base: &str) -> bool;

    /// A base for the server itself.
    fn owner_of(&self, base: &str) -> Option<Session>;

    /// A base for the key that requested a job, or for the server if no key did; `None` if the key
    /// is gone, or may not change the base any more.
    fn session_of(&self, base: &str, key: Option<&str>) -> Result<Option<Session>, Problem>;

    /// The session of a base, while which exists no other server deletes the base.
    fn hold(&self, base: &str, session: Session) -> Result<Session, Problem>;

    /// Reports that a part of a job begins, with the number of its files.
    fn begun(&self, base: &str, job: &JobRecord, files: usize);

    /// Records the cost of an attempt, and counts a job that is over.
    fn attempted(&self, base: &str, job: &JobRecord);

    /// Reports a job that waits for approval to the terminal.
    fn offered(&self, offer: &JobOffer);
}
