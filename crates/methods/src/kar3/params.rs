//! Defines the parameters of Algorithm 1, its ablations, and our additions (KAR³ §3.4, §4.1, Table 3).

use std::num::NonZeroUsize;

use pikerag_knowledge::{AtomKind, Role};
use pikerag_retrieve::SearchParams;
use serde::{Deserialize, Serialize};

use crate::decompose::{Proposer, Selector};
use crate::retrieval::{DELTA, RULE, Rule};
use crate::spec::{
    Cost, MethodParams, MethodSpec, Parameter, Range, Variant, Weights, WithoutModel, field, json,
    put,
};

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
    /// Algorithm 1 and nothing else: no backup, no fallback, no second reading. The selector must choose, as
    /// in the prompt of §A.7.
    Paper,
    /// With our additions: there is a backup, and the selector may report that the context is enough. Chunks of the question are read beside the chosen ones, and a second reading
    /// follows where the first says what it lacks.
    Ours,
}

/// Which chunks are read beside those that the loop chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Fallback {
    /// Chunks of the search `auto`.
    Auto,
    /// Chunks of hop retrieval.
    Hops,
    /// Chunks of all layers (PIKE-RAG §5.2.3).
    Layers,
    /// Chunks of naive RAG.
    Plain,
    /// None, as in the paper: a model may then have to answer from nothing.
    Off,
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
    /// The least similarity of an atom (δ); `None`: by the rule.
    pub delta: Option<f32>,
    /// Whether δ and the kinds of atoms are the paper's or the base's.
    pub rule: Rule,
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
            rule: Rule::Calibrated,
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
    /// δ where it is not calibrated: as set, else the paper's.
    pub fn least_similarity(&self) -> Option<f32> {
        self.delta.or((self.rule == Rule::Printed).then_some(DELTA))
    }

    /// As printed.
    fn print(&mut self) {
        (self.mode, self.rule) = (Mode::Paper, Rule::Printed);
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
                Self::print,
            ),
            Variant::new(
                "kar3-sentences",
                "an ablation of it: sentences in place of atomic questions",
                "KAR³ Table 3",
                |params| {
                    params.print();
                    params.atomizer = AtomKind::Sentence;
                },
            ),
            Variant::new(
                "kar3-one-proposal",
                "an ablation of it: one sub-question at a time",
                "KAR³ Table 3",
                |params| {
                    params.print();
                    params.proposer = Proposer::One;
                },
            ),
            Variant::new(
                "kar3-chunk-retriever",
                "an ablation of it: chunks are retrieved in place of atoms",
                "KAR³ Table 3",
                |params| {
                    params.print();
                    params.retriever = Retriever::Chunks;
                },
            ),
            Variant::new(
                "kar3-chunk-selector",
                "an ablation of it: the selector sees whole chunks",
                "KAR³ Table 3",
                |params| {
                    params.print();
                    params.selector = Selector::ByChunk;
                },
            ),
            Variant::new(
                "kar3-trained",
                "a trained proposer's one call replaces proposing and selecting",
                "PIKE-RAG §5.3.3",
                |params| params.proposer = Proposer::Trained,
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
            Parameter {
                name: "rule",
                meaning: RULE,
                range: Range::of::<Rule>(),
                get: |params| json!(params.rule),
                set: |params, value| put(&mut params.rule, value),
            },
            field!(
                proposer,
                "sub-questions of a round: many, one, or one by a trained model, whose call replaces the selection too",
                Range::of::<Proposer>()
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

    /// Those of a printed search.
    fn needed_atoms(&self) -> Option<AtomKind> {
        let is_printed =
            (self.mode, self.rule) == (Mode::Paper, Rule::Printed) && self.hop_candidates == 0;
        (is_printed && self.retriever == Retriever::AtomPairs).then_some(self.atomizer)
    }

    fn weigh(&mut self, weights: &Weights) {
        self.weights = weights.searches();
    }

    fn weights(&self) -> Weights {
        let SearchParams { auto, hops, layers } = self.weights;
        Weights { auto, hops, layers, ..Weights::default() }
    }
}
