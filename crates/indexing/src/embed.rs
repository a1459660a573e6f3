//! How do texts get their vectors? Set by set, many at a time, each batch stored as it comes; and, while a
//! model writes atoms, of these at once.

use std::collections::{BTreeMap, HashSet};

use futures::channel::mpsc;
use futures::future::{self, BoxFuture, FutureExt};
use futures::lock::Mutex;
use futures::stream::{self, BoxStream, StreamExt};
use pikerag_knowledge::{
    AtomKind, Embedder, KnowledgeWriter, ModelError, NodeId, NodeVector, Refusal, RefusalCause,
    Stage, StoreError, TextToEmbed, Vector, VectorSet, error_chain,
};

use super::fresh::Fresh;
use super::outcome::{Progress, Report};
use super::parts::Chunks;
use super::stage::Job;

/// What this makes, in the words that people read.
pub(crate) const NAME: &str = "vectors";

/// Makes vectors while atoms are made: of all chunks, and of atoms as they come, in full batches.
/// Returns how many, and what was refused. The first call that fails ends it; [`embed`] tries again, and reports.
pub(crate) async fn follow(
    job: &Job<'_>,
    fresh: mpsc::Receiver<Fresh>,
) -> Result<Report, StoreError> {
    let (tools, params) = (job.tools, job.plan.params);
    let mut report = Report::default();
    let Some(embedding) = Embedding::of(job).await? else { return Ok(report) };
    let embedder = embedding.embedder;
    // Sentences get theirs with their chunks, once all are there.
    let with_chunks = embedder.reads_parts() && params.atoms.contains(&AtomKind::Sentence);
    let silent = Job { watch: &|_| (), fresh: None, ..*job };
    if !with_chunks
        && let Err(error) = embed_set(&silent, &embedding, VectorSet::Chunks, &mut report).await?
    {
        return recordable(error).map(|()| report);
    }
    let is_ours = |atom: &Fresh| future::ready(!with_chunks || atom.kind != AtomKind::Sentence);
    let calls = fresh.filter(is_ours).chunks(params.embed_batch.max(1)).map(|batch| async move {
        let texts: Vec<String> = batch.iter().map(|atom| atom.text.clone()).collect();
        (batch, embedder.embed(&texts).await)
    });
    let mut results = std::pin::pin!(calls.buffered(params.embeds_in_flight.max(1)));
    while let Some((batch, vectors)) = results.next().await {
        let vectors = match vectors {
            Ok(vectors) => vectors,
            Err(error) => return recordable(error).map(|()| report),
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
    Ok(report)
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
    let Some(embedding) = Embedding::of(job).await? else { return Ok(()) };
    for set in others.into_iter().chain(kinds) {
        if let Err(error) = embed_set(job, &embedding, set, report).await? {
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

/// Makes the missing vectors of one set, up to the first call that fails. A text that the embedder refuses is noted
/// and left out, until it is asked for again.
pub(crate) async fn embed_set(
    job: &Job<'_>,
    embedding: &Embedding<'_>,
    set: VectorSet,
    report: &mut Report,
) -> Result<Result<(), ModelError>, StoreError> {
    let (tools, params) = (job.tools, job.plan.params);
    let Embedding { embedder, stage, refused, .. } = embedding;
    let (batch, in_flight) = (params.embed_batch.max(1), params.embeds_in_flight.max(1));
    let batches = missing(tools.base.as_ref(), set, embedder.name(), batch);
    let calls = batches.map(|batch| {
        async {
            let wanted = |text: &TextToEmbed| !refused.contains(&text.node);
            let batch =
                batch?.into_iter().filter(wanted).map(|TextToEmbed { node, text }| (node, text));
            let (nodes, texts): (Vec<NodeId>, Vec<String>) = batch.unzip();
            let made = embedding.of_batch(tools.base.as_ref(), set, &nodes, &texts).await?;
            Ok::<_, StoreError>(
                made.map(|(vectors, of_sentences)| {
                    (with_texts(nodes, texts, vectors), of_sentences)
                }),
            )
        }
        .boxed()
    });
    let (made, results) = mpsc::channel(in_flight);
    let calling = calls.buffered(in_flight).map(Ok).forward(made);
    let storing = async {
        // Its own: when storing ends early, so does the channel, and with it the calls.
        let mut results = results;
        while let Some(result) = results.next().await {
            let (texts, of_sentences) = match result? {
                Ok(made) => made,
                Err(error) => return Ok(Err(error)),
            };
            let (mut vectors, mut refused) = (Vec::new(), Vec::new());
            for (node, text, vector) in texts {
                match vector {
                    Ok(vector) => vectors.push(NodeVector { node, vector }),
                    Err(error) => refused.push(refusal(stage, node, &text, &error)),
                }
            }
            report.vectors += vectors.len() + of_sentences.len();
            // First: a chunk that has its vector is done.
            if !of_sentences.is_empty() {
                let sentences = VectorSet::Atoms(AtomKind::Sentence);
                tools.base.put_vectors(sentences, embedder.name(), of_sentences).await?;
            }
            tools.base.put_vectors(set, embedder.name(), vectors).await?;
            if !refused.is_empty() {
                for refusal in &refused {
                    report.note_refusal(&refusal.label, refusal.reason.clone());
                }
                tools.base.put_refusals(refused, Vec::new()).await?;
            }
            (job.watch)(Progress::Stage { name: NAME, done: report.vectors, total: 0 });
        }
        Ok(Ok(()))
    };
    // Sending fails only where storing has ended, and then that says why.
    future::join(calling, storing).await.1
}

/// The texts of a set without a vector, batch by batch.
fn missing<'a>(
    base: &'a dyn KnowledgeWriter,
    set: VectorSet,
    embedder: &'a str,
    batch: usize,
) -> BoxStream<'a, Result<Vec<TextToEmbed>, StoreError>> {
    stream::try_unfold(None, move |after: Option<NodeId>| async move {
        let texts = base.without_vector(set, embedder, after, batch).await?;
        let last = texts.last().map(|text| text.node);
        Ok(last.map(|last| (texts, Some(last))))
    })
    .boxed()
}

/// An embedder, what it has refused before, and whether it takes any text at all: one that takes none is set up
/// wrongly, and that is no matter of the texts.
pub(crate) struct Embedding<'a> {
    embedder: &'a dyn Embedder,
    stage: Stage,
    refused: HashSet<NodeId>,
    takes_any: Mutex<Option<bool>>,
}

impl<'a> Embedding<'a> {
    /// `None` without an embedder.
    pub(crate) async fn of(job: &Job<'a>) -> Result<Option<Self>, StoreError> {
        let Some(embedder) = job.tools.embedder.as_deref() else { return Ok(None) };
        let stage = Stage::embed(embedder.name());
        let refusals = job.tools.base.refusals().await?.into_iter();
        let ours = refusals.filter(|refusal| refusal.stage == stage);
        let refused = ours.map(|refusal| refusal.node).collect();
        Ok(Some(Self { embedder, stage, refused, takes_any: Mutex::default() }))
    }
}

impl Embedding<'_> {
    /// What became of the texts of a set, and the vectors of the sentences that were read with them.
    async fn of_batch(
        &self,
        base: &dyn KnowledgeWriter,
        set: VectorSet,
        nodes: &[NodeId],
        texts: &[String],
    ) -> Result<Result<(Vec<Embedded>, Vec<NodeVector>), ModelError>, StoreError> {
        if set == VectorSet::Chunks && self.embedder.reads_parts() {
            let chunks = Chunks::of(base, nodes, texts).await?;
            match self.embedder.embed_parted(&chunks.texts).await {
                Ok(vectors) => {
                    let (wholes, sentences) = chunks.apart(vectors);
                    return Ok(Ok((wholes.into_iter().map(Ok).collect(), sentences)));
                }
                // Some text is in the way: by themselves the others have their vectors.
                Err(ModelError::Refused { .. } | ModelError::Broken { .. }) => {}
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(self.each(texts).await.map(|vectors| (vectors, Vec::new())))
    }

    /// A vector for each text, or why it has none: a batch that is refused, or whose vectors cannot be used, is halved
    /// until the texts are found that it is for. Fails where every call would.
    fn each<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Embedded>, ModelError>> {
        Box::pin(async move {
            if texts.is_empty() {
                return Ok(Vec::new());
            }
            match self.embedder.embed(texts).await {
                Ok(vectors) => Ok(vectors.into_iter().map(Ok).collect()),
                Err(error @ (ModelError::Refused { .. } | ModelError::Broken { .. }))
                    if self.takes_any().await =>
                {
                    if texts.len() == 1 {
                        return Ok(vec![Err(error)]);
                    }
                    let (one, other) = texts.split_at(texts.len() / 2);
                    let mut all = self.each(one).await?;
                    all.extend(self.each(other).await?);
                    Ok(all)
                }
                Err(error) => Err(error),
            }
        })
    }

    /// Whether a word that nobody objects to gets its vector; asked once.
    async fn takes_any(&self) -> bool {
        let mut known = self.takes_any.lock().await;
        match *known {
            Some(known) => known,
            None => {
                let takes = self.embedder.embed(&["text".to_owned()]).await.is_ok();
                *known.insert(takes)
            }
        }
    }
}

type Embedded = Result<Vector, ModelError>;

/// Each text with its node and what became of it.
fn with_texts(
    nodes: Vec<NodeId>,
    texts: Vec<String>,
    vectors: Vec<Embedded>,
) -> Vec<(NodeId, String, Embedded)> {
    let with_text = nodes.into_iter().zip(texts).zip(vectors);
    with_text.map(|((node, text), vector)| (node, text, vector)).collect()
}

/// What to note of a text that has no vector; people know it by how it begins.
fn refusal(stage: &Stage, node: NodeId, text: &str, error: &ModelError) -> Refusal {
    const CHARACTERS: usize = 60;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let label = match words.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("“{}…”", words.get(..end).unwrap_or_default()),
        None => format!("“{words}”"),
    };
    let cause = match error {
        ModelError::Broken { .. } => RefusalCause::Unreadable,
        _ => RefusalCause::Refused,
    };
    Refusal { stage: stage.clone(), node, label, cause, reason: error_chain(error) }
}
