//! How do files become chunks in the base? As many at a time as are parsed where structure decides; as
//! many as there are calls in flight where a model does, each document from front to back, and put into
//! the base when all its chunks are there. A killed run finds the calls that were paid in the ledger and
//! repeats none.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::lock::Mutex;
use futures::stream::{self, StreamExt};
use pikerag_extract::{EnhanceParams, document_graph, enhanced_graph};
use pikerag_knowledge::{
    ChatModel, Document, DocumentGraph, FileRecord, Problem, Role, StoreError, causes,
};
use pikerag_prompt::AskError;

use super::flight::blame;
use super::{ChunkBy, FileError, Outcome, Params, Progress, Report, Tools, Watch, recipe};
use crate::estimate::estimate;

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
    let parsers: Vec<Mutex<()>> = (0..params.parsers.max(1)).map(|_| Mutex::new(())).collect();
    let at_once = match cutter.model {
        Some(_) => params.in_flight.max(parsers.len()),
        None => parsers.len(),
    };
    let ending = AtomicBool::new(false);
    let (cutter, ending, parsers) = (&cutter, &ending, &parsers);
    let taking_turns = files.iter().enumerate().zip(parsers.iter().cycle());
    let reading = stream::iter(taking_turns).map(|((done, path), parser)| async move {
        watch(Progress::Reading { done, total: files.len(), path: path.clone() });
        let result = store_file(tools, path, params, cutter, ending, parser).await;
        if let Ok(Read { stopped_by: Some(error), .. }) = &result {
            ending.fetch_or(super::flight::ends_the_run(error), Ordering::Relaxed);
        }
        (path, result)
    });
    let mut reading = std::pin::pin!(reading.buffered(at_once));
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
    parser: &Mutex<()>,
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
    // However many calls are under way: each parser has one file at a time.
    let parsed = {
        let _turn = parser.lock().await;
        tools.reader.parse(path).await
    };
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
                read.outcome = waiting(&causes(&error));
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
