//! What would indexing cost? Counted before anything is paid, from the very prompts that would be
//! sent.

mod described;
mod tagged;

use std::collections::{BTreeMap, HashSet};

use futures::stream::{self, StreamExt};
use pikerag_extract::{
    EnhanceParams, asks_model, atomize_prompt, document_graph, enhanced_forecast, extract_prompt,
    plain_records, records_prompt, statements_prompt,
};
use pikerag_knowledge::{
    AtomKind, Chunk, ChunkId, Document, DocumentGraph, ExtractBy, KnowledgeWriter, RecordSchema,
    RecordsBy, Role, Stage, StoreError, Structure, Usage,
};
use pikerag_language::{estimate_tokens, sentences};
use pikerag_parse::Parsed;
use serde::{Deserialize, Serialize};

use crate::ingest::describe::only;
use crate::ingest::{ChunkBy, FileError, FileReader, Params, recipe, records};

/// Questions that a model writes per sentence, and tokens per question with its quotes and comma.
/// From the paper's costs: KAR³ Tables 10–12 count about as many reply tokens as content tokens.
const QUESTIONS_PER_SENTENCE: f64 = 1.3;
const TOKENS_PER_QUESTION: u64 = 16;
/// Statements that a model writes per sentence, and tokens per token of text: each names its subject anew.
const STATEMENTS_PER_SENTENCE: f64 = 1.5;
const STATED: f64 = 1.4;
/// Tokens of records that a model reads per token of text.
const RECORDED: f64 = 0.3;
/// Tokens of entities and relations that a model lists per token of text; with its JSON, about as much.
const EXTRACTED: f64 = 1.0;
/// Community reports per chunk, and tokens of their prompts and replies: how many there will be is known
/// when the graph is.
const REPORTS_PER_CHUNK: f64 = 0.4;
const REPORT: Usage = Usage { prompt_tokens: 1500, completion_tokens: 400 };
/// Tokens that one summary of the tree is made from, above chunks and above summaries alike.
const SUMMARIZED: f64 = 1800.0;
const SUMMARY: Usage = Usage { prompt_tokens: 1900, completion_tokens: 200 };
/// Chunks looked at together.
const PAGE: usize = 512;

/// What indexing would take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Files that would be read.
    pub files: usize,
    /// Files that are in the base already, unchanged.
    pub unchanged: usize,
    /// Files that cannot be read, with the reason.
    pub unreadable: Vec<(String, String)>,
    /// Chunks in the files that would be read, and those left to do from before.
    pub chunks: usize,
    /// Calls to models.
    pub calls: usize,
    /// Tokens of those calls.
    pub usage: Usage,
    /// The same by role: each may have a model, and a price, of its own.
    #[serde(default)]
    pub by_role: BTreeMap<Role, Usage>,
    /// Tokens to embed.
    pub embedded_tokens: u64,
}

impl Estimate {
    /// Adds calls of a role and their tokens in all.
    fn bill(&mut self, role: Role, calls: usize, usage: Usage) {
        self.calls += calls;
        self.usage += usage;
        *self.by_role.entry(role).or_default() += usage;
    }
}

/// Estimates indexing of `files`, without storing anything and without any call. `params.with` names the
/// structures that models will build. Chunks that the
/// base holds already, and atoms that it has, cost nothing again.
///
/// # Errors
/// The base cannot be read.
pub async fn estimate(
    base: Option<&dyn KnowledgeWriter>,
    reader: &dyn FileReader,
    files: &[String],
    params: &Params,
) -> Result<Estimate, StoreError> {
    let mut estimate = Estimate::default();
    let mut counted: HashSet<ChunkId> = HashSet::new();
    let new = New { atoms: &params.atoms, with: &params.with };
    let mut fresh = Fresh::default();
    let mut tagged = tagged::Tagged::of(base, params).await?;
    if let Some(base) = base {
        if base.chunk_count().await? > 0 {
            tagged.sample_is_elsewhere(); // Counted with the chunks that wait.
        }
        estimate = pending(base, params, &mut counted).await?;
    }
    let parsing = stream::iter(files)
        .map(|path| async move { (path, parsed(base, reader, path, params).await) })
        .buffered(params.parsers.max(1));
    let mut parsing = std::pin::pin!(parsing);
    while let Some((path, parsed)) = parsing.next().await {
        let parsed = match parsed? {
            Some(Ok(parsed)) => parsed,
            Some(Err(error)) => {
                estimate.unreadable.push((path.clone(), error.reason));
                continue;
            }
            None => {
                estimate.unchanged += 1;
                continue;
            }
        };
        estimate.files += 1;
        for document in parsed.documents {
            let graph = graph_of(&mut estimate, path, document, params).await;
            estimate.chunks += graph.chunks.len();
            described::count_source(&mut estimate, params, &graph);
            let text = only(&graph.text, &graph.chunks);
            let mut is_new = false;
            for chunk in graph.chunks.iter().filter(|chunk| !chunk.hidden) {
                let stored = match base {
                    Some(base) => base.chunks(&[chunk.id]).await.is_ok(),
                    None => false,
                };
                // What is stored is atomized, or waits and was counted above.
                if counted.insert(chunk.id) && !stored {
                    is_new = true;
                    let image = graph.figures.iter().find(|(of, _)| *of == chunk.id);
                    let image = image.map(|(_, image)| image);
                    let said = described::count(&mut estimate, params, &text, chunk, image);
                    if !said && !chunk.is_searchable() {
                        continue;
                    }
                    count(&mut estimate, chunk, new, &mut fresh);
                    for schema in &params.records {
                        let plain = || plain_records(schema, &graph.source, chunk).is_empty();
                        if asks_model(schema, chunk) && plain() {
                            count_records(&mut estimate, chunk, schema);
                        }
                    }
                    if params.with.contains(&Structure::Tags) {
                        tagged.count(&mut estimate, chunk);
                    }
                }
            }
            if is_new {
                estimate.embedded_tokens += titles(&graph);
            }
        }
    }
    fresh.add_to(&mut estimate);
    tagged.add_to(&mut estimate);
    Ok(estimate)
}

/// A file's documents; `None` where the base holds them as they are.
async fn parsed(
    base: Option<&dyn KnowledgeWriter>,
    reader: &dyn FileReader,
    path: &str,
    params: &Params,
) -> Result<Option<Result<Parsed, FileError>>, StoreError> {
    let hash = match reader.hash(path).await {
        Ok(hash) => hash,
        Err(error) => return Ok(Some(Err(error))),
    };
    let known = match base {
        Some(base) => base.file(path).await?,
        None => None,
    };
    if known.is_some_and(|known| known.hash == hash && known.recipe == recipe(params)) {
        return Ok(None);
    }
    Ok(Some(reader.parse(path).await))
}

/// A document's chunks; where a model will end them, about those, and what it will cost is added.
async fn graph_of(
    estimate: &mut Estimate,
    path: &str,
    document: Document,
    params: &Params,
) -> DocumentGraph {
    let max_tokens = params.chunks.max_tokens;
    let ChunkBy::Model { min_tokens } = params.chunk_by else {
        return document_graph(path, document, params.chunks);
    };
    let range = EnhanceParams { min_tokens: min_tokens.min(max_tokens), max_tokens };
    match enhanced_forecast(path, document.clone(), range).await {
        Ok((graph, calls, usage)) => {
            estimate.bill(Role::Summarize, calls, usage);
            graph
        }
        Err(_) => document_graph(path, document, params.chunks),
    }
}

/// Estimates what is left to do for the chunks that the base holds already.
///
/// # Errors
/// The base cannot be read.
pub async fn left_to_do(
    base: &dyn KnowledgeWriter,
    params: &Params,
) -> Result<Estimate, StoreError> {
    pending(base, params, &mut HashSet::new()).await
}

/// As [`left_to_do`]; adds the chunks it counted to `counted`.
async fn pending(
    base: &dyn KnowledgeWriter,
    params: &Params,
    counted: &mut HashSet<ChunkId>,
) -> Result<Estimate, StoreError> {
    let (mut estimate, mut fresh) = (Estimate::default(), Fresh::default());
    let mut stages = Vec::new();
    for kind in [AtomKind::Question, AtomKind::Statement] {
        let asked: &[AtomKind] = match kind {
            AtomKind::Question => &[AtomKind::Question],
            _ => &[AtomKind::Statement],
        };
        if params.atoms.contains(&kind) {
            let new = New { atoms: asked, with: &[] };
            stages.push((Stage::atomize(kind), new));
        }
    }
    if params.with.contains(&Structure::Graph) {
        let new = New { atoms: &[], with: &[Structure::Graph] };
        stages.push((Stage::extract(ExtractBy::Model), new));
    }
    for (stage, new) in stages {
        let left = base.pending(&stage, None, usize::MAX).await?;
        for page in left.chunks(PAGE) {
            for chunk in base.chunks(page).await? {
                count(&mut estimate, &chunk, new, &mut fresh);
                estimate.chunks += usize::from(counted.insert(chunk.id));
            }
        }
    }
    for schema in &params.records {
        let left =
            base.pending(&Stage::records(schema, RecordsBy::Model), None, usize::MAX).await?;
        let left = records::to_ask(base, schema, &left).await?;
        for page in left.chunks(PAGE) {
            for chunk in base.chunks(page).await? {
                count_records(&mut estimate, &chunk, schema);
                estimate.chunks += usize::from(counted.insert(chunk.id));
            }
        }
    }
    described::pending(&mut estimate, base, params, counted).await?;
    if params.with.contains(&Structure::Tags) {
        tagged::pending(&mut estimate, base, params, counted).await?;
    }
    // How much of a tree is left to grow is known when it is grown; one that was never begun is all left.
    if params.with.contains(&Structure::Tree) && base.summary().await?.summaries == 0 {
        let all = base.pending(&Stage("tree".to_owned()), None, usize::MAX).await?;
        for page in all.chunks(PAGE) {
            for chunk in base.chunks(page).await? {
                fresh.tree_tokens += estimate_tokens(&chunk.reading_text());
                estimate.chunks += usize::from(counted.insert(chunk.id));
            }
        }
    }
    fresh.add_to(&mut estimate);
    Ok(estimate)
}

/// What a chunk is to be made into.
#[derive(Clone, Copy)]
struct New<'a> {
    atoms: &'a [AtomKind],
    with: &'a [Structure],
}

/// What will hang together in structures over many chunks.
#[derive(Default)]
struct Fresh {
    graph_chunks: usize,
    tree_tokens: u64,
}

impl Fresh {
    /// Adds the calls for reports and summaries, rounded up.
    fn add_to(self, estimate: &mut Estimate) {
        let reports = (self.graph_chunks as f64 * REPORTS_PER_CHUNK).ceil() as u64;
        let summaries = (self.tree_tokens as f64 / SUMMARIZED).ceil() as u64;
        for (calls, each) in [(reports, REPORT), (summaries, SUMMARY)] {
            let prompt_tokens = calls * each.prompt_tokens;
            let completion_tokens = calls * each.completion_tokens;
            let usage = Usage { prompt_tokens, completion_tokens };
            estimate.bill(Role::Summarize, calls as usize, usage);
        }
        estimate.embedded_tokens += summaries * SUMMARY.completion_tokens;
    }
}

/// Tokens of what is embedded of a source and its sections.
fn titles(graph: &DocumentGraph) -> u64 {
    let title = estimate_tokens(&graph.source.title);
    let headings = graph.sections.iter().map(|section| title + estimate_tokens(&section.heading));
    title + headings.sum::<u64>()
}

fn count(estimate: &mut Estimate, chunk: &Chunk, new: New<'_>, fresh: &mut Fresh) {
    let text = estimate_tokens(&chunk.reading_text());
    if new.with.contains(&Structure::Graph) {
        fresh.graph_chunks += 1;
        let prompt_tokens = extract_prompt(chunk).map_or(text, |prompt| estimate_tokens(&prompt));
        let completion_tokens = (text as f64 * EXTRACTED).ceil() as u64;
        estimate.bill(Role::Extract, 1, Usage { prompt_tokens, completion_tokens });
        estimate.embedded_tokens += text;
    }
    if new.with.contains(&Structure::Tree) {
        fresh.tree_tokens += text;
    }
    if new.atoms.contains(&AtomKind::Statement) {
        let stated = (text as f64 * STATED).ceil() as u64;
        let marks =
            (sentences(&chunk.text).len() as f64 * STATEMENTS_PER_SENTENCE * 3.0).ceil() as u64;
        let prompt_tokens =
            statements_prompt(chunk).map_or(text, |prompt| estimate_tokens(&prompt));
        let completion_tokens = stated + marks + 6;
        estimate.bill(Role::Atomize, 1, Usage { prompt_tokens, completion_tokens });
        estimate.embedded_tokens += stated;
    }
    if !new.atoms.contains(&AtomKind::Question) {
        estimate.embedded_tokens += text;
        return;
    }
    let asked = (sentences(&chunk.text).len() as f64 * QUESTIONS_PER_SENTENCE).ceil() as u64;
    estimate.embedded_tokens += text + asked * (TOKENS_PER_QUESTION - 3);
    let prompt_tokens = atomize_prompt(chunk).map_or(text, |prompt| estimate_tokens(&prompt));
    let completion_tokens = asked * TOKENS_PER_QUESTION + 6;
    estimate.bill(Role::Atomize, 1, Usage { prompt_tokens, completion_tokens });
}

fn count_records(estimate: &mut Estimate, chunk: &Chunk, schema: &RecordSchema) {
    let text = estimate_tokens(&chunk.reading_text());
    let prompt_tokens =
        records_prompt(schema, chunk).map_or(text, |prompt| estimate_tokens(&prompt));
    let completion_tokens = (text as f64 * RECORDED).ceil() as u64 + 6;
    estimate.bill(Role::Extract, 1, Usage { prompt_tokens, completion_tokens });
}
