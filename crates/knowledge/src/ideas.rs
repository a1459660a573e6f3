//! Defines the ideas of agents, with their evidence, scores and open points (PIKE-RAG §5.5).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An idea of the agents (PIKE-RAG §5.5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Idea {
    /// In a few words.
    pub title: String,
    /// In sentences.
    pub text: String,
    /// The perspectives that it came from.
    pub perspectives: Vec<String>,
    /// The means of its judgements by other perspectives. Absent if nobody judged it, and in runs of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub scores: Option<IdeaScores>,
    /// Objections of other perspectives; kept, whatever the ranking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dissent: Vec<String>,
    /// Numbers of the supporting citations of the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<usize>,
    /// The agents' own questions that it rests on, with their answers; their citations are among those of
    /// the idea.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<IdeaFinding>,
    /// The missing information.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
}

/// The scores of an idea, each from 1 to 5: of one judgement, or the means of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct IdeaScores {
    /// Whether it answers the question.
    pub fit: f64,
    /// Whether it would work.
    pub feasibility: f64,
    /// Whether it is new.
    pub novelty: f64,
}

impl IdeaScores {
    /// The means of several judgements; `None` without any.
    pub fn mean(all: &[Self]) -> Option<Self> {
        let count = all.len() as f64;
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / count;
        (!all.is_empty()).then(|| Self {
            fit: mean(|one| one.fit),
            feasibility: mean(|one| one.feasibility),
            novelty: mean(|one| one.novelty),
        })
    }

    /// The mean of fit and feasibility, which ranks ideas; novelty decides between equal ones.
    pub fn merit(&self) -> f64 {
        f64::midpoint(self.fit, self.feasibility)
    }
}

/// A question that an agent asked before it thought, with its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IdeaFinding {
    /// The question of the agent.
    pub question: String,
    /// The answer: a figure over all records, or what documents tell.
    pub answer: String,
}

/// An open point of an idea.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Gap {
    /// The missing information.
    pub missing: String,
    /// How to find it.
    pub next_step: String,
}
