//! Declares what jobs need of the server around them.

use pikerag_engine::Session;
use pikerag_engine::knowledge::{JobBill, JobRecord};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::Jobs;
use crate::problem::Problem;

/// A job that waits to be accepted.
#[derive(Clone, Debug)]
pub struct JobOffer {
    /// The base that it works for.
    pub base: String,
    /// Names it: `POST …/jobs/{id}/begin` accepts it.
    pub id: u64,
    /// What it takes.
    pub bill: JobBill,
}

/// The server, as its jobs see it.
pub(crate) trait Host: Send + Sync {
    /// The jobs themselves.
    fn jobs(&self) -> &Jobs;

    /// Says that the server ends.
    fn stopping(&self) -> &CancellationToken;

    /// The server's own: connections to models that a job opens serve others after it.
    fn runtime(&self) -> &Handle;

    /// A base for the server itself.
    fn owner_of(&self, base: &str) -> Option<Session>;

    /// A base for the key that asked for a job, or for nobody's; `None` where the key is gone, or may not change the base any
    /// more.
    fn session_of(&self, base: &str, key: Option<&str>) -> Result<Option<Session>, Problem>;

    /// Books what an attempt cost, and counts a job that is over.
    fn attempted(&self, base: &str, job: &JobRecord);

    /// Tells the terminal of a job that waits to be accepted.
    fn offered(&self, offer: &JobOffer);
}
