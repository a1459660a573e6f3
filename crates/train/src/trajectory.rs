//! Defines trajectories: the stored form of one attempt at a question (KAR³ §3.4; PIKE-RAG §6.4).

use std::collections::BTreeSet;

use pikerag_eval::metrics::Scores;
use pikerag_knowledge::{ChunkId, RunId, Spent};
use serde::{Deserialize, Serialize};

use crate::split::OfQuestion;
use crate::ucb::Bound;

/// The origin of a trajectory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Algorithm 2.
    #[default]
    Collected,
    /// The data set's own decomposition.
    Given,
    /// A run that a base keeps.
    Run,
}

/// One attempt at a question: `(q, a, â, {q̂ₛ, cᵗ, q̂ᵗ, P, Cₜ})` (KAR³ §3.4), with scores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// The question's identifier in its file; for a run whose question no file has, the question after
    /// normalization.
    pub item: String,
    /// The number of the attempt at the question, from 0; runs have numbers in order of time.
    pub attempt: u32,
    /// The origin.
    #[serde(default)]
    pub origin: Origin,
    /// The run, with [`Origin::Run`]: one run becomes one trajectory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// `q`.
    pub question: String,
    /// `a`: the right answers, each right on its own.
    pub labels: Vec<String>,
    /// `â`; empty if there is none.
    pub answer: String,
    /// Exact match and F1 of the answer.
    pub scores: Scores,
    /// Whether a judging model found the answer right, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<bool>,
    /// Whether the answer counts as right.
    pub is_right: bool,
    /// The rounds, in order. A round without a choice is the last one, unless rounds go on without a choice.
    pub rounds: Vec<Round>,
    /// Calls and tokens by role, made or read from the ledger. The calls of a kept run are not in it, because they were
    /// paid for its answer; the run has its own bill.
    pub spent: Spent,
    /// The error that ended the attempt, if one did. The next run tries it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// One round of Algorithm 2.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The sampled chunk, which only the proposer sees (line 5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Bound>,
    /// `q̂ₛ`: the proposals (line 6).
    pub proposals: Vec<String>,
    /// `P`: the pairs that a selector chooses from (line 11).
    pub candidates: Vec<Pair>,
    /// The other pairs, whose similarities went to the scores of their chunks (line 13).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<Pair>,
    /// The choice (lines 16 to 24); `None` ended the round without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Chosen>,
}

/// An atomic question with its chunk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The atomic question.
    pub text: String,
    /// The chunk that answers it.
    pub chunk: ChunkId,
    /// The greatest similarity to a proposal.
    pub similarity: f32,
}

/// A selected sub-question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// `q̂ᵗ`.
    pub question: String,
    /// Its answer from its chunk; empty if the chunk does not give one.
    pub answer: String,
    /// `cᵗ`; `None` for a data set's own decomposition.
    pub chunk: Option<ChunkId>,
    /// The document of the chunk, or its title in a data set's decomposition; empty if that does not name one.
    pub document: String,
    /// The model's reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thinking: String,
}

impl Trajectory {
    /// The selected sub-questions, in order.
    pub fn steps(&self) -> impl Iterator<Item = &Chosen> {
        self.rounds.iter().filter_map(|round| round.chosen.as_ref())
    }

    /// `Cₜ`: the chunks of the first `t` rounds.
    pub fn context(&self, t: usize) -> Vec<ChunkId> {
        let chosen = self.rounds.iter().take(t).filter_map(|round| round.chosen.as_ref());
        chosen.filter_map(|chosen| chosen.chunk).collect()
    }
}

impl OfQuestion for Trajectory {
    fn item(&self) -> &str {
        &self.item
    }

    fn question(&self) -> &str {
        &self.question
    }

    fn documents(&self) -> BTreeSet<&str> {
        let all = self.steps().map(|step| step.document.as_str());
        all.filter(|document| !document.is_empty()).collect()
    }
}
