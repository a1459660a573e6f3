//! How do files become chunks in the base? As many at a time as there are parsers where structure decides,
//! as many as there are calls in flight where a model does, each document from front to back, and put into
//! the base when all its chunks are there. A killed run finds the calls that were paid in the ledger and
//! repeats none.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::stream::{self, StreamExt};
use pikerag_extract::{EnhanceParams, document_graph, enhanced_graph};
use pikerag_knowledge::{
    ChatModel, Document, DocumentGraph, FileRecord, Problem, Role, StoreError, Which, error_chain,
};
use pikerag_prompt::AskError;
use tokio::sync::Semaphore;

use crate::call_batch::{blame, ends_the_run};
use crate::error::FileError;
use crate::estimate::forecast;
use crate::outcome::{Outcome, Progress, Report};
use crate::plan::Plan;
use crate::tools::{ReadFile, Tools, Watch};

/// Files that are begun before the first of them is done, where no model is asked: behind one that takes
/// long, others are read.
const BEGUN: usize = 64;

/// Reads and stores all files that are new or changed. Once the run has to end, no call begins; files
/// that no model is needed for are read all the same.
pub(super) async fn read_all(
    tools: &Tools,
    files: &[String],
    plan: &Plan<'_>,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    // The model that ends chunks, and its range of sizes; `None` where structure does.
    let cutter = tools.models.of(Role::Summarize).zip(plan.cut_by_model());
    if cutter.is_some() {
        // Said before the first call. The later stages say theirs again, once the chunks are known.
        let base = Some(tools.base.as_ref());
        watch(Progress::Bill(forecast(base, tools.reader.as_ref(), files, plan).await?));
    } else if plan.lacks_cutter() {
        tracing::warn!("no chat model for `summarize`: chunks are cut by structure");
    }
    // Each permit is a parser, with one file at a time.
    let parsers = Semaphore::new(plan.params.parsers.clamp(1, Semaphore::MAX_PERMITS));
    let ending = AtomicBool::new(false);
    let (done, total) = (AtomicUsize::new(0), files.len());
    watch(Progress::Reading { done: 0, total });
    let (ending, parsers, done) = (&ending, &parsers, &done);
    // By owned paths: so the compiler can tell that the future is `Send`.
    let reading = stream::iter(files.to_vec()).map(|path| async move {
        let result = store_file(tools, &path, plan, cutter, ending, parsers).await;
        watch(Progress::Reading { done: 1 + done.fetch_add(1, Ordering::Relaxed), total });
        if let Ok(Read { stopped_by: Some(error), .. }) = &result {
            ending.fetch_or(ends_the_run(error), Ordering::Relaxed);
        }
        (path, result)
    });
    let begun = if cutter.is_some() { plan.params.in_flight.max(1) } else { BEGUN };
    let mut reading = std::pin::pin!(reading.buffered(begun));
    while let Some((path, read)) = reading.next().await {
        let read = read?;
        report.problems.extend(read.problems.into_iter().map(|problem| (path.clone(), problem)));
        report.undecided += read.undecided;
        if let Some(error) = &read.stopped_by {
            blame(&path, error, report);
        }
        ending.fetch_or(report.stopped.is_some(), Ordering::Relaxed);
        report.files.push((path, read.outcome));
    }
    Ok(())
}

/// The model that ends chunks, within a range of sizes.
type Cutter<'a> = (&'a dyn ChatModel, EnhanceParams);

struct Read {
    outcome: Outcome,
    problems: Vec<Problem>,
    undecided: usize,
    /// The failed call that keeps it waiting.
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
        return Ok(Read::as_outcome(waiting("the run had ended before it")));
    }
    // Never closed; in the order of asking.
    let parser = parsers.acquire().await.ok();
    let read_file = tools.reader.parse(path).await;
    // Where structure decides, what was parsed is stored before the next file is: it may be large.
    let _parser = cutter.is_none().then_some(parser);
    // The hash of what was parsed: the file may have changed since it was looked at.
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
