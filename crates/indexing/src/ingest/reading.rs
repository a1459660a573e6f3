//! Reads files into chunks and stores each file once all its chunks are cut. As many files are read at a time
//! as there are parsers, or as calls in flight if a model cuts chunks. After a kill, the ledger has the
//! paid calls, so none is repeated.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::stream::{self, StreamExt};
use pikerag_extract::{EnhanceParams, document_graph, enhanced_graph};
use pikerag_knowledge::uri::is_relation;
use pikerag_knowledge::{
    ChatModel, Document, DocumentGraph, FileRecord, Problem, Role, StoreError, Which, error_chain,
};
use pikerag_prompt::AskError;
use tokio::sync::Semaphore;

use crate::call_batch::{ends_the_run, note_failed_call};
use crate::error::FileError;
use crate::estimate::forecast;
use crate::outcome::{Outcome, Progress, Report};
use crate::plan::Plan;
use crate::tools::{ReadFile, Tools, Watch};

/// Files begun before the first of them is finished, if no model is asked, so that a slow file does not
/// delay others.
const BEGUN: usize = 64;

/// Reads and stores all new and changed files. Once the run must end, no call begins; files that need no
/// model are still read.
pub(super) async fn read_all(
    tools: &Tools,
    files: &[String],
    plan: &Plan<'_>,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    // The model that cuts chunks, and its range of sizes; `None` if structure does.
    let cutter = tools.models.of(Role::Summarize).zip(plan.cut_by_model());
    if cutter.is_some() {
        // Sent before the first call. Later stages send their own estimate once the chunks are known.
        let base = Some(tools.base.as_ref());
        watch(Progress::Bill(forecast(base, tools.reader.as_ref(), files, plan).await?));
    } else if plan.lacks_cutter() {
        tracing::warn!("no chat model for `summarize`: chunks are cut by structure");
    }
    // Each permit is a parser, which reads one file at a time.
    let parsers = Semaphore::new(plan.params.parsers.clamp(1, Semaphore::MAX_PERMITS));
    let ending = AtomicBool::new(false);
    let (done, total) = (AtomicUsize::new(0), files.len());
    watch(Progress::Reading { done: 0, total });
    let (ending, parsers, done) = (&ending, &parsers, &done);
    let begun = if cutter.is_some() { plan.params.in_flight.max(1) } else { BEGUN };
    // Tables of databases come first: their connections end before a file is read.
    let tables = files.iter().take_while(|path| is_relation(path)).count();
    let (tables, others) = files.split_at(tables);
    for (group, has_connections) in [(tables, !tables.is_empty()), (others, false)] {
        // Owned paths let the compiler prove that the future is `Send`.
        let reading = stream::iter(group.to_vec()).map(|path| async move {
            let result = store_file(tools, &path, plan, cutter, ending, parsers).await;
            watch(Progress::Reading { done: 1 + done.fetch_add(1, Ordering::Relaxed), total });
            if let Ok(Read { stopped_by: Some(error), .. }) = &result {
                ending.fetch_or(ends_the_run(error), Ordering::Relaxed);
            }
            (path, result)
        });
        let mut reading = std::pin::pin!(reading.buffered(begun));
        while let Some((path, read)) = reading.next().await {
            let read = read?;
            let problems = read.problems.into_iter().map(|problem| (path.clone(), problem));
            report.problems.extend(problems);
            report.undecided += read.undecided;
            if let Some(error) = &read.stopped_by {
                note_failed_call(&path, error, report);
            }
            ending.fetch_or(report.stopped.is_some(), Ordering::Relaxed);
            report.files.push((path, read.outcome));
        }
        if has_connections {
            tools.reader.finish().await;
        }
    }
    Ok(())
}

/// The model that cuts chunks, and its range of sizes.
type Cutter<'a> = (&'a dyn ChatModel, EnhanceParams);

struct Read {
    outcome: Outcome,
    problems: Vec<Problem>,
    undecided: usize,
    /// The failed call because of which the file waits.
    stopped_by: Option<AskError>,
}

impl Read {
    fn as_outcome(outcome: Outcome) -> Self {
        Self { outcome, problems: Vec::new(), undecided: 0, stopped_by: None }
    }

    fn failed(error: FileError) -> Self {
        Self::as_outcome(Outcome::Failed { reason: error })
    }
}

async fn store_file(
    tools: &Tools,
    path: &str,
    plan: &Plan<'_>,
    cutter: Option<Cutter<'_>>,
    ending: &AtomicBool,
    parsers: &Semaphore,
) -> Result<Read, StoreError> {
    if let Some(known) = tools.base.files(Which::Of(&[path])).await?.pop() {
        match tools.reader.hash(path).await {
            Ok(hash) if plan.is_read(&known, &hash) => {
                return Ok(Read::as_outcome(Outcome::Unchanged));
            }
            Ok(_) => {}
            Err(error) => return Ok(Read::failed(error)),
        }
    }
    if cutter.is_some() && ending.load(Ordering::Relaxed) {
        return Ok(Read::as_outcome(waiting("the run ended before this file")));
    }
    // The semaphore is never closed, and grants permits in the order of requests.
    let parser = parsers.acquire().await.ok();
    let read_file = tools.reader.parse(path).await;
    // If structure cuts chunks, the permit is kept until the file is stored, because parsed files may be
    // large.
    let _parser = cutter.is_none().then_some(parser);
    // The hash of the parsed bytes: the file may have changed since it was hashed.
    let ReadFile { hash, parsed } = match read_file {
        Ok(read_file) => read_file,
        Err(error) => return Ok(Read::failed(error)),
    };
    let mut read = Read { problems: parsed.problems, ..Read::as_outcome(Outcome::Unchanged) };
    let mut graphs = Vec::with_capacity(parsed.documents.len());
    for document in parsed.documents {
        match graph(path, document, plan, cutter, &mut read.undecided).await {
            Ok(graph) => graphs.push(graph),
            Err(error) => {
                read.outcome = waiting(&error_chain(&error));
                read.stopped_by = Some(error);
                return Ok(read);
            }
        }
    }
    let documents = graphs.len();
    if graphs.iter().all(|graph| graph.chunks.is_empty()) {
        read.outcome = Outcome::Failed { reason: FileError::NoText };
        return Ok(read);
    }
    let record = FileRecord { path: path.to_owned(), hash, recipe: plan.recipe() };
    let report = tools.base.put_file(&record, graphs).await?;
    read.outcome = Outcome::Stored { report, documents };
    Ok(read)
}

fn waiting(reason: &str) -> Outcome {
    Outcome::Waiting { reason: reason.to_owned() }
}

async fn graph(
    path: &str,
    document: Document,
    plan: &Plan<'_>,
    cutter: Option<Cutter<'_>>,
    undecided: &mut usize,
) -> Result<DocumentGraph, AskError> {
    let Some((model, range)) = cutter else {
        return Ok(document_graph(path, document, plan.params.chunks));
    };
    let enhanced = enhanced_graph(model, path, document, range).await?;
    *undecided += enhanced.unreadable;
    Ok(enhanced.graph)
}
