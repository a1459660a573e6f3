//! Counts the pending chunks of each stage of the next run, by their marks.

use pikerag_knowledge::{
    Backlog, ChunkKind, ChunkSet, KnowledgeWriter, RecordsBy, Stage, StoreError, Structure, Wanted,
    Which,
};

use crate::params::Params;
use crate::plan::{Available, Plan};
use crate::stamp::stamp;
use crate::table::running;

/// The stages with pending chunks or documents, in the order in which they run, each with their number.
/// Stages that never began are included. Vectors leave no marks and are not included; neither are
/// structures, which [`stale`] lists.
///
/// # Errors
/// The base cannot be read.
pub async fn waiting(
    base: &dyn KnowledgeWriter,
    params: &Params,
    available: &Available,
) -> Result<Vec<Backlog>, StoreError> {
    let wanted: Vec<Structure> =
        base.structures().await?.into_iter().map(|wanted| wanted.structure).collect();
    let begins = begins(&Plan { params, available, wanted });
    let mut waiting: Vec<Backlog> = Vec::new();
    for (begin, end) in begins {
        for stage in stages(base, params, begin, end).await? {
            let count = match kind(begin) {
                Some(kind) => {
                    base.pending(&stage, ChunkSet::OfKind(kind), None, usize::MAX).await?.len()
                }
                None if stage == Stage::summarize_sources() => {
                    let sources = base.sources(Which::All).await?;
                    sources.iter().filter(|source| source.summary.is_none()).count()
                }
                // Other stages without marks on chunks belong to structures, which are built as a whole.
                None if !stage.is_of_chunks() => 0,
                None => base.pending(&stage, ChunkSet::Searchable, None, usize::MAX).await?.len(),
            };
            if 0 < count && waiting.iter().all(|other| other.stage != stage.0) {
                waiting.push(Backlog { stage: stage.0, count });
            }
        }
    }
    Ok(waiting)
}

/// The structures that the next run would build or rebuild because their inputs changed, without those
/// whose models are missing. `embedder`: the name of the available embedder.
///
/// # Errors
/// The base cannot be read.
pub async fn stale(
    base: &dyn KnowledgeWriter,
    params: &Params,
    available: &Available,
    embedder: Option<&str>,
) -> Result<Vec<Structure>, StoreError> {
    let structures = base.structures().await?;
    let wanted = structures.iter().map(|wanted| wanted.structure).collect();
    let plan = Plan { params, available, wanted };
    let mut stale = Vec::new();
    for Wanted { structure, stamp: built } in structures {
        if plan.missing_part(structure).is_none()
            && built != stamp(base, &plan, embedder, structure).await?
        {
            stale.push(structure);
        }
    }
    Ok(stale)
}

/// The beginnings and ends of the marks of the stages that would run.
fn begins(plan: &Plan<'_>) -> Vec<(&'static str, &'static str)> {
    running(plan)
        .into_iter()
        .map(|(row, _)| row.mark)
        .filter(|(begin, _)| !begin.is_empty())
        .collect()
}

/// The stages whose marks have this beginning and end.
async fn stages(
    base: &dyn KnowledgeWriter,
    params: &Params,
    begin: &str,
    end: &str,
) -> Result<Vec<Stage>, StoreError> {
    Ok(match begin {
        "records:" => {
            let by = if end == ":model" { RecordsBy::Model } else { RecordsBy::Rules };
            let read =
                params.records.iter().filter(|schema| by == RecordsBy::Rules || schema.model);
            read.map(|schema| Stage::records(schema, by)).collect()
        }
        "tag:" => base
            .tag_classes()
            .await?
            .classes
            .into_iter()
            .map(|class| Stage::tag(class.id))
            .collect(),
        whole => vec![Stage(whole.to_owned())],
    })
}

/// The kind of chunks that a stage processes; `None` if it processes all.
fn kind(begin: &str) -> Option<ChunkKind> {
    [ChunkKind::Table, ChunkKind::Figure].into_iter().find(|kind| Stage::describe(*kind).0 == begin)
}
