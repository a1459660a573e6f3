//! Makes the vectors of texts, set by set, with several calls at a time, and stores each batch at once. While
//! a model writes atoms, it also embeds these.

use std::collections::{BTreeMap, HashSet};

use futures::channel::mpsc;
use futures::future::{self, BoxFuture, FutureExt};
use futures::lock::Mutex;
use futures::stream::{self, BoxStream, StreamExt};
use pikerag_knowledge::{
    AtomKind, Embedder, KnowledgeWriter, ModelError, NodeId, NodeVector, Refusal, RefusalCause,
    Stage, StoreError, TextToEmbed, Vector, VectorSet, error_chain,
};

use super::fresh::NewAtom;
use super::outcome::{Progress, Report};
use super::parts::Chunks;
use super::stage::Job;

/// The name of this stage's results, as shown to people.
pub(crate) const NAME: &str = "vectors";

/// Makes vectors while atoms are made: of all chunks, and of atoms as they arrive, in full batches.
/// Returns their number and the refused texts. The first failed call ends it; [`embed`] tries again and
/// reports.
pub(crate) async fn embed_new_atoms(
    job: &Job<'_>,
    new_atoms: mpsc::Receiver<NewAtom>,
) -> Result<Report, StoreError> {
    let (tools, params) = (job.tools, job.plan.params);
    let mut report = Report::default();
    let Some(embedding) = Embedding::of(job).await? else { return Ok(report) };
    let embedder = embedding.embedder;
    // Sentences are embedded with their chunks, once all of them are stored.
    let with_chunks = embedder.reads_parts() && params.atoms.contains(&AtomKind::Sentence);
    let silent = Job { watch: &|_| (), new_atoms: None, ..*job };
    if !with_chunks
        && let Err(error) = embed_set(&silent, &embedding, VectorSet::Chunks, &mut report).await?
    {
        return recordable(error).map(|()| report);
    }
    let is_ours = |atom: &NewAtom| future::ready(!with_chunks || atom.kind != AtomKind::Sentence);
    let calls =
        new_atoms.filter(is_ours).chunks(params.embed_batch.max(1)).map(|batch| async move {
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

/// Fails if the ledger cannot record calls, because each try would be paid again. Other errors can be tried
/// again.
fn recordable(error: ModelError) -> Result<(), StoreError> {
    match error {
        ModelError::Ledger { source } => Err(*source),
        _ => Ok(()),
    }
}

/// Makes the missing vectors of every layer, up to the first failed call, which ends the run.
pub(crate) async fn embed(job: &Job<'_>, report: &mut Report) -> Result<(), StoreError> {
    // Every kind of atom in the base, not only those of this run, so that all vectors come from one
    // embedder.
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
            note_stop(&error, report);
            return Ok(());
        }
    }
    Ok(())
}

/// Notes that a model's error ends the run.
pub(crate) fn note_stop(error: &ModelError, report: &mut Report) {
    report.stop(error_chain(error), Some(error));
}

/// Makes the missing vectors of one set, up to the first failed call. A text that the embedder refuses is
/// noted and left out until a retry is requested.
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
        // Owns the receiver, so that the channel and the calls end if storing ends early.
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
            // Before the chunks, because a chunk with a vector counts as done.
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
    // Sending fails only after storing has ended, and storing returns the reason.
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

/// An embedder, the texts it has refused, and whether it accepts any text. One that accepts none is
/// misconfigured, so the texts are not at fault.
pub(crate) struct Embedding<'a> {
    embedder: &'a dyn Embedder,
    stage: Stage,
    refused: HashSet<NodeId>,
    accepts_any: Mutex<Option<bool>>,
}

impl<'a> Embedding<'a> {
    /// The embedder of a run; `None` if there is none.
    pub(crate) async fn of(job: &Job<'a>) -> Result<Option<Self>, StoreError> {
        let Some(embedder) = job.tools.embedder.as_deref() else { return Ok(None) };
        let stage = Stage::embed(embedder.name());
        let refusals = job.tools.base.refusals().await?.into_iter();
        let ours = refusals.filter(|refusal| refusal.stage == stage);
        let refused = ours.map(|refusal| refusal.node).collect();
        Ok(Some(Self { embedder, stage, refused, accepts_any: Mutex::default() }))
    }
}

impl Embedding<'_> {
    /// The vectors or errors of a set's texts, and the vectors of the sentences read with them.
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
                    let (wholes, sentences) = chunks.split_vectors(vectors);
                    return Ok(Ok((wholes.into_iter().map(Ok).collect(), sentences)));
                }
                // Some text is refused: the others are embedded separately below.
                Err(ModelError::Refused { .. } | ModelError::Broken { .. }) => {}
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(self.each(texts).await.map(|vectors| (vectors, Vec::new())))
    }

    /// A vector or an error for each text. A batch that is refused, or whose vectors cannot be used, is
    /// halved until the refused texts are found. Fails if every call would fail.
    fn each<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Embedded>, ModelError>> {
        Box::pin(async move {
            if texts.is_empty() {
                return Ok(Vec::new());
            }
            match self.embedder.embed(texts).await {
                Ok(vectors) => Ok(vectors.into_iter().map(Ok).collect()),
                Err(error @ (ModelError::Refused { .. } | ModelError::Broken { .. }))
                    if self.accepts_any().await =>
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

    /// Whether the embedder accepts a harmless word; asked once.
    async fn accepts_any(&self) -> bool {
        let mut known = self.accepts_any.lock().await;
        match *known {
            Some(known) => known,
            None => {
                let accepts = self.embedder.embed(&["text".to_owned()]).await.is_ok();
                *known.insert(accepts)
            }
        }
    }
}

type Embedded = Result<Vector, ModelError>;

/// Each text with its node, and with its vector or error.
fn with_texts(
    nodes: Vec<NodeId>,
    texts: Vec<String>,
    vectors: Vec<Embedded>,
) -> Vec<(NodeId, String, Embedded)> {
    let with_text = nodes.into_iter().zip(texts).zip(vectors);
    with_text.map(|((node, text), vector)| (node, text, vector)).collect()
}

/// The note on a text without a vector; its label is the beginning of the text.
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
