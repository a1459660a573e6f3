//! Looks a query up in one retrieval, as chunks or as chunks and atoms, and records it in the trace (KAR³
//! §A.3; PIKE-RAG Fig. 11).

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use crate::context::Rules;
use pikerag_knowledge::{
    AnswerForm, AtomKind, Candidate, Chunk, ChunkId, Context, Event, Question, Role, Via,
};
use pikerag_reason::{Reading, read};
use pikerag_retrieve::{
    Hit, LayerParams, Search, SearchParams, atoms, hybrid, layers, nearest, search,
};

use crate::candidates::{atom_candidates, chunk_candidates};
use crate::conclude::supported;
use crate::fitting::fitted;
use crate::narrowing::Narrowed;
use crate::organizing::gathered;
use crate::ports::{Ports, SolveError};
use crate::recall::verified_passages;
use crate::run::Run;
use crate::spec::{Parameter, Range, json, read as read_value};
use crate::tag_use::TagUse;
use serde::{Deserialize, Serialize};

/// Tokens that our own methods of one retrieval read, at most: chunks of any length for the price of sixteen
/// paragraphs of Wikipedia.
pub const CONTEXT_TOKENS: Option<NonZeroU32> = NonZeroU32::new(2000);

/// How chunks are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Path {
    /// By meaning, as in the papers; by words where there is no embedder.
    Meaning,
    /// By words and meaning, fused.
    Hybrid,
    /// Over all layers, spread along edges.
    Layers(LayerParams),
    /// The search `auto`: hops, layers and words, fused.
    Auto(SearchParams),
}

/// How a search of atoms fits itself to the base. The methods of one table follow one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Rule {
    /// The papers' thresholds of 0.5, and one kind of atoms (KAR³ §A.3; PIKE-RAG §6.1).
    Printed,
    /// Thresholds are lowered to the base's own δ, see [`least_similarity`]; where no atomic question fits,
    /// statements and then sentences are searched.
    Calibrated,
}

/// How much one retrieval returns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetrievalParams {
    /// How chunks are found.
    pub path: Path,
    /// Chunks by path (a).
    pub chunks: usize,
    /// The least cosine of those.
    pub chunk_min_score: f32,
    /// Atoms by path (b); 0 for `R`, more for `H-R`.
    pub atoms: usize,
    /// The least cosine of those.
    pub atom_min_score: f32,
    /// Whether both least cosines are lowered to the base's own δ where that is lower: 0.5 fits the papers' embedder.
    pub calibrates: bool,
    /// Whether statements or sentences are searched where no atomic question fits.
    pub any_atoms: bool,
    /// Tokens of all chunks that are read, at most: the first whatever its length, then each in order that
    /// still fits. Naive RAG and its variants use it.
    pub tokens: Option<NonZeroU32>,
    /// What the question's tags are used for; naive RAG and its variants use it.
    pub tags: TagUse,
}

impl Default for RetrievalParams {
    fn default() -> Self {
        Self::chunks()
    }
}

impl RetrievalParams {
    /// `R` for a whole question: 16 chunks, score ≥ 0.2 (KAR³ §A.3).
    pub fn chunks() -> Self {
        let tags = TagUse::Off;
        Self {
            path: Path::Meaning,
            chunks: 16,
            chunk_min_score: 0.2,
            atoms: 0,
            atom_min_score: 0.5,
            calibrates: false,
            any_atoms: false,
            tokens: None,
            tags,
        }
    }

    /// `R` for one sub-question or sentence: 4 chunks, score ≥ 0.2 (KAR³ §A.3).
    pub fn step() -> Self {
        Self { chunks: 4, ..Self::chunks() }
    }

    /// `R` of the top `k`, whatever their score (RA-ISF §4.3, CRP-RAG §4.3).
    pub fn top(k: usize) -> Self {
        Self { chunks: k, chunk_min_score: -1.0, ..Self::chunks() }
    }

    /// Ours: by words and meaning, as many chunks as 2,000 tokens hold.
    pub fn hybrid() -> Self {
        Self { path: Path::Hybrid, ..Self::within_tokens() }
    }

    /// Ours: over all layers (PIKE-RAG §5.2.3), as many chunks as 2,000 tokens hold.
    pub fn layers() -> Self {
        Self { path: Path::Layers(LayerParams::default()), ..Self::within_tokens() }
    }

    /// Ours: by the search `auto`, as many chunks as 2,000 tokens hold.
    pub fn auto() -> Self {
        Self { path: Path::Auto(SearchParams::default()), ..Self::within_tokens() }
    }

    fn within_tokens() -> Self {
        Self { chunks: 32, tokens: CONTEXT_TOKENS, ..Self::chunks() }
    }

    /// The same with the user's weights, where its path has weights.
    #[must_use]
    pub fn weighed(self, weights: SearchParams) -> Self {
        match self.path {
            Path::Layers(_) => Self { path: Path::Layers(weights.layers), ..self },
            Path::Auto(_) => Self { path: Path::Auto(weights), ..self },
            _ => self,
        }
    }

    /// `H-R`: 8 chunks, score ≥ 0.5, and those of 4 atoms, score ≥ 0.5 (KAR³ §A.3); or ≥ δ, where that is lower.
    pub fn hierarchical() -> Self {
        let own = Self { chunks: 8, chunk_min_score: 0.5, atoms: 4, ..Self::chunks() };
        own.by(Rule::Calibrated)
    }

    /// The same by a rule.
    #[must_use]
    pub fn by(self, rule: Rule) -> Self {
        let is_calibrated = rule == Rule::Calibrated;
        Self { calibrates: is_calibrated, any_atoms: is_calibrated, ..self }
    }

    /// The rule of a search of atoms; `None` where no atoms are searched, or δ is set.
    pub fn rule(&self) -> Option<Rule> {
        match (self.atoms, self.calibrates, self.any_atoms) {
            (0, ..) | (_, true, false) | (_, false, true) => None,
            (_, true, true) => Some(Rule::Calibrated),
            (_, false, false) => Some(Rule::Printed),
        }
    }
}

/// What the setting `rule` means.
pub const RULE: &str = "how a search of atoms fits itself to the base: the papers' thresholds and atomic questions alone, or thresholds lowered to the base's own and other atoms where no question fits";

/// The setting `rule` of a retrieval.
pub const RULE_OF_RETRIEVAL: Parameter<RetrievalParams> = Parameter {
    name: "rule",
    meaning: RULE,
    range: Range::of::<Rule>(),
    get: |params| json!(params.rule()),
    set: |params, value| {
        let rule = read_value(value)?;
        (0 < params.atoms).then(|| *params = params.by(rule))
    },
};

/// Finds candidates for a query, best first, each chunk once: chunks, reranked if a reranker is set, before atoms.
pub async fn retrieve(
    ports: &Ports,
    query: &str,
    params: RetrievalParams,
) -> Result<Vec<Candidate>, SolveError> {
    let mut params = params;
    if params.calibrates {
        let delta = least_similarity(ports, AtomKind::Question).await?;
        params.chunk_min_score = params.chunk_min_score.min(delta);
        params.atom_min_score = params.atom_min_score.min(delta);
    }
    let look_up = |k| async move {
        match params.path {
            Path::Meaning => nearest(ports.finder(), query, k, params.chunk_min_score).await,
            Path::Hybrid => hybrid(ports.finder(), query, k).await,
            Path::Layers(weights) => layers(ports.finder(), query, k, weights).await,
            Path::Auto(weights) => search(ports.finder(), Search::Auto, query, k, weights).await,
        }
    };
    let hits = ports.best(query, params.chunks, look_up).await?;
    let mut candidates = chunk_candidates(ports, &hits, Via::Chunks, query).await?;
    if let Path::Auto(_) = params.path {
        candidates = verified_first(ports, query, candidates).await?;
    }
    if 0 < params.atoms {
        let asked = [query.to_owned()];
        let (k, floor) = (params.atoms, params.atom_min_score);
        let mut found = Vec::new();
        // A base made without a model has sentences in place of questions.
        let kinds = match params.any_atoms {
            true => AtomKind::Question.or_else(),
            false => &[AtomKind::Question],
        };
        for kind in kinds {
            if found.is_empty() {
                found = atoms(ports.finder(), *kind, &asked, k, floor, &[]).await?;
            }
        }
        for candidate in atom_candidates(ports, &found, &asked, Via::Atoms).await? {
            if !candidates.iter().any(|held| held.chunk == candidate.chunk) {
                candidates.push(candidate);
            }
        }
    }
    Ok(candidates)
}

/// Puts the evidence of verified answers to similar questions first, because a person has checked it.
async fn verified_first(
    ports: &Ports,
    query: &str,
    candidates: Vec<Candidate>,
) -> Result<Vec<Candidate>, SolveError> {
    let verified_passages = verified_passages(ports, query).await?;
    if verified_passages.is_empty() {
        return Ok(candidates);
    }
    let hit = |(chunk, share): (ChunkId, f64)| Hit {
        chunk,
        score: share as f32,
        parts: BTreeMap::from([("alike".to_owned(), share as f32)]),
    };
    let hits: Vec<Hit> = verified_passages.into_iter().map(hit).collect();
    let mut all = chunk_candidates(ports, &hits, Via::Verified, query).await?;
    for candidate in candidates {
        if !all.iter().any(|held| held.chunk == candidate.chunk) {
            all.push(candidate);
        }
    }
    Ok(all)
}

/// δ where none is set: the cosine that 95 % of the base's own unrelated atoms stay below, at most [`DELTA`].
/// One embedder gives unrelated texts 0.1, another 0.7. With the paper's embedder, 0.5 leaves out hardly
/// anything; with many local ones it leaves out answers.
pub async fn least_similarity(ports: &Ports, kind: AtomKind) -> Result<f32, SolveError> {
    if ports.embedder.is_none() {
        return Ok(DELTA);
    }
    let mut calibrated = None;
    for kind in kind.or_else() {
        if calibrated.is_none() {
            calibrated = ports.base.unrelated_similarity(*kind, UNRELATED).await?;
        }
    }
    Ok(calibrated.filter(|delta| *delta < DELTA).unwrap_or(DELTA))
}

/// The share of unrelated pairs of atoms that δ leaves out where it is calibrated.
const UNRELATED: f32 = 0.95;
/// The paper's δ (KAR³ §4.1); also where the base is too small to calibrate, and where words are compared.
pub const DELTA: f32 = 0.5;

/// Looks a query up in round `hop`, records the candidates in the trace, and returns the chunks, best first.
pub async fn look_up(
    ports: &Ports,
    run: &mut Run,
    hop: usize,
    query: &str,
    params: RetrievalParams,
) -> Result<Vec<Chunk>, SolveError> {
    let candidates = retrieve(ports, query, params).await?;
    let (candidates, chunks) = gathered(ports, run, candidates, Rules::all()).await?;
    run.push(Event::Retrieved { hop, candidates });
    Ok(chunks)
}

/// A sub-question of a step, which asks for a short answer.
pub fn sub_question(text: &str) -> Question {
    Question { form: AnswerForm::Short, ..Question::new("", text) }
}

/// Answers a question or sub-question from chunks and notes; `None` where the reply stayed unreadable.
pub async fn answer_step(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    context: &Context,
    notes: &str,
) -> Result<Option<Reading>, SolveError> {
    let model = ports.models.need(Role::Answer)?;
    let shown = fitted(ports, question, context, notes, run).await?;
    let narrowed = Narrowed::new(model, question, shown.chunks.len(), run);
    let length = run.reply_length();
    let asked = read(&narrowed, question, (&*shown, notes), length, &mut run.account).await;
    let reading = run.readable(Role::Answer, asked)?;
    Ok(reading.map(|reading| supported(question, context, length, reading)))
}
