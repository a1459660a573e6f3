//! How do texts get their vectors? Set by set, many at a time, each batch stored as it comes; and, while a
//! model writes atoms, of these at once.

use std::collections::BTreeMap;

use futures::channel::mpsc;
use futures::future;
use futures::stream::{self, StreamExt};
use pikerag_knowledge::{
    AtomKind, ModelError, NodeId, NodeVector, StoreError, TextToEmbed, Vector, VectorSet,
    error_chain,
};

use super::fresh::Fresh;
use super::outcome::{Progress, Report};
use super::stage::Job;

/// What this makes, in the words that people read.
pub(crate) const NAME: &str = "vectors";

/// Makes vectors while atoms are made: of all chunks, and of atoms as they come, in full batches.
/// Returns how many. The first call that fails ends it; [`embed`] tries again, and reports.
pub(crate) async fn follow(
    job: &Job<'_>,
    fresh: mpsc::Receiver<Fresh>,
) -> Result<usize, StoreError> {
    let (tools, params) = (job.tools, job.plan.params);
    let Some(embedder) = &tools.embedder else { return Ok(0) };
    let mut report = Report::default();
    let silent = Job { watch: &|_| (), fresh: None, ..*job };
    if let Err(error) = embed_set(&silent, VectorSet::Chunks, &mut report).await? {
        return recordable(error).map(|()| report.vectors);
    }
    let calls = fresh.chunks(params.embed_batch.max(1)).map(|batch| async move {
        let texts: Vec<String> = batch.iter().map(|atom| atom.text.clone()).collect();
        (batch, embedder.embed(&texts).await)
    });
    let mut results = std::pin::pin!(calls.buffered(params.embeds_in_flight.max(1)));
    while let Some((batch, vectors)) = results.next().await {
        let vectors = match vectors {
            Ok(vectors) => vectors,
            Err(error) => return recordable(error).map(|()| report.vectors),
        };
        report.vectors += vectors.len();
        let mut by_kind: BTreeMap<AtomKind, Vec<NodeVector>> = BTreeMap::new();
        for (atom, vector) in batch.into_iter().zip(vectors) {
            by_kind.entry(atom.kind).or_default().push(NodeVector { node: atom.id.into(), vector });
        }
        for (kind, vectors) in by_kind {
            tools.base.put_vectors(VectorSet::Atoms(kind), embedder.name(), vectors).await?;
        }
    }
    Ok(report.vectors)
}

/// An error after which it may be tried again: what can be had is put on record. Otherwise it would be paid
/// for again each time.
fn recordable(error: ModelError) -> Result<(), StoreError> {
    match error {
        ModelError::Ledger { source } => Err(*source),
        _ => Ok(()),
    }
}

/// Makes the vectors that are missing, of every layer, up to the first call that fails: that ends the run.
pub(crate) async fn embed(job: &Job<'_>, report: &mut Report) -> Result<(), StoreError> {
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
        if let Err(error) = embed_set(job, set, report).await? {
            stopped_by(&error, report);
            return Ok(());
        }
    }
    Ok(())
}

/// Notes that a model's error ends the run.
pub(crate) fn stopped_by(error: &ModelError, report: &mut Report) {
    report.stop(error_chain(error), Some(error));
}

/// Makes the missing vectors of one set, up to the first call that fails; none without an embedder.
pub(crate) async fn embed_set(
    job: &Job<'_>,
    set: VectorSet,
    report: &mut Report,
) -> Result<Result<(), ModelError>, StoreError> {
    let (tools, params) = (job.tools, job.plan.params);
    let Some(embedder) = tools.embedder.as_deref() else { return Ok(Ok(())) };
    let (batch, in_flight) = (params.embed_batch.max(1), params.embeds_in_flight.max(1));
    let batches = stream::try_unfold(None, move |after| async move {
        let texts = tools.base.without_vector(set, embedder.name(), after, batch).await?;
        let last = texts.last().map(|text| text.node);
        Ok::<_, StoreError>(last.map(|last| (texts, Some(last))))
    });
    let calls = batches.map(|batch| async move {
        let batch = batch?.into_iter().map(|TextToEmbed { node, text }| (node, text));
        let (nodes, texts): (Vec<NodeId>, Vec<String>) = batch.unzip();
        let vectors = embedder.embed(&texts).await;
        let with_node = |(node, vector)| NodeVector { node, vector };
        let made = |vectors: Vec<Vector>| {
            nodes.into_iter().zip(vectors).map(with_node).collect::<Vec<_>>()
        };
        Ok::<_, StoreError>(vectors.map(made))
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
            (job.watch)(Progress::Stage { name: NAME, done: report.vectors, total: 0 });
        }
        Ok(Ok(()))
    };
    // Sending fails only where storing has ended, and then that says why.
    future::join(calling, storing).await.1
}
