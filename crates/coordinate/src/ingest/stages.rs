//! What is done chunk by chunk after reading? Atomizing and embedding, many at a time, each result
//! stored with the mark that it is done.

use std::collections::BTreeMap;

use futures::channel::mpsc;
use futures::future;
use futures::stream::{self, Stream, StreamExt, TryStreamExt};
use pikerag_extract::{Atomized, question_atoms, sentence_atoms, statement_atoms};
use pikerag_knowledge::{
    Atom, AtomId, AtomKind, Chunk, ChunkId, ChunkKind, Embedder, ModelError, Role, Stage,
    StoreError, Vector, VectorSet, error_chain,
};

use super::call_batch::{CallBatch, run_calls};
use super::{Params, Progress, Report, Tools, Watch};

/// Chunks looked up at a time.
pub(super) const PAGE: usize = 512;

/// New atoms that may wait for their vectors; beyond that they wait for [`embed`] in the base.
pub(super) const FRESH: usize = 4096;

/// Makes the atoms that are missing, kind by kind, and offers them to `fresh` once they are stored.
pub(super) async fn atomize(
    tools: &Tools,
    params: &Params,
    watch: Watch<'_>,
    mut fresh: mpsc::Sender<Fresh>,
    report: &mut Report,
) -> Result<(), StoreError> {
    for kind in &params.atoms {
        match kind {
            // What stopped the run before would stop it again.
            AtomKind::Question | AtomKind::Statement if report.stopped.is_some() => {}
            AtomKind::Question | AtomKind::Statement => {
                atomize_by_model(tools, params, *kind, watch, &mut fresh, report).await?;
            }
            AtomKind::Sentence => atomize_sentences(tools, watch, &mut fresh, report).await?,
        }
    }
    Ok(())
}

/// All chunks that wait for a stage, by identifier.
pub(super) async fn all_pending(tools: &Tools, stage: &Stage) -> Result<Vec<ChunkId>, StoreError> {
    let mut all: Vec<ChunkId> = Vec::new();
    loop {
        let page = tools.base.pending(stage, all.last().copied(), PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// The same for chunks of one kind.
pub(super) async fn all_pending_of(
    tools: &Tools,
    stage: &Stage,
    kind: ChunkKind,
) -> Result<Vec<ChunkId>, StoreError> {
    let mut all: Vec<ChunkId> = Vec::new();
    loop {
        let page = tools.base.pending_of(stage, kind, all.last().copied(), PAGE).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

async fn atomize_sentences(
    tools: &Tools,
    watch: Watch<'_>,
    fresh: &mut mpsc::Sender<Fresh>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let stage = Stage::atomize(AtomKind::Sentence);
    let pending = all_pending(tools, &stage).await?;
    let mut done = 0;
    for page in pending.chunks(PAGE) {
        let chunks = tools.base.chunks(page).await?;
        let atoms: Vec<_> = chunks.iter().map(|chunk| (chunk.id, sentence_atoms(chunk))).collect();
        report.atomized += page.len();
        report.atoms += atoms.iter().map(|(_, atoms)| atoms.len()).sum::<usize>();
        store(tools, &stage, atoms, fresh).await?;
        done += page.len();
        watch(Progress::Stage { name: "sentences", done, total: pending.len() });
    }
    Ok(())
}

/// Questions or statements.
async fn atomize_by_model(
    tools: &Tools,
    params: &Params,
    kind: AtomKind,
    watch: Watch<'_>,
    fresh: &mut mpsc::Sender<Fresh>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let Some(model) = tools.models.of(Role::Atomize) else { return Ok(()) };
    if report.stopped.is_some() {
        return Ok(());
    }
    let stage = Stage::atomize(kind);
    let pending = all_pending(tools, &stage).await?;
    let at_once = params.in_flight;
    let batch = CallBatch { name: "atomizing", total: pending.len(), at_once, watch };
    let ask = |chunk: Chunk| async move {
        let result = match kind {
            AtomKind::Statement => statement_atoms(model, &chunk).await,
            AtomKind::Question | AtomKind::Sentence => question_atoms(model, &chunk).await,
        };
        (chunk, result)
    };
    let uri = |chunk: &Chunk| chunk.uri.clone();
    run_calls(batch, chunks(tools, &pending), ask, uri, report, async |came, report| {
        let book = |(chunk, made): (Chunk, _)| (chunk.id, book(&chunk, kind, made, report));
        let atoms = came.into_iter().map(book).collect();
        store(tools, &stage, atoms, fresh).await
    })
    .await
}

/// These chunks, looked up page by page.
pub(super) fn chunks<'a>(
    tools: &'a Tools,
    ids: &'a [ChunkId],
) -> impl Stream<Item = Result<Chunk, StoreError>> + 'a {
    stream::iter(ids.chunks(PAGE))
        .then(|page| tools.base.chunks(page))
        .map_ok(|chunks| stream::iter(chunks.into_iter().map(Ok)))
        .try_flatten()
}

/// Stores atoms, then offers them to whoever makes vectors; who has no room finds them in the base.
async fn store(
    tools: &Tools,
    stage: &Stage,
    atoms: Vec<(ChunkId, Vec<Atom>)>,
    fresh: &mut mpsc::Sender<Fresh>,
) -> Result<(), StoreError> {
    let texts: Vec<Fresh> = match fresh.is_closed() {
        true => Vec::new(),
        false => atoms.iter().flat_map(|(_, atoms)| atoms).map(Fresh::of).collect(),
    };
    tools.base.put_atoms(stage, atoms).await?;
    for text in texts {
        if fresh.try_send(text).is_err() {
            break;
        }
    }
    Ok(())
}

/// The atoms to store for a chunk; an unreadable reply gives its sentences instead.
fn book(chunk: &Chunk, kind: AtomKind, made: Option<Atomized>, report: &mut Report) -> Vec<Atom> {
    let atoms = match made {
        Some(made) => {
            report.duplicates += made.duplicates;
            report.pronouns += made.pronouns;
            made.atoms
        }
        None => {
            report.unreadable += 1;
            let in_their_place = |atom: Atom| {
                let id = AtomId::of(atom.chunk, kind.as_str(), &atom.text);
                Atom { id, kind, ..atom }
            };
            sentence_atoms(chunk).into_iter().map(in_their_place).collect()
        }
    };
    report.atomized += 1;
    report.atoms += atoms.len();
    atoms
}

/// An atom that was just stored and has no vector yet.
pub(super) struct Fresh {
    kind: AtomKind,
    id: u64,
    text: String,
}

impl Fresh {
    fn of(atom: &Atom) -> Self {
        Self { kind: atom.kind, id: atom.id.0, text: atom.text.clone() }
    }
}

/// Makes vectors while atoms are made: of all chunks, and of atoms as they come, in full batches.
/// Returns how many. The first call that fails ends it; [`embed`] tries again, and reports.
pub(super) async fn follow(
    tools: &Tools,
    params: &Params,
    fresh: mpsc::Receiver<Fresh>,
) -> Result<usize, StoreError> {
    let Some(embedder) = &tools.embedder else { return Ok(0) };
    let mut report = Report::default();
    let chunks = VectorSet::Chunks;
    if embed_set(tools, embedder.as_ref(), chunks, params, &|_| (), &mut report).await?.is_err() {
        return Ok(report.vectors);
    }
    let calls = fresh.chunks(params.embed_batch.max(1)).map(|batch| async move {
        let texts: Vec<String> = batch.iter().map(|atom| atom.text.clone()).collect();
        (batch, embedder.embed(&texts).await)
    });
    let mut results = std::pin::pin!(calls.buffered(params.embeds_in_flight.max(1)));
    while let Some((batch, vectors)) = results.next().await {
        let Ok(vectors) = vectors else { break };
        report.vectors += vectors.len();
        let mut by_kind: BTreeMap<AtomKind, Vec<(u64, Vector)>> = BTreeMap::new();
        for (atom, vector) in batch.into_iter().zip(vectors) {
            by_kind.entry(atom.kind).or_default().push((atom.id, vector));
        }
        for (kind, vectors) in by_kind {
            tools.base.put_vectors(VectorSet::Atoms(kind), embedder.name(), vectors).await?;
        }
    }
    Ok(report.vectors)
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
    let others = [
        VectorSet::Chunks,
        VectorSet::Entities,
        VectorSet::Summaries,
        VectorSet::Sources,
        VectorSet::Sections,
    ];
    for set in others.into_iter().chain(kinds) {
        if let Err(error) = embed_set(tools, embedder.as_ref(), set, params, watch, report).await? {
            stopped_by(&error, report);
            return Ok(());
        }
    }
    Ok(())
}

/// Notes that a model's error ends the run.
pub(super) fn stopped_by(error: &ModelError, report: &mut Report) {
    report.stopped.get_or_insert(error_chain(error));
    report.over_budget |= matches!(error, ModelError::OverBudget { .. });
}

/// Makes the missing vectors of one set, up to the first call that fails.
pub(super) async fn embed_set(
    tools: &Tools,
    embedder: &dyn Embedder,
    set: VectorSet,
    params: &Params,
    watch: Watch<'_>,
    report: &mut Report,
) -> Result<Result<(), ModelError>, StoreError> {
    let (batch, in_flight) = (params.embed_batch.max(1), params.embeds_in_flight.max(1));
    let batches = stream::try_unfold(None, move |after| async move {
        let texts = tools.base.without_vector(set, embedder.name(), after, batch).await?;
        let last = texts.last().map(|(id, _)| *id);
        Ok::<_, StoreError>(last.map(|last| (texts, Some(last))))
    });
    let calls = batches.map(|batch| async move {
        let (ids, texts): (Vec<u64>, Vec<String>) = batch?.into_iter().unzip();
        let vectors = embedder.embed(&texts).await;
        Ok::<_, StoreError>(vectors.map(|vectors| ids.into_iter().zip(vectors).collect::<Vec<_>>()))
    });
    let (made, results) = mpsc::channel(in_flight);
    let calling = calls.buffered(in_flight).map(Ok).forward(made);
    let storing = async {
        // Its own: when storing ends early, so does the channel, and with it the calls.
        let mut results = results;
        while let Some(result) = results.next().await {
            let vectors = match result? {
                Ok(vectors) => vectors,
                Err(error) => return Ok(Err(error)),
            };
            report.vectors += vectors.len();
            tools.base.put_vectors(set, embedder.name(), vectors).await?;
            watch(Progress::Stage { name: "embedding", done: report.vectors, total: 0 });
        }
        Ok(Ok(()))
    };
    // Sending fails only where storing has ended, and then that says why.
    future::join(calling, storing).await.1
}
