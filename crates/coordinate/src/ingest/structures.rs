//! When is a structure over all documents built anew, and when is it whole?

use pikerag_knowledge::id::content_id;
use pikerag_knowledge::{Role, StoreError, Structure};

use super::run;
use crate::indexing::outcome::Report;
use crate::indexing::stage::{Job, Part};

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

/// What a structure is built from: while that stays the same, there is nothing to do.
pub(super) async fn stamp(job: &Job<'_>, structure: Structure) -> Result<String, StoreError> {
    let generation = job.base().generation().await?;
    let has = |role, none| if job.plan.has(role) { "model" } else { none };
    let maker = match structure {
        Structure::Graph => {
            format!("{} {}", has(Role::Extract, "names"), has(Role::Summarize, "names"))
        }
        Structure::Tree => {
            let embedder = job.tools.embedder.as_ref();
            embedder.map_or_else(String::new, |embedder| embedder.name().to_owned())
        }
        Structure::Tags => {
            let mut ids: Vec<u64> =
                job.base().tag_classes().await?.iter().map(|class| class.id.0).collect();
            ids.extend(job.plan.params.tags.classes.iter().map(|class| class.id.0));
            let bytes: Vec<u8> = ids.into_iter().flat_map(u64::to_le_bytes).collect();
            format!("{} {:016x}", has(Role::Tag, "none"), content_id("classes", &[&bytes]))
        }
    };
    Ok(format!("{generation} {maker}"))
}
