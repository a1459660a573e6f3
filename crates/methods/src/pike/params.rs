//! Defines the parameters of `pike` and describes the method.

use std::num::{NonZeroU32, NonZeroUsize};

use pikerag_knowledge::{Level, Role, TaskClass};

use super::classify::Classifier;
use super::l2::L2;
use crate::adaptive;
use crate::spec::{Cost, MethodParams, MethodSpec, Range, Variant, Weights, WithoutModel, field};
use crate::verified_use::VerifiedUse;
use serde::{Deserialize, Serialize};

/// The treatment of answers that the documents do not settle.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Unsettled {
    /// The likeliest answer is given, with what is missing.
    #[default]
    #[serde(rename = "told")]
    #[strum(serialize = "told")]
    Reported,
    /// It is refused: no answer is better than one that may be invented (CRP-RAG §3.4).
    Refused,
}

/// The class, and the limits of each strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The class, if the user sets it.
    pub class: Option<TaskClass>,
    /// The level of the system, if the user sets it: a question above it is refused (Table 1).
    pub level: Option<Level>,
    /// The method that reads facts and chains of facts.
    pub l2: L2,
    /// Steps of a plan, at most; below 2 there are no plans.
    pub plan_steps: usize,
    /// Whether a plan may be made; not for the questions of a plan.
    pub may_plan: bool,
    /// Who classifies a question.
    pub classify: Classifier,
    /// Whether feedback on the same or on a similar question is used.
    pub verified: VerifiedUse,
    /// The treatment of an answer that the documents do not settle, as the model reports.
    pub unsettled: Unsettled,
    /// The least share of the question's terms that one passage must hold for the documents to be read; 0 for
    /// any. It is not checked where the question is in another language than the passages, or where records
    /// answer.
    pub coverage: f64,
    /// The parameters of reading passages.
    pub reading: adaptive::Params,
    /// Passages that are read as records for one question for a figure, at most; 0 for none.
    pub structured: usize,
    /// Tokens of all passages that things are compared from, at most.
    pub compared: NonZeroU32,
    /// Tokens of passages that are summarized, at most.
    pub summarized: NonZeroU32,
    /// Agents that think about a creative question.
    pub agents: NonZeroUsize,
    /// Tokens of passages, tables and findings for each of them.
    pub agent_tokens: NonZeroU32,
    /// Questions that each of them may ask before it thinks, at most.
    pub agent_questions: usize,
    /// Whether an agent asks; no parameter of the method, because only agents' questions set it.
    pub by_agent: bool,
    /// Rounds in which they judge each other's ideas. Before each further round they revise their own ideas.
    pub critiques: usize,
    /// The seed of the agents: another seed draws other ideas, the same seed the same ideas.
    pub seed: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            class: None,
            level: None,
            l2: L2::Auto,
            plan_steps: 6,
            may_plan: true,
            classify: Classifier::Auto,
            verified: VerifiedUse::Used,
            unsettled: Unsettled::Reported,
            coverage: 0.0,
            reading: adaptive::Params::default(),
            structured: 40,
            compared: const { NonZeroU32::new(2000).unwrap() },
            summarized: const { NonZeroU32::new(12_000).unwrap() },
            agents: const { NonZeroUsize::new(4).unwrap() },
            agent_tokens: const { NonZeroU32::new(1200).unwrap() },
            agent_questions: 2,
            by_agent: false,
            critiques: 1,
            seed: 0,
        }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "pike",
            "classifies a question and answers it by the strategy of its class: reading, comparison, calculation, summary, \
             forecast, or ideas of several agents",
            "PIKE-RAG §3.2–3.3, §4.1, §5.3.2, §5.4, §5.5",
            |_| {},
        )],
        parameters: &[
            field!(
                class,
                "the class of all questions; if not set, each question is classified",
                Range::of::<TaskClass>()
            ),
            field!(
                level,
                "the level of the system, which includes the lower ones: a question of a higher class is refused, and `L0` gives passages only",
                Range::of::<Level>()
            ),
            field!(
                l2,
                "the method that reads facts and chains of facts, with its own defaults; `auto` is `adaptive`, and `hop-rag` for a model that is too slow for reading rounds",
                Range::of::<L2>()
            ),
            field!(
                plan_steps,
                "steps of a plan for a question that combines classes, at most; below 2 such a question is answered as a whole",
                Range::Whole((0, 12))
            ),
            field!(
                classify,
                "who classifies questions: rules, a model, or a model where the rules are undecided",
                Range::of::<Classifier>()
            ),
            field!(
                verified,
                "whether verified answers to the same question, and classes of similar questions, are used",
                Range::of::<VerifiedUse>()
            ),
            field!(
                unsettled,
                "the treatment of an answer that the documents do not settle, as its model reports: given with what is missing, \
                 or refused as insufficient",
                Range::of::<Unsettled>()
            ),
            field!(
                coverage,
                "the least share of the question's terms that one passage holds; below it the question is refused as \
                 insufficient, without a call",
                Range::Number((0.0, 1.0))
            ),
            field!(
                structured as "structure_chunks",
                "passages that a model reads as records, one call each, where no record or table holds the figure that a \
                 question asks for; 0: the documents are read as for other questions",
                Range::Whole((0, 1000))
            ),
            field!(compared as "compare_tokens", "tokens of the passages that things are compared from, at most", Range::TOKENS),
            field!(summarized as "summary_tokens", "tokens of the passages that are summarized, at most", Range::TOKENS),
            field!(agents, "agents that think about a creative question", Range::Whole((1, 16))),
            field!(
                agent_tokens,
                "tokens of the passages, tables and findings of each agent, at most",
                Range::TOKENS
            ),
            field!(
                agent_questions,
                "questions that each agent may ask before it thinks, at most; each is answered by the strategy of its class",
                Range::Whole((0, 4))
            ),
            field!(
                critiques,
                "rounds in which the agents judge each other's ideas; before each further round they revise their own ideas \
                 after the objections",
                Range::Whole((0, 3))
            ),
            field!(
                seed,
                "draws of the agents: the same seed, the same answer",
                Range::Whole((0, 4_294_967_295))
            ),
            field!(reading.looks as "looks", "reading rounds, one call each, at most", Range::COUNT),
            field!(reading.chunks as "look_chunks", "chunks gathered for the first reading round, at most", Range::COUNT),
            field!(reading.tokens as "look_tokens", "tokens of the passages in one reading round, at most", Range::TOKENS),
            field!(
                reading.reads as "look_reads",
                "what a reading round reads: the sentences that fit best and are new, or whole passages, those with facts again",
                Range::of::<adaptive::Reads>()
            ),
            field!(
                reading.passage_tokens as "look_passage_tokens",
                "tokens of the sentences of one passage in the first reading round, at most; a third of it for the later half of \
                 the passages, and half of it in later rounds",
                Range::TOKENS
            ),
            field!(
                reading.ends as "look_ends",
                "when the answer of a reading round needs no further call: if a passage holds it, or only if the facts suffice",
                Range::of::<adaptive::Ends>()
            ),
            field!(reading.lookups as "lookups", "sub-questions that are searched after a reading round, at most", Range::COUNT),
            field!(reading.found as "lookup_chunks", "chunks found for each sub-question, at most", Range::COUNT),
            field!(
                reading.reader as "reader",
                "which call writes the answer: the reading round itself, one more call, or as a test of the model showed",
                Range::of::<adaptive::Reader>()
            ),
        ],
        roles: &[
            Role::Classify,
            Role::Look,
            Role::Answer,
            Role::Decompose,
            Role::Extract,
            Role::Summarize,
            Role::Reason,
            Role::Grade,
        ],
        without_model: WithoutModel::Quotes,
        needs: None,
        cost: |params| {
            let reading = (adaptive::Params::SPEC.cost)(&params.reading);
            // Its class and its answer.
            let asked = reading.most_calls + 2;
            Cost {
                most_calls: with_plan(
                    params,
                    asked.max(ideas_cost(params, asked)).max(5 + params.structured as u64),
                ),
                basis: "most questions are read as by `adaptive`; figures and forecasts cost no call, figures over texts one for \
                        each passage, ideas two for each agent and those of the questions that it asks",
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

/// The calls of a question of which each step takes `one`: the plan, again after each step, and the wording.
fn with_plan(params: &Params, one: u64) -> u64 {
    match (params.class, params.plan_steps as u64) {
        (None, steps @ 2..) => steps * one + steps + 1,
        _ => one,
    }
}

/// The most calls of ideas, where each question of an agent takes `asked`; none where another class is set.
fn ideas_cost(params: &Params, asked: u64) -> u64 {
    let is_set_apart = params.class.is_some_and(|class| class != TaskClass::Creative)
        || params.level.is_some_and(|level| level < Level::L4);
    if is_set_apart {
        return 0;
    }
    let questions = match params.agent_questions as u64 {
        0 => 0,
        count => 1 + count * asked,
    };
    // A judgement in each round, and a revision before each but the first.
    let rounds = params.critiques as u64;
    let each = 1 + questions + rounds + rounds.saturating_sub(1);
    // The class, the perspectives and the coordinator.
    3 + params.agents.get() as u64 * each
}
