//! What is done chunk by chunk after reading? Atomizing and embedding, many at a time, each result
//! stored with the mark that it is done.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::stream::{self, StreamExt};
use pikerag_extract::{Atomized, question_atoms, sentence_atoms};
use pikerag_knowledge::{
    Atom, AtomId, AtomKind, Chunk, ChunkId, ModelError, Role, Stage, StoreError, VectorSet,
};
use pikerag_prompt::AskError;

use super::{Params, Progress, Report, Tools, Watch};

/// Chunks looked up at a time.
const PAGE: usize = 512;
/// Results stored in one transaction, at most.
const STORED: usize = 64;
/// Refusals in a row after which every further call would be refused too (a bad key).
const REFUSALS: usize = 3;
/// Failures that a report lists one by one.
const LISTED: usize = 10;

/// Makes the atoms that are missing, kind by kind.
pub(super) async fn atomize(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    for kind in &params.atoms {
        match kind {
            AtomKind::Question => atomize_questions(tools, params, watch, report).await?,
            AtomKind::Sentence => atomize_sentences(tools, watch, report).await?,
            AtomKind::Statement => {}
        }
    }
    Ok(())
}

/// All chunks that wait for a stage, by identifier.
async fn all_waiting(tools: &Tools, stage: &Stage) -> Result<Vec<ChunkId>, StoreError> {
    let mut all: Vec<ChunkId> = Vec::new();
    loop {
        let page = tools.base.waiting(stage, all.last().copied(), PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

async fn atomize_sentences(
    tools: &Tools,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let stage = Stage::atomize(AtomKind::Sentence);
    let waiting = all_waiting(tools, &stage).await?;
    let mut done = 0;
    for page in waiting.chunks(PAGE) {
        let chunks = tools.base.chunks(page).await?;
        let atoms: Vec<_> = chunks.iter().map(|chunk| (chunk.id, sentence_atoms(chunk))).collect();
        report.atomized += page.len();
        report.atoms += atoms.iter().map(|(_, atoms)| atoms.len()).sum::<usize>();
        tools.base.put_atoms(&stage, atoms).await?;
        done += page.len();
        watch(Progress::Stage { name: "sentences", done, total: waiting.len() });
    }
    Ok(())
}

async fn atomize_questions(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(model) = tools.models.of(Role::Atomize) else { return Ok(()) };
    let stage = Stage::atomize(AtomKind::Question);
    let waiting = all_waiting(tools, &stage).await?;
    let (mut done, mut refusals) = (0, 0);
    // Once the run has to end no call begins; those under way are waited for: they are paid.
    let ending = &AtomicBool::new(false);
    for page in waiting.chunks(PAGE) {
        let chunks = tools.base.chunks(page).await?;
        let calls = stream::iter(&chunks).map(|chunk| async move {
            if ending.load(Ordering::Relaxed) {
                return None;
            }
            Some((chunk, question_atoms(model, chunk).await))
        });
        // Unordered: each result is stored under its own chunk, and one slow call holds up none.
        let mut results = calls.buffer_unordered(params.in_flight.max(1)).ready_chunks(STORED);
        while let Some(batch) = results.next().await {
            let mut atoms = Vec::with_capacity(batch.len());
            for (chunk, result) in batch.into_iter().flatten() {
                done += 1;
                match book(chunk, result, report) {
                    Ok(made) => {
                        refusals = 0;
                        atoms.push((chunk.id, made));
                    }
                    Err(error) => {
                        let refused = matches!(
                            error,
                            AskError::Model { source: ModelError::Refused { .. }, .. }
                        );
                        refusals = if refused { refusals + 1 } else { 0 };
                        if ends_the_run(&error) || REFUSALS <= refusals {
                            report.stopped.get_or_insert(reason(&error));
                            report.over_budget |= matches!(
                                error,
                                AskError::Model { source: ModelError::OverBudget { .. }, .. }
                            );
                        } else {
                            report.failures += 1;
                            if report.failed.len() < LISTED {
                                report.failed.push((chunk.uri.clone(), reason(&error)));
                            }
                        }
                    }
                }
            }
            tools.base.put_atoms(&stage, atoms).await?;
            watch(Progress::Stage { name: "atomizing", done, total: waiting.len() });
            ending.store(report.stopped.is_some(), Ordering::Relaxed);
        }
        if report.stopped.is_some() {
            return Ok(());
        }
    }
    Ok(())
}

/// The atoms to store for a chunk; an unreadable reply gives its sentences instead.
fn book(
    chunk: &Chunk,
    result: Result<Atomized, AskError>,
    report: &mut Report,
) -> Result<Vec<Atom>, AskError> {
    let atoms = match result {
        Ok(made) => {
            report.duplicates += made.duplicates;
            report.pronouns += made.pronouns;
            made.atoms
        }
        Err(AskError::Unreadable { reason, .. }) => {
            tracing::warn!(uri = chunk.uri, %reason, "questions stayed unreadable; sentences serve instead");
            report.unreadable += 1;
            let as_questions = |atom: Atom| {
                let id = AtomId::of(atom.chunk, AtomKind::Question.as_str(), &atom.text);
                Atom { id, kind: AtomKind::Question, ..atom }
            };
            sentence_atoms(chunk).into_iter().map(as_questions).collect()
        }
        Err(other) => return Err(other),
    };
    report.atomized += 1;
    report.atoms += atoms.len();
    Ok(atoms)
}

fn ends_the_run(error: &AskError) -> bool {
    match error {
        AskError::Model { source, .. } => model_ends_the_run(source),
        AskError::Template { .. } => true,
        AskError::Unreadable { .. } => false,
    }
}

fn model_ends_the_run(error: &ModelError) -> bool {
    match error {
        ModelError::OverBudget { .. }
        | ModelError::NotRecorded { .. }
        | ModelError::Unsupported { .. }
        | ModelError::Ledger { .. } => true,
        ModelError::Busy { .. } | ModelError::Refused { .. } | ModelError::Broken { .. } => false,
    }
}

/// The whole chain of causes in one line.
fn reason(error: &dyn std::error::Error) -> String {
    let mut chain = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        chain = format!("{chain}: {inner}");
        cause = inner.source();
    }
    chain
}

/// Makes the vectors that are missing: of chunks, and of each kind of atom.
pub(super) async fn embed(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(embedder) = &tools.embedder else { return Ok(()) };
    // Every kind of atom that the base holds, not only those made now: a search never meets the
    // vectors of two embedders.
    let kinds = [AtomKind::Question, AtomKind::Sentence, AtomKind::Statement].map(VectorSet::Atoms);
    for set in [VectorSet::Chunks].into_iter().chain(kinds) {
        let batch = params.embed_batch.max(1);
        // Pages of many batches, so that several calls can be in flight.
        let page_size = batch * params.embeds_in_flight.max(1) * 4;
        loop {
            let page = tools.base.without_vector(set, embedder.name(), page_size).await?;
            if page.is_empty() {
                break;
            }
            let calls = stream::iter(page.chunks(batch)).map(|texts| async move {
                let only_texts: Vec<String> = texts.iter().map(|(_, text)| text.clone()).collect();
                (texts, embedder.embed(&only_texts).await)
            });
            let mut results = calls.buffered(params.embeds_in_flight.max(1));
            while let Some((texts, vectors)) = results.next().await {
                match vectors {
                    Ok(vectors) => {
                        let ids = texts.iter().map(|(id, _)| *id);
                        report.vectors += vectors.len();
                        tools
                            .base
                            .put_vectors(set, embedder.name(), ids.zip(vectors).collect())
                            .await?;
                        watch(Progress::Stage {
                            name: "embedding",
                            done: report.vectors,
                            total: 0,
                        });
                    }
                    Err(error) => {
                        report.stopped.get_or_insert(reason(&error));
                        report.over_budget |= matches!(error, ModelError::OverBudget { .. });
                        return Ok(());
                    }
                }
            }
        }
    }
    Ok(())
}
