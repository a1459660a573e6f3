//! How do files become a knowledge base? They are read, then the stages of the table run (`indexing`); each
//! resumes where it was left, and no paid step is done twice.

mod learn;
mod moved;
mod reading;
mod structures;

pub use self::learn::{Learned, Sample, keyed_pair, learn};

use std::ops::ControlFlow;

use futures::future::join;
use pikerag_knowledge::{
    DeclaredSchema, Embedder, Kept, RecordSchema, StoreError, StructureChange, Wanted,
};

use crate::estimate::left_to_do;
use crate::outcome::{Progress, Report};
use crate::params::Params;
use crate::plan::Plan;
use crate::stage::{Job, Part};
use crate::stamp::stamp;
use crate::table::running;
use crate::tools::{Tools, Watch};
use crate::{embed, fresh};

/// Indexes files: all that is new or changed ([`read_files`]), then all that an earlier run left undone ([`build`]).
///
/// # Errors
/// The base cannot be written.
///
/// # Cancel safety
/// Dropping the future loses at most the calls in flight.
pub async fn ingest(
    tools: &Tools,
    files: &[String],
    params: &Params,
    watch: Watch<'_>,
) -> Result<Report, StoreError> {
    let report = read_files(tools, files, params, watch).await?;
    build(tools, params, watch, report).await
}

/// Brings all files that are new or changed into the base, as chunks. No embedder is needed for that.
///
/// A file that fails is named in the report, and the rest go on. A budget that is spent, or a model
/// that refuses, ends the run early; what is done stays.
///
/// # Errors
/// The base cannot be written.
///
/// # Cancel safety
/// Dropping the future loses at most the calls in flight.
pub async fn read_files(
    tools: &Tools,
    files: &[String],
    params: &Params,
    watch: Watch<'_>,
) -> Result<Report, StoreError> {
    let mut report = Report::default();
    let available = tools.available();
    let plan = Plan { params, available: &available, wanted: Vec::new() };
    reading::read_all(tools, files, &plan, watch, &mut report).await?;
    moved::follow(tools, params, &mut report).await?;
    Ok(report)
}

/// Makes all that chunks still wait for, those of this run and of earlier ones, and adds to what reading reported. On a base
/// of which some files alone are pending, structures over all documents stay as they are.
///
/// A piece that fails is named in the report, and the rest go on. A budget that is spent, or a model
/// that refuses, ends the run early; what is done stays.
///
/// # Errors
/// The base cannot be written.
///
/// # Cancel safety
/// Dropping the future loses at most the calls in flight.
pub async fn build(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    mut report: Report,
) -> Result<Report, StoreError> {
    let available = tools.available();
    for structure in &params.without {
        tools.base.change_structure(*structure, StructureChange::Unwanted).await?;
    }
    let known = tools.base.structures().await?;
    for structure in params.with.iter().filter(|structure| !params.without.contains(structure)) {
        tools.base.change_structure(*structure, StructureChange::Wanted).await?;
    }
    let structures = tools.base.structures().await?;
    let wanted = structures.iter().map(|wanted| wanted.structure).collect();
    let plan = Plan { params, available: &available, wanted };
    if report.stopped.is_none() && running(&plan).iter().any(|(row, _)| row.role.is_some()) {
        watch(Progress::Bill(left_to_do(tools.base.as_ref(), &plan).await?));
    }
    let job = Job { tools, plan: &plan, watch, fresh: None };
    let _ = run(&job, Part::Descriptions, &mut report).await?;
    // Vectors are made while the model is at work: what waits for the one seldom waits for the other.
    let (offer, texts) = fresh::channel();
    let offering = Job { fresh: Some(offer), ..job };
    let atomizing = atomize(offering, &mut report);
    let (atomized, followed) = join(atomizing, embed::follow(&job, texts)).await;
    atomized?;
    report.join_vectors(followed?);
    // What is still without. Also after a budget was spent: local vectors cost nothing, and remote
    // ones know the budget.
    let _ = run(&job, Part::Vectors, &mut report).await?;
    let _ = run(&job, Part::Tables, &mut report).await?;
    if report.stopped.is_none() {
        let declared: Vec<DeclaredSchema> =
            params.records.iter().map(RecordSchema::declared).collect();
        tools.base.keep_only(Kept::Records(&declared)).await?;
        let _ = run(&job, Part::Records, &mut report).await?;
    }
    let is_part = tools.base.pending_files().is_some();
    for Wanted { structure, stamp: built } in structures.into_iter().filter(|_| !is_part) {
        let embedder = tools.embedder.as_deref().map(Embedder::name);
        let stamp = stamp(job.base(), &plan, embedder, structure).await?;
        if built == stamp || report.stopped.is_some() {
            continue;
        }
        if structures::build(&job, structure, &mut report).await? {
            tools.base.change_structure(structure, StructureChange::Built(&stamp)).await?;
        } else if job.plan.lacking(structure).is_some()
            && !known.iter().any(|wanted| wanted.structure == structure)
        {
            // Nothing of it is there: later runs, which do not ask for it, need not be told each time.
            tools.base.change_structure(structure, StructureChange::Unwanted).await?;
        }
        let _ = run(&job, Part::Vectors, &mut report).await?;
    }
    tools.base.refresh().await?;
    Ok(report)
}

/// Atoms of each kind in the order asked for. Whoever makes vectors of them hears of the end.
async fn atomize(job: Job<'_>, report: &mut Report) -> Result<(), StoreError> {
    for kind in &job.plan.params.atoms {
        let _ = run(&job, Part::Atoms(*kind), report).await?;
    }
    Ok(())
}

/// Runs the stages of a part in the table's order. `Break`: one of them ended it.
async fn run(
    job: &Job<'_>,
    part: Part,
    report: &mut Report,
) -> Result<ControlFlow<()>, StoreError> {
    for (row, stage) in running(job.plan) {
        // What stopped the run before would stop it again. What asks nobody goes on.
        let stopped = report.stopped.is_some() && row.role.is_some();
        if row.part == part && !stopped && stage.run(row, job, report).await?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
