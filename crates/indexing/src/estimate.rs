//! Estimates the cost of indexing before any call, from the prompts that would be sent. Each stage counts its
//! pending pieces and its work on new files.

use futures::stream::{self, StreamExt};
use pikerag_extract::{document_graph, enhanced_forecast};
use pikerag_knowledge::{
    Chunk, ChunkId, Document, DocumentGraph, KnowledgeWriter, Role, StoreError, Structure,
    TagClass, Which,
};
use pikerag_parse::Parsed;

use crate::bill::Bill;
pub use crate::bill::{Estimate, FileCost};
use crate::error::FileError;
use crate::params::Params;
use crate::plan::{Available, Plan};
use crate::stage::{New, NewChunk, Part, Row, Stage};
use crate::stages::shown::only;
use crate::stages::tags::sought_classes;
use crate::table::running;
use crate::tools::FileReader;

/// Estimates the indexing of `files` with the available models, without storing anything and without any
/// call. Stored chunks and their results cost nothing again. Structures of the base are updated.
///
/// # Errors
/// The base cannot be read.
pub async fn estimate(
    base: Option<&dyn KnowledgeWriter>,
    reader: &dyn FileReader,
    files: &[String],
    params: &Params,
    available: &Available,
) -> Result<Estimate, StoreError> {
    let wanted = wanted(base, params).await?;
    forecast(base, reader, files, &Plan { params, available, wanted }).await
}

/// Estimates the indexing of `files` under a plan.
///
/// # Errors
/// The base cannot be read.
pub(crate) async fn forecast(
    base: Option<&dyn KnowledgeWriter>,
    reader: &dyn FileReader,
    files: &[String],
    plan: &Plan<'_>,
) -> Result<Estimate, StoreError> {
    let stages = running(plan);
    let mut bill = pending(base, plan, &stages).await?;
    let classes = sought_classes(base, &plan.params.tags).await?;
    // Owned paths let the compiler prove that the future is `Send`.
    let parsing = stream::iter(files.to_vec())
        .map(|path| async move {
            let parsed = parsed(base, reader, &path, plan).await;
            (path, parsed)
        })
        .buffered(plan.params.parsers.max(1));
    let mut parsing = std::pin::pin!(parsing);
    while let Some((path, parsed)) = parsing.next().await {
        let parsed = match parsed? {
            Some(Ok(parsed)) => parsed,
            Some(Err(error)) => {
                bill.estimate.unreadable.push((path, error));
                continue;
            }
            None => {
                bill.estimate.unchanged += 1;
                continue;
            }
        };
        bill.estimate.files += 1;
        let before = bill.cost_before(&path);
        for document in parsed.documents {
            let graph = graph_of(&mut bill, &path, document, plan).await;
            count(&mut bill, base, &stages, &graph, &classes).await?;
        }
        bill.add_file(before);
    }
    Ok(closed(bill, &stages))
}

/// Estimates the pending work of the base, with the available models.
///
/// # Errors
/// The base cannot be read.
pub async fn left(
    base: &dyn KnowledgeWriter,
    params: &Params,
    available: &Available,
) -> Result<Estimate, StoreError> {
    remaining_work(base, &Plan { params, available, wanted: wanted(Some(base), params).await? })
        .await
}

/// The structures that this run or an earlier one requested.
async fn wanted(
    base: Option<&dyn KnowledgeWriter>,
    params: &Params,
) -> Result<Vec<Structure>, StoreError> {
    let mut wanted = params.with.clone();
    if let Some(base) = base {
        wanted.extend(base.structures().await?.into_iter().map(|wanted| wanted.structure));
    }
    wanted.retain(|structure| !params.without.contains(structure));
    Ok(wanted)
}

/// Estimates the pending work of the base under a plan.
///
/// # Errors
/// The base cannot be read.
pub(crate) async fn remaining_work(
    base: &dyn KnowledgeWriter,
    plan: &Plan<'_>,
) -> Result<Estimate, StoreError> {
    let stages = running(plan);
    Ok(closed(pending(Some(base), plan, &stages).await?, &stages))
}

type Running<'a> = [(&'static Row, Box<dyn Stage + 'a>)];

async fn pending(
    base: Option<&dyn KnowledgeWriter>,
    plan: &Plan<'_>,
    stages: &Running<'_>,
) -> Result<Bill, StoreError> {
    let mut bill = Bill::begin(plan.available);
    for (_, stage) in stages {
        stage.count_pending(base, &mut bill).await?;
    }
    Ok(bill)
}

fn closed(mut bill: Bill, stages: &Running<'_>) -> Estimate {
    for (_, stage) in stages {
        stage.count_rest(&mut bill);
    }
    bill.estimate
}

/// A file's documents; `None` if the base already has them.
async fn parsed(
    base: Option<&dyn KnowledgeWriter>,
    reader: &dyn FileReader,
    path: &str,
    plan: &Plan<'_>,
) -> Result<Option<Result<Parsed, FileError>>, StoreError> {
    let known = match base {
        Some(base) => base.files(Which::Of(&[path])).await?.pop(),
        None => None,
    };
    if let Some(known) = known {
        match reader.hash(path).await {
            Ok(hash) if plan.is_read(&known, &hash) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Ok(Some(Err(error))),
        }
    }
    Ok(Some(reader.parse(path).await.map(|read| read.parsed)))
}

/// A document's chunks. If a model will cut them, the chunks are estimated and its cost is added.
async fn graph_of(
    bill: &mut Bill,
    path: &str,
    document: Document,
    plan: &Plan<'_>,
) -> DocumentGraph {
    let Some(range) = plan.cut_by_model() else {
        return document_graph(path, document, plan.params.chunks);
    };
    match enhanced_forecast(path, document.clone(), range).await {
        Ok((graph, calls, usage)) => {
            bill.calls(Role::Summarize, calls, usage);
            graph
        }
        Err(_) => document_graph(path, document, plan.params.chunks),
    }
}

/// Whether the base has a chunk. Fails if the base cannot be read, so that stored chunks do not count as
/// new.
async fn has_chunk(base: &dyn KnowledgeWriter, chunk: ChunkId) -> Result<bool, StoreError> {
    Ok(!base.chunks(&[chunk]).await?.is_empty())
}

/// Adds the cost of a document, for its chunks that the base does not have.
async fn count(
    bill: &mut Bill,
    base: Option<&dyn KnowledgeWriter>,
    stages: &Running<'_>,
    graph: &DocumentGraph,
    classes: &[TagClass],
) -> Result<(), StoreError> {
    bill.estimate.chunks += graph.chunks.len();
    let mut new: Vec<&Chunk> = Vec::new();
    for chunk in graph.chunks.iter().filter(|chunk| !chunk.hidden) {
        let is_stored = match base {
            Some(base) => has_chunk(base, chunk.id).await?,
            None => false,
        };
        // A stored chunk is done, or is pending and already counted.
        if bill.is_new(chunk.id) && !is_stored {
            new.push(chunk);
        }
    }
    let document = New::Document { graph, has_new_chunk: !new.is_empty() };
    for (_, stage) in stages {
        stage.count_new(&document, bill);
    }
    let text = only(&graph.text, &graph.chunks);
    for chunk in new {
        let image = graph.figures.iter().find(|(of, _)| *of == chunk.id).map(|(_, image)| image);
        let new =
            New::Chunk(NewChunk { chunk, source: &graph.source, text: &text, image, classes });
        let mut is_searchable = chunk.is_searchable();
        for (row, stage) in stages {
            match row.part {
                // A figure without words is searched by its description.
                Part::Descriptions => is_searchable |= stage.count_new(&new, bill),
                _ if is_searchable => drop(stage.count_new(&new, bill)),
                _ => {}
            }
        }
    }
    Ok(())
}
