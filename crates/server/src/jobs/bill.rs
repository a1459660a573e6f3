//! Checks that the accepted bill of a job is still valid.

use pikerag_engine::knowledge::{JobBill, JobKind, JobRecord};
use pikerag_engine::settings::FileChoice;
use pikerag_engine::{EstimateRequest, Session, estimate, job_places, setup};

use crate::problem::Problem;

/// Why an accepted job is offered again with its current bill; `None` if it may begin.
pub(super) async fn refused(
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
