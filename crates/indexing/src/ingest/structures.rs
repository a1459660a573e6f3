//! When is a structure over all documents built anew, and when is it whole?

use pikerag_knowledge::{StoreError, Structure};

use super::run;
use crate::outcome::Report;
use crate::stage::{Job, Part};

/// Brings a structure up to the chunks; whether it is whole now.
pub(super) async fn build(
    job: &Job<'_>,
    structure: Structure,
    report: &mut Report,
) -> Result<bool, StoreError> {
    let failures = report.failures;
    let ran = run(job, Part::Structure(structure), report).await?;
    if let Some(lacking) = job.plan.lacking(structure) {
        match job.plan.params.with.contains(&structure) {
            true => report.lacking.push(lacking),
            // Asked for by an earlier run, which had it.
            false => report.stale.push(lacking),
        }
        return Ok(false);
    }
    Ok(ran.is_continue() && report.stopped.is_none() && report.failures == failures)
}
