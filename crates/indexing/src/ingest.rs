//! Indexes files: reads them, then runs the stages of the table. Each stage resumes where it stopped, and no
//! paid step is repeated.

mod learn;
mod moved;
mod reading;
mod repeats;
mod structures;

pub use self::learn::{Learned, Sample, learn, pair_with_keys};

use std::ops::ControlFlow;

use futures::future::join;
use pikerag_knowledge::{
    DeclaredSchema, Embedder, Kept, RecordSchema, StoreError, StructureChange, Wanted,
};

use crate::estimate::remaining_work;
use crate::outcome::{Progress, Report};
use crate::params::Params;
use crate::plan::Plan;
use crate::stage::{Job, Part};
use crate::stamp::stamp;
use crate::table::running;
use crate::tools::{Tools, Watch};
use crate::{embed, fresh};

/// Indexes files: reads new and changed files ([`read_files`]), then runs all pending stages ([`build`]).
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

/// Stores all new and changed files in the base, as chunks. Needs no embedder.
///
/// If a file fails, the report names it and the run continues. A spent budget, or an error that concerns
/// every call, ends the run early; finished work is kept.
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
    let reading = reading::read_all(tools, files, &plan, watch, &mut report).await;
    tools.reader.finish().await;
    reading?;
    moved::delete_moved(tools, params, &mut report).await?;
    repeats::find_repeats(tools, params, &mut report).await?;
    Ok(report)
}

/// Runs all pending stages, for chunks of this run and of earlier ones, and adds to the report of reading.
/// If the base limits the pending work to some files, structures over all documents stay unchanged.
///
/// If a piece fails, the report names it and the run continues. A spent budget, or an error that concerns
/// every call, ends the run early; finished work is kept.
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
        watch(Progress::Bill(remaining_work(tools.base.as_ref(), &plan).await?));
    }
    let job = Job { tools, plan: &plan, watch, new_atoms: None };
    let _ = run(&job, Part::Descriptions, &mut report).await?;
    // Vectors are made while the chat model works, because the two seldom wait for the same resource.
    let (sender, new_atoms) = fresh::channel();
    let sending = Job { new_atoms: Some(sender), ..job };
    let atomizing = atomize(sending, &mut report);
    let (atomized, vectors) = join(atomizing, embed::embed_new_atoms(&job, new_atoms)).await;
    atomized?;
    report.join_vectors(vectors?);
    // Makes the missing vectors, even if the budget is spent: local vectors cost nothing, and remote
    // embedders respect the budget.
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
        let embedder_name = tools.embedder.as_deref().map(Embedder::name);
        let stamp = stamp(job.base(), &plan, embedder_name, structure).await?;
        if built == stamp || report.stopped.is_some() {
            continue;
        }
        if structures::build(&job, structure, &mut report).await? {
            tools.base.change_structure(structure, StructureChange::Built(&stamp)).await?;
        } else if job.plan.missing_part(structure).is_some()
            && !known.iter().any(|wanted| wanted.structure == structure)
        {
            // No part of it exists, so later runs that do not request it need not report it.
            tools.base.change_structure(structure, StructureChange::Unwanted).await?;
        }
        let _ = run(&job, Part::Vectors, &mut report).await?;
    }
    tools.base.refresh().await?;
    Ok(report)
}

/// Makes atoms of each kind in the requested order. Takes the job, so that the channel of new atoms closes
/// at the end.
async fn atomize(job: Job<'_>, report: &mut Report) -> Result<(), StoreError> {
    for kind in &job.plan.params.atoms {
        let _ = run(&job, Part::Atoms(*kind), report).await?;
    }
    Ok(())
}

/// Runs the stages of a part in the table's order. `Break`: one of them ended the part.
async fn run(
    job: &Job<'_>,
    part: Part,
    report: &mut Report,
) -> Result<ControlFlow<()>, StoreError> {
    for (row, stage) in running(job.plan) {
        // A stopped run makes no further calls; stages without a model continue.
        let is_stopped = report.stopped.is_some() && row.role.is_some();
        if row.part == part && !is_stopped && stage.run(row, job, report).await?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
