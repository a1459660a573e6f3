//! Defines the parameters of `adaptive` and describes the method.

use std::num::{NonZeroU32, NonZeroUsize};

use pikerag_knowledge::Role;
use pikerag_retrieve::SearchParams;
use serde::{Deserialize, Serialize};

use crate::context::Rules;
use crate::retrieval::CONTEXT_TOKENS;
use crate::spec::{Cost, MethodParams, MethodSpec, Range, Variant, Weights, WithoutModel, field};

/// Which call writes the answer.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Reader {
    /// As a test of the model showed (see [`super::try_out`] and `Method::reading`), else by each reply. A reply
    /// is the answer if it is readable, final as [`Ends`] has it, rests on words of the passages, and is short
    /// where the question asks for a short answer. Otherwise one more call reads the passages.
    #[default]
    AsShown,
    /// A reading round answers along with its facts.
    AtOnce,
    /// A reading round only collects facts, and one more call answers: for models that cannot do both at once.
    InTwo,
}

/// What names the sub-questions that are searched after a reading round.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Decomposer {
    /// The reading round itself.
    #[default]
    Reader,
    /// A trained proposer, the model of the role `propose`: a call for each sub-question, and one that answers it before
    /// the next. Where it has no further sub-question, those of the round are searched.
    Trained,
}

/// What a reading round reads.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Reads {
    /// The sentences of passages that fit the question best. Later rounds read new passages, and of earlier ones only
    /// sentences that the last round did not show and no fact repeats.
    #[default]
    Sentences,
    /// Whole passages; later rounds read those with facts again.
    Passages,
}

/// When the answer of a reading round needs no further call, if a reply decides ([`Reader::AsShown`]).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Ends {
    /// Also without sufficient facts, if the last round gave an answer that passages with facts hold, and a round named
    /// what is missing.
    #[default]
    Answered,
    /// Only if the round found its facts sufficient.
    Sufficient,
}

/// How many reading rounds there are, and how much each one reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Reading rounds, at most.
    pub looks: NonZeroUsize,
    /// Chunks gathered for the first round, at most.
    pub chunks: usize,
    /// Tokens of the passages in one round, at most.
    pub tokens: Option<NonZeroU32>,
    /// What a round reads.
    pub reads: Reads,
    /// Tokens of the sentences of one passage, at most, if rounds read sentences: this much for the first half of the
    /// passages of the first round, a third for the other half, and a half in later rounds.
    pub passage_tokens: u32,
    /// When the answer of a round needs no further call.
    pub ends: Ends,
    /// Sub-questions that are searched after a round, at most.
    pub lookups: usize,
    /// Chunks found for each of them, at most.
    pub found: usize,
    /// Which call writes the answer.
    pub reader: Reader,
    /// What names the sub-questions.
    pub decomposer: Decomposer,
    /// The weights of searches.
    pub weights: SearchParams,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            looks: const { NonZeroUsize::new(4).unwrap() },
            chunks: 8,
            tokens: NonZeroU32::new(1500),
            reads: Reads::Sentences,
            passage_tokens: 240,
            ends: Ends::Answered,
            lookups: 3,
            found: 3,
            reader: Reader::AsShown,
            decomposer: Decomposer::Reader,
            weights: SearchParams::default(),
        }
    }
}

impl Params {
    /// What is left out of found passages before a round chooses among them.
    pub(super) fn rules(&self) -> Rules {
        match self.reads {
            Reads::Passages => Rules::within(self.tokens),
            // Long passages are cut, so that more of them fit.
            Reads::Sentences => Rules::default(),
        }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "adaptive",
            "reads a few passages, says what is missing, looks that up and reads again, as often as the question needs",
            "ours",
            |_| {},
        )],
        parameters: &[
            field!(looks, "reading rounds, one call each, at most", Range::COUNT),
            field!(chunks as "look_chunks", "chunks gathered for the first reading round, at most", Range::COUNT),
            field!(tokens as "look_tokens", "tokens of the passages in one reading round, at most", Range::TOKENS),
            field!(
                reads as "look_reads",
                "what a reading round reads: the sentences that fit best and are new, or whole passages, those with facts again",
                Range::of::<Reads>()
            ),
            field!(
                passage_tokens as "look_passage_tokens",
                "tokens of the sentences of one passage in the first reading round, at most; a third of it for the later half of \
                 the passages, and half of it in later rounds",
                Range::TOKENS
            ),
            field!(
                ends as "look_ends",
                "when the answer of a reading round needs no further call: if a passage holds it, or only if the facts suffice",
                Range::of::<Ends>()
            ),
            field!(
                lookups,
                "sub-questions that are searched after a reading round, at most",
                Range::COUNT
            ),
            field!(found as "lookup_chunks", "chunks found for each sub-question, at most", Range::COUNT),
            field!(
                reader,
                "which call writes the answer: the reading round itself, one more call, or as a test of the model showed",
                Range::of::<Reader>()
            ),
            field!(
                decomposer,
                "what names the sub-questions after a reading round: the round itself, or a trained model of the role `propose`",
                Range::of::<Decomposer>()
            ),
        ],
        roles: &[Role::Look, Role::Answer],
        without_model: WithoutModel::Quotes,
        needs: None,
        cost: |params| Cost {
            calls: 1.7,
            most_calls: match params.decomposer {
                Decomposer::Reader => params.looks.get() as u64 + 1,
                // After each round but the last: proposals, and an answer to each of them but the last.
                Decomposer::Trained => {
                    let (looks, lookups) = (params.looks.get() as u64, params.lookups as u64);
                    looks + 1 + 2 * lookups * (looks - 1)
                }
            },
            chunks: 6.0,
            most_chunks: params.chunks as u64
                + (params.looks.get() * params.lookups * params.found) as u64,
            // The last call may read the passages of all rounds.
            most_chunk_tokens: params.tokens.max(CONTEXT_TOKENS),
            rounds: params.looks.get() as u64,
            fixed: 340,
            reply: 150,
            basis: "most questions end after one reading round, hard ones after two to four",
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
