//! Builds a structure over all documents and reports whether it is complete.

use pikerag_knowledge::{StoreError, Structure};

use super::run;
use crate::outcome::Report;
use crate::stage::{Job, Part};

/// Updates a structure to the current chunks; returns whether it is complete.
pub(super) async fn build(
    job: &Job<'_>,
    structure: Structure,
    report: &mut Report,
) -> Result<bool, StoreError> {
    let failures = report.failures;
    let flow = run(job, Part::Structure(structure), report).await?;
    if let Some(missing) = job.plan.missing_part(structure) {
        match job.plan.params.with.contains(&structure) {
            true => report.missing.push(missing),
            // An earlier run requested and built it.
            false => report.stale.push(missing),
        }
        return Ok(false);
    }
    Ok(flow.is_continue() && report.stopped.is_none() && report.failures == failures)
}
