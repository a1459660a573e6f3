//! Answers a question by knowledge-aware decomposition (`kar3`: KAR³ §3.4, Algorithm 1).

mod candidates;
mod reading;

use std::collections::HashSet;
use std::num::NonZeroUsize;

use pikerag_knowledge::{
    Answer, AtomKind, Candidate, Context, Event, Note, Question, Role, StopReason,
};
use pikerag_retrieve::{SearchParams, Walk};
use serde::{Deserialize, Serialize};
use tracing::field::Empty;
use tracing::{Span, instrument};

pub use self::candidates::Fallback;
use crate::candidates::fetch;
use crate::conclude::conclude;
use crate::decompose::{Choice, Proposer, Selection, Selector, propose, propose_words, select};
use crate::ports::{Ports, SolveError};
pub use crate::retrieval::DELTA;
use crate::retrieval::least_similarity;
use crate::run::Run;
use crate::spec::{Cost, MethodParams, MethodSpec, Range, Variant, Weights, WithoutModel, field};
use crate::tagging::trace_declared;

/// How candidates are found (KAR³ Table 3, "Atomic Retriever").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Retriever {
    /// The paper's: (atom, chunk) pairs.
    AtomPairs,
    /// The ablation: chunks, each shown by the atom that fits the proposal best.
    Chunks,
}

/// Whether the algorithm runs as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Algorithm 1 and nothing else: δ = 0.5 unless set, no backup, no fallback, no second reading. The
    /// selector must choose, as in the prompt of §A.7.
    Paper,
    /// With our additions: δ is calibrated on the base, there is a backup, and the selector may report that
    /// the context is enough. Chunks of the question are read beside the chosen ones, and a second reading
    /// follows where the first says what it lacks.
    Ours,
}

/// The parameters of Algorithm 1 and its four ablations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Whether the algorithm runs as printed.
    pub mode: Mode,
    /// The most rounds (N).
    pub n: NonZeroUsize,
    /// Candidates for each proposal (k).
    pub k: NonZeroUsize,
    /// The least similarity of an atom (δ); `None`: calibrated on the base, see `least_similarity`.
    pub delta: Option<f32>,
    /// The least similarity of a chunk, where chunks are retrieved (§A.3).
    pub chunk_min_score: f32,
    /// Questions, or sentences in an ablation.
    pub atomizer: AtomKind,
    /// How many proposals a round brings.
    pub proposer: Proposer,
    /// How candidates are found.
    pub retriever: Retriever,
    /// What the selector sees.
    pub selector: Selector,
    /// Candidates that hop retrieval adds to each round; 0 in the paper.
    pub hop_candidates: usize,
    /// Which chunks are read beside the chosen ones; not in the paper.
    pub fallback: Fallback,
    /// The weights of searches, where they are used.
    pub weights: SearchParams,
}

impl Default for Params {
    /// N = 5, k = 4 (§4.1). The paper's δ = 0.5 fits its embedder, text-embedding-ada-002.
    fn default() -> Self {
        Self {
            mode: Mode::Ours,
            n: const { NonZeroUsize::new(5).unwrap() },
            k: const { NonZeroUsize::new(4).unwrap() },
            delta: None,
            chunk_min_score: 0.2,
            atomizer: AtomKind::Question,
            proposer: Proposer::Many,
            retriever: Retriever::AtomPairs,
            selector: Selector::ByAtom,
            hop_candidates: 0,
            fallback: Fallback::Auto,
            weights: SearchParams::default(),
        }
    }
}

impl Params {
    /// δ where it is not calibrated: as set, else the paper's in [`Mode::Paper`].
    pub fn least_similarity(&self) -> Option<f32> {
        self.delta.or((self.mode == Mode::Paper).then_some(DELTA))
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[
            Variant::new(
                "kar3",
                "proposes sub-questions, retrieves atoms, selects one, adds its chunk, up to N times",
                "KAR³ Algorithm 1, with our additions",
                |_| {},
            ),
            Variant::new(
                "kar3-paper",
                "Algorithm 1 as printed: δ = 0.5, no backup, no fallback",
                "KAR³ Algorithm 1",
                |params| params.mode = Mode::Paper,
            ),
            Variant::new(
                "kar3-sentences",
                "an ablation of it: sentences in place of atomic questions",
                "KAR³ Table 3",
                |params| (params.mode, params.atomizer) = (Mode::Paper, AtomKind::Sentence),
            ),
            Variant::new(
                "kar3-one-proposal",
                "an ablation of it: one sub-question at a time",
                "KAR³ Table 3",
                |params| (params.mode, params.proposer) = (Mode::Paper, Proposer::One),
            ),
            Variant::new(
                "kar3-chunk-retriever",
                "an ablation of it: chunks are retrieved in place of atoms",
                "KAR³ Table 3",
                |params| (params.mode, params.retriever) = (Mode::Paper, Retriever::Chunks),
            ),
            Variant::new(
                "kar3-chunk-selector",
                "an ablation of it: the selector sees whole chunks",
                "KAR³ Table 3",
                |params| (params.mode, params.selector) = (Mode::Paper, Selector::ByChunk),
            ),
            Variant::new("kar3-hops", "hop retrieval adds candidates", "ours", |params| {
                params.hop_candidates = 4;
            }),
        ],
        parameters: &[
            field!(n, "the most rounds (N)", Range::COUNT),
            field!(k, "candidates for each proposal (k)", Range::COUNT),
            field!(
                delta,
                "the least similarity of an atom (δ); if not set, calibrated on the base",
                Range::Number((-1.0, 1.0))
            ),
            field!(
                fallback,
                "chunks of the question that are read beside the chosen ones, more of them where the loop found nothing or broke off: by auto, hops, layers, plain retrieval, or none",
                Range::of::<Fallback>()
            ),
        ],
        roles: &[Role::Propose, Role::Select, Role::Answer],
        without_model: WithoutModel::HopRetrieval,
        needs: None,
        cost: |params| Cost {
            calls: 1.4 * params.n.get() as f64,
            // The last one is the second reading, which the paper's mode does not have.
            most_calls: 2 * params.n.get() as u64 + 2,
            // One call of seven also reads chunks of the question.
            chunks: 0.3 * params.n.get() as f64 + if params.mode == Mode::Ours { 1.0 } else { 0.0 },
            most_chunks: (params.n.get() as u64 + 16)
                .max(params.n.get() as u64 + 4 * params.k.get() as u64),
            most_chunk_tokens: None,
            rounds: params.n.get() as u64,
            fixed: if params.mode == Mode::Paper { 650 } else { 400 },
            reply: if params.mode == Mode::Paper { 330 } else { 110 },
            basis: "Algorithm 1: at most 2N + 2 calls, seven as measured; KAR³ Table 11: 6525 + 2295 tokens",
        },
    };

    fn weigh(&mut self, weights: &Weights) {
        self.weights = weights.searches();
    }

    fn weights(&self) -> Weights {
        let SearchParams { auto, hops, layers } = self.weights;
        Weights { auto, hops, layers, ..Weights::default() }
    }
}

/// Answers `question` hop by hop: at most `2n + 2` chat calls (the paper's: `2n + 1`), each asked at most twice.
///
/// Without models for proposing and selecting, the loop runs on hop retrieval: it proposes the words that the
/// chosen chunks still lack, follows the links of these chunks, and selects the best new one.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "kar3", skip_all, fields(question = %question.id, hops = Empty))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    let params = Params { delta: Some(delta(ports, params, run).await?), ..params };
    trace_declared(ports, run, question.query()).await?;
    let mut context = Context::default(); // Line 1: C ← ∅.
    let mut walk = match uses_hops(ports, params) {
        true => Some(Walk::begin(ports.finder(), question.query(), params.weights.hops).await?),
        false => None,
    };
    for hop in 1..=params.n.get() {
        let Some(proposals) = line_3(ports, question, &context, params, hop, run).await? else {
            break; // Nothing more to ask.
        };
        let found = line_4(ports, question, &context, &proposals, params, walk.as_ref()).await?;
        if found.is_empty() {
            note_missing_atoms(ports, params, run).await?;
            run.push(Event::Stopped { hop, reason: StopReason::NothingFound });
            break;
        }
        run.push(Event::Retrieved { hop, candidates: found.clone() });
        let Some(chosen) = line_5(ports, question, &context, &found, params, hop, run).await?
        else {
            break; // Lines 6–8: nothing new would help.
        };
        for chunk in fetch(ports, &[chosen]).await? {
            if let Some(walk) = &mut walk {
                walk.take(ports.finder(), chunk.id).await?;
            }
            context.add(hop, chunk); // Lines 10, 11: C ← C ∪ {c}.
        }
        if hop == params.n.get() {
            run.push(Event::Stopped { hop, reason: StopReason::HopLimit });
        }
    }
    Span::current().record("hops", context.chunks.len());
    let is_ours = params.mode == Mode::Ours;
    if is_ours {
        reading::fill_up(ports, question, &mut context, params, run).await?;
    }
    if is_ours && !offline(ports) && ports.models.of(Role::Answer).is_some() {
        return reading::read_twice(ports, question, context, params, run).await;
    }
    conclude(ports, question, context, run).await // Line 14: â ← LLM(q, C).
}

/// Notes that the base has no atomic questions: without them the algorithm as printed finds nothing.
async fn note_missing_atoms(
    ports: &Ports,
    params: Params,
    run: &mut Run,
) -> Result<(), SolveError> {
    let wants_questions = (params.mode, params.retriever, params.atomizer)
        == (Mode::Paper, Retriever::AtomPairs, AtomKind::Question);
    if wants_questions {
        let base = ports.base.summary().await?;
        if base.questions + base.statements == 0 {
            run.push(Event::Noted { note: Note::NoAtomicQuestions.into() });
        }
    }
    Ok(())
}

/// δ: as the user set it, or calibrated on the base's own atoms, or the paper's.
async fn delta(ports: &Ports, params: Params, run: &mut Run) -> Result<f32, SolveError> {
    if let Some(delta) = params.least_similarity() {
        return Ok(delta);
    }
    if offline(ports) {
        return Ok(DELTA);
    }
    let delta = least_similarity(ports, params.atomizer).await?;
    if delta < DELTA {
        run.push(Event::Noted { note: Note::Calibrated { delta: f64::from(delta) }.into() });
    }
    Ok(delta)
}

/// Whether hop retrieval takes part: as a source of candidates, or as the whole loop offline.
fn uses_hops(ports: &Ports, params: Params) -> bool {
    0 < params.hop_candidates || offline(ports)
}

fn offline(ports: &Ports) -> bool {
    ports.models.of(Role::Propose).is_none() || ports.models.of(Role::Select).is_none()
}

/// Line 3: `q̂ᵗ ← f_p(q, Cᵗ⁻¹)`; `None` ends the loop.
async fn line_3(
    ports: &Ports,
    question: &Question,
    context: &Context,
    params: Params,
    hop: usize,
    run: &mut Run,
) -> Result<Option<Vec<String>>, SolveError> {
    let proposals = match ports.models.of(Role::Propose) {
        Some(model) if !offline(ports) => {
            propose(model, question, context, params.proposer, run).await?
        }
        _ => Some(propose_words(question, context)),
    };
    let Some(proposals) = proposals else {
        run.push(Event::Stopped { hop, reason: StopReason::Unreadable });
        return Ok(None);
    };
    let questions = run.proposed(hop, proposals.thinking, proposals.questions)?;
    if questions.is_empty() {
        run.push(Event::Stopped { hop, reason: StopReason::NothingProposed });
        return Ok(None);
    }
    Ok(Some(questions))
}

/// Line 4: `P ← R_atom(q̂ᵗ, f_a(D))`, backed up by the question itself, on atoms and then on chunks.
async fn line_4(
    ports: &Ports,
    question: &Question,
    context: &Context,
    proposals: &[String],
    params: Params,
    walk: Option<&Walk>,
) -> Result<Vec<Candidate>, SolveError> {
    let mut found = Vec::new();
    if !offline(ports) {
        found = candidates::by_proposals(ports, context, proposals, params).await?;
        if found.is_empty() && params.mode == Mode::Ours {
            found = candidates::backup(ports, question, context, params).await?;
        }
    }
    if params.selector == Selector::ByChunk {
        let mut seen = HashSet::new();
        found.retain(|candidate| seen.insert(candidate.chunk));
    }
    if let Some(walk) = walk {
        let wanted = if offline(ports) { params.k.get() } else { params.hop_candidates };
        let hops = candidates::by_hops(ports, question, context, walk, wanted).await?;
        let new = hops.into_iter().filter(|hop| !found.iter().any(|held| held.chunk == hop.chunk));
        let new: Vec<Candidate> = new.collect();
        found.extend(new);
    }
    Ok(found)
}

/// Line 5: the selector's choice; `None` ends the loop.
async fn line_5(
    ports: &Ports,
    question: &Question,
    context: &Context,
    found: &[Candidate],
    params: Params,
    hop: usize,
    run: &mut Run,
) -> Result<Option<Candidate>, SolveError> {
    let selection = match ports.models.of(Role::Select) {
        Some(model) if !offline(ports) => {
            let chunks = match params.selector {
                Selector::ByAtom => Vec::new(),
                Selector::ByChunk => fetch(ports, found).await?,
            };
            let may_end = params.mode == Mode::Ours;
            let choice =
                Choice { candidates: found, chunks: &chunks, selector: params.selector, may_end };
            select(model, question, context, choice, run).await?
        }
        // Candidates come best first and none is in the context, so the first is the best new one.
        _ => Some(Selection { thinking: String::new(), index: Some(0), enough: None }),
    };
    let Some(selection) = selection else {
        run.push(Event::Stopped { hop, reason: StopReason::Unreadable });
        return Ok(None);
    };
    // Models may report that the context is enough with or without a choice. An empty context is not enough.
    let enough = selection.enough.map(|enough| enough && !context.chunks.is_empty());
    let chosen = match (selection.index, enough) {
        (_, Some(true)) | (None, None) => Err(StopReason::NothingSelected),
        (None, Some(false)) => Err(StopReason::NoneHelps),
        (Some(index), _) => Ok(index),
    };
    let thinking = selection.thinking;
    let selected = |index: usize| {
        let Candidate { chunk, title, .. } = found.get(index)?;
        Some(Event::Selected { hop, thinking, index, chunk: *chunk, title: title.clone() })
    };
    let index = run.chosen(hop, chosen, found.len(), selected)?;
    Ok(index.and_then(|index| found.get(index)).cloned())
}
