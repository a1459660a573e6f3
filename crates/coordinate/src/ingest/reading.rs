//! How do files become chunks in the base? As many at a time as there are parsers where structure decides,
//! as many as there are calls in flight where a model does, each document from front to back, and put into
//! the base when all its chunks are there. A killed run finds the calls that were paid in the ledger and
//! repeats none.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::lock::Mutex;
use futures::stream::{self, StreamExt};
use pikerag_extract::{EnhanceParams, document_graph, enhanced_graph};
use pikerag_knowledge::{
    ChatModel, Document, DocumentGraph, FileRecord, Problem, Role, StoreError, error_chain,
};
use pikerag_prompt::AskError;

use super::call_batch::blame;
use super::{ChunkBy, FileError, Outcome, Params, Progress, Report, Tools, Watch, recipe};
use crate::estimate::estimate;

/// Files that are begun before the first of them is done, where no model is asked: behind one that takes
/// long, others are read.
const BEGUN: usize = 64;

/// Reads and stores all files that are new or changed. Once the run has to end, no call begins; files
/// that no model is needed for are read all the same.
pub(super) async fn read_all(
    tools: &Tools,
    files: &[String],
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let cutter = Cutter::of(tools, params);
    if cutter.model.is_some() {
        // Said before the first call. The later stages say theirs again, once the chunks are known.
        let forecast = Params { with: Vec::new(), ..super::paid(tools, params, &[]) };
        let base = Some(tools.base.as_ref());
        watch(Progress::Bill(estimate(base, tools.reader.as_ref(), files, &forecast).await?));
    } else if cutter.is_lacking {
        tracing::warn!("no chat model for `summarize`: chunks are cut by structure");
    }
    let parsers = Parsers::new(params.parsers);
    let ending = AtomicBool::new(false);
    let (done, total) = (AtomicUsize::new(0), files.len());
    watch(Progress::Reading { done: 0, total });
    let (cutter, ending, parsers, done) = (&cutter, &ending, &parsers, &done);
    let reading = stream::iter(files).map(|path| async move {
        let result = store_file(tools, path, params, cutter, ending, parsers).await;
        watch(Progress::Reading { done: 1 + done.fetch_add(1, Ordering::Relaxed), total });
        if let Ok(Read { stopped_by: Some(error), .. }) = &result {
            ending.fetch_or(super::call_batch::ends_the_run(error), Ordering::Relaxed);
        }
        (path, result)
    });
    let begun = if cutter.model.is_some() { params.in_flight.max(1) } else { BEGUN };
    let mut reading = std::pin::pin!(reading.buffered(begun));
    let mut refusals = 0;
    while let Some((path, read)) = reading.next().await {
        let read = read?;
        report.problems.extend(read.problems.into_iter().map(|problem| (path.clone(), problem)));
        report.undecided += read.undecided;
        match &read.stopped_by {
            Some(error) => blame(path, error, &mut refusals, report),
            None => refusals = 0,
        }
        ending.fetch_or(report.stopped.is_some(), Ordering::Relaxed);
        report.files.push((path.clone(), read.outcome));
    }
    Ok(())
}

/// So many parsers, each with one file at a time.
struct Parsers {
    idle: Mutex<UnboundedReceiver<()>>,
    back: UnboundedSender<()>,
}

/// A parser at work; idle again when this is dropped.
struct Parser<'a>(&'a UnboundedSender<()>);

impl Parsers {
    fn new(n: usize) -> Self {
        let (back, idle) = unbounded();
        for _ in 0..n.max(1) {
            // The other end is there.
            let _ = back.unbounded_send(());
        }
        Self { idle: Mutex::new(idle), back }
    }

    /// The next that is idle, in the order of asking.
    async fn take(&self) -> Parser<'_> {
        self.idle.lock().await.next().await;
        Parser(&self.back)
    }
}

impl Drop for Parser<'_> {
    fn drop(&mut self) {
        let _ = self.0.unbounded_send(());
    }
}

/// Who ends the chunks.
struct Cutter<'a> {
    /// The model and its range of sizes; `None` where structure decides.
    model: Option<(&'a dyn ChatModel, EnhanceParams)>,
    /// A model was asked for, and there is none.
    is_lacking: bool,
    /// What its work is recorded under.
    recipe: String,
}

impl<'a> Cutter<'a> {
    fn of(tools: &'a Tools, params: &Params) -> Self {
        let max_tokens = params.chunks.max_tokens;
        let by_structure = Params { chunk_by: ChunkBy::Structure, ..params.clone() };
        match (params.chunk_by, tools.models.of(Role::Summarize)) {
            (ChunkBy::Structure, _) => {
                Self { model: None, is_lacking: false, recipe: recipe(params) }
            }
            (ChunkBy::Model { .. }, None) => {
                Self { model: None, is_lacking: true, recipe: recipe(&by_structure) }
            }
            (ChunkBy::Model { min_tokens }, Some(model)) => {
                let range = EnhanceParams { min_tokens: min_tokens.min(max_tokens), max_tokens };
                Self { model: Some((model, range)), is_lacking: false, recipe: recipe(params) }
            }
        }
    }
}

/// What came of a file.
struct Read {
    outcome: Outcome,
    problems: Vec<Problem>,
    undecided: usize,
    /// The call that kept it waiting.
    stopped_by: Option<AskError>,
}

impl Read {
    fn as_outcome(outcome: Outcome) -> Self {
        Self { outcome, problems: Vec::new(), undecided: 0, stopped_by: None }
    }

    fn failed(error: FileError) -> Self {
        Self::as_outcome(Outcome::Failed { reason: error.reason })
    }
}

async fn store_file(
    tools: &Tools,
    path: &str,
    params: &Params,
    cutter: &Cutter<'_>,
    ending: &AtomicBool,
    parsers: &Parsers,
) -> Result<Read, StoreError> {
    let hash = match tools.reader.hash(path).await {
        Ok(hash) => hash,
        Err(error) => return Ok(Read::failed(error)),
    };
    let record = FileRecord { path: path.to_owned(), hash, recipe: cutter.recipe.clone() };
    let known = tools.base.file(path).await?;
    if known.as_ref() == Some(&record) {
        return Ok(Read::as_outcome(Outcome::Unchanged));
    }
    // What a model has cut once stays so where there is none today.
    if cutter.is_lacking && known == Some(FileRecord { recipe: recipe(params), ..record.clone() }) {
        return Ok(Read::as_outcome(Outcome::Unchanged));
    }
    if cutter.model.is_some() && ending.load(Ordering::Relaxed) {
        return Ok(Read::as_outcome(waiting("the run had ended before it")));
    }
    let parser = parsers.take().await;
    let parsed = tools.reader.parse(path).await;
    // Where structure decides, what was parsed is stored before the next file is: it may be large.
    let _parser = cutter.model.is_none().then_some(parser);
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return Ok(Read::failed(error)),
    };
    let mut read = Read { problems: parsed.problems, ..Read::as_outcome(Outcome::Unchanged) };
    let mut graphs = Vec::with_capacity(parsed.documents.len());
    for document in parsed.documents {
        match graph(path, document, params, cutter, &mut read.undecided).await {
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
        read.outcome = Outcome::Failed { reason: "it holds no text".to_owned() };
        return Ok(read);
    }
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
    params: &Params,
    cutter: &Cutter<'_>,
    undecided: &mut usize,
) -> Result<DocumentGraph, AskError> {
    let Some((model, range)) = cutter.model else {
        return Ok(document_graph(path, document, params.chunks));
    };
    let enhanced = enhanced_graph(model, path, document, range).await?;
    *undecided += enhanced.unreadable;
    Ok(enhanced.graph)
}
