//! What may be set of `pike`, and what does it say of itself?

use std::num::{NonZeroU32, NonZeroUsize};

use pikerag_knowledge::{Level, Role, TaskClass};

use super::classify::Classifier;
use super::recall::VerifiedUse;
use crate::adaptive;
use crate::spec::{Cost, MethodParams, MethodSpec, Range, Variant, Weights, WithoutModel, field};
use serde::{Deserialize, Serialize};

/// What becomes of an answer that the documents do not settle.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Unsettled {
    /// The likeliest answer is given, with what is lacking.
    #[default]
    Told,
    /// It is refused: no answer is better than one that may be invented (PIKE-RAG §3.2).
    Refused,
}

/// Which class, and how much for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The class, where whoever asks knows it.
    pub class: Option<TaskClass>,
    /// The level, where whoever asks wants an answer of that level and no other; the class is told among those of it.
    pub level: Option<Level>,
    /// Who tells the class.
    pub classify: Classifier,
    /// Whether what people said of the same question, or of one much like it, is taken into account.
    pub verified: VerifiedUse,
    /// What becomes of an answer of which the model says that the documents do not settle it.
    pub unsettled: Unsettled,
    /// The least share of the question's terms that one passage has to hold for the documents to be read at all; 0 for any.
    /// Not asked where the question is in another language than the passages, and where records answer.
    pub coverage: f64,
    /// How what stands in the documents is read.
    pub reading: adaptive::Params,
    /// Tokens of passages that are read to compare, for each thing's side of it alike; in all.
    pub compared: NonZeroU32,
    /// Tokens of passages that are summarized, at most.
    pub summarized: NonZeroU32,
    /// Agents that think about a creative question.
    pub agents: NonZeroUsize,
    /// Tokens of passages for each of them.
    pub agent_tokens: NonZeroU32,
    /// How often they look at each other's ideas.
    pub critiques: usize,
    /// Draws of the agents: another seed, other ideas; the same, the same.
    pub seed: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            class: None,
            level: None,
            classify: Classifier::Auto,
            verified: VerifiedUse::Used,
            unsettled: Unsettled::Told,
            coverage: 0.0,
            reading: adaptive::Params::default(),
            compared: const { NonZeroU32::new(2000).unwrap() },
            summarized: const { NonZeroU32::new(12_000).unwrap() },
            agents: const { NonZeroUsize::new(4).unwrap() },
            agent_tokens: const { NonZeroU32::new(1200).unwrap() },
            critiques: 1,
            seed: 0,
        }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "pike",
            "tells which kind of question it is, and answers each kind its own way: read, compared, reckoned, summarized, \
             foretold, or thought about by several agents",
            "PIKE-RAG §3.2–3.3, §4.1, §5.4, §5.5",
            |_| {},
        )],
        parameters: &[
            field!(
                class,
                "the class of all questions; told from each question where none is set",
                Range::of::<TaskClass>()
            ),
            field!(
                level,
                "the level of all answers; the class is told among those of it",
                Range::of::<Level>()
            ),
            field!(
                classify,
                "who tells the class: rules, a model, or a model where the rules are torn",
                Range::of::<Classifier>()
            ),
            field!(
                verified,
                "whether verified answers to the same question, and classes of questions much like it, are used",
                Range::of::<VerifiedUse>()
            ),
            field!(
                unsettled,
                "what becomes of an answer that the documents do not settle, as its model says: told with what is lacking, \
                 or refused as insufficient",
                Range::of::<Unsettled>()
            ),
            field!(
                coverage,
                "the least share of the question's terms that one passage holds; below it the question is refused as \
                 insufficient, without a call",
                Range::Number((0.0, 1.0))
            ),
            field!(compared as "compare_tokens", "tokens of the passages that things are compared from, at most", Range::TOKENS),
            field!(summarized as "summary_tokens", "tokens of the passages that are summarized, at most", Range::TOKENS),
            field!(agents, "agents that think about a creative question", Range::Whole((1, 16))),
            field!(agent_tokens, "tokens of the passages of each agent, at most", Range::TOKENS),
            field!(
                critiques,
                "rounds in which the agents judge each other's ideas",
                Range::Whole((0, 3))
            ),
            field!(
                seed,
                "draws of the agents: the same seed, the same answer",
                Range::Whole((0, 4_294_967_295))
            ),
            field!(reading.looks as "looks", "looks at what is read, one call each, at most", Range::COUNT),
            field!(reading.chunks as "look_chunks", "chunks gathered for the first look, at most", Range::COUNT),
            field!(reading.tokens as "look_tokens", "tokens of the passages at one look, at most", Range::TOKENS),
            field!(reading.lookups as "lookups", "sub-questions that are looked up after a look, at most", Range::COUNT),
            field!(reading.found as "lookup_chunks", "chunks found for each sub-question, at most", Range::COUNT),
            field!(
                reading.reader as "reader",
                "who writes the answer: the look itself, one more call, or as the model has shown that it can",
                Range::of::<adaptive::Reader>()
            ),
        ],
        roles: &[
            Role::Classify,
            Role::Look,
            Role::Answer,
            Role::Decompose,
            Role::Summarize,
            Role::Reason,
            Role::Grade,
        ],
        without_model: WithoutModel::Quotes,
        needs: None,
        cost: |params| {
            let reading = (adaptive::Params::SPEC.cost)(&params.reading);
            Cost {
                most_calls: reading.most_calls.max(3 + 2 * params.agents.get() as u64) + 2,
                basis: "most questions are read as by `adaptive`; figures and forecasts cost no call, ideas two for each agent",
                ..reading
            }
        },
    };

    fn weigh(&mut self, weights: &Weights) {
        self.reading.weigh(weights);
    }

    fn weights(&self) -> Weights {
        self.reading.weights()
    }
}
