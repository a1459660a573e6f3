//! Defines an agent, what it has read and found, and its ideas.

use std::sync::Arc;

use pikerag_knowledge::worked::{Gap, IdeaFinding};
use pikerag_knowledge::{Answer, ChatModel, Chunk};
use pikerag_prompt::{one_line, passages, quiet_headings, quiet_words};
use pikerag_reason::Claim;

use super::Params;
use crate::ports::{Perspective, Ports};

/// Characters of an answer as agents see it, at most.
const LONGEST: usize = 500;

/// An agent with its perspective and its models.
pub(super) struct Agent<'a> {
    /// Its place.
    pub(super) at: usize,
    pub(super) perspective: &'a Perspective,
    pub(super) thinks: Arc<dyn ChatModel>,
    /// None where no model judges.
    pub(super) judges: Option<Arc<dyn ChatModel>>,
    /// The base, and the models that answer its questions out of half of its share.
    pub(super) asks: Ports,
}

impl Agent<'_> {
    /// The sample of its calls: another seed draws other ideas, and no two of 16 agents share a sample.
    pub(super) fn sample(&self, params: Params) -> u32 {
        params.seed.wrapping_mul(16).wrapping_add(self.at as u32)
    }

    /// The name and the subject of its perspective, for a prompt.
    pub(super) fn shown(&self) -> (String, String) {
        let shown = |words: &str| quiet_headings(&one_line(words));
        (shown(&self.perspective.name), shown(&self.perspective.about))
    }
}

/// What an agent has read and learnt.
#[derive(Clone, Debug, Default)]
pub(super) struct Material {
    pub(super) passages: Vec<Chunk>,
    /// The answers to its questions.
    pub(super) findings: Vec<Finding>,
    /// The tables of the base in words; empty if there are none.
    pub(super) tables: String,
}

impl Material {
    /// The passages, for a prompt.
    pub(super) fn context(&self) -> String {
        match passages(&self.passages) {
            empty if empty.is_empty() => "(no passages were found)".to_owned(),
            shown => shown,
        }
    }

    /// The tables, for a prompt.
    pub(super) fn shown_tables(&self) -> String {
        quiet_headings(&self.tables)
    }

    /// Quotes of passages as claims. A quote that its passage does not hold belongs to the first passage that holds it,
    /// as in [`pikerag_reason::cite`].
    pub(super) fn claims(&self, evidence: Vec<(usize, String)>) -> Vec<Claim> {
        let claim = |(passage, quote): (usize, String)| {
            let words = one_line(&quote);
            if words.is_empty() {
                return None;
            }
            let holds = |chunk: &&Chunk| one_line(&chunk.text).contains(&words);
            let named = passage.checked_sub(1).and_then(|at| self.passages.get(at));
            let held = named.filter(holds).or_else(|| self.passages.iter().find(holds));
            let chunk = held.or(named).or_else(|| self.passages.first())?;
            Some(Claim { chunk: chunk.id, quote })
        };
        evidence.into_iter().filter_map(claim).collect()
    }

    /// The places of findings by their numbers, each once.
    pub(super) fn found(&self, numbers: &[usize]) -> Vec<usize> {
        let mut places: Vec<usize> = Vec::new();
        for at in numbers.iter().filter_map(|number| number.checked_sub(1)) {
            if at < self.findings.len() && !places.contains(&at) {
                places.push(at);
            }
        }
        places
    }
}

/// An answered question of an agent.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) question: String,
    pub(super) answer: Answer,
}

impl Finding {
    /// The question with its answer, for the reader of an idea.
    pub(super) fn shown(&self) -> IdeaFinding {
        IdeaFinding { question: self.question.clone(), answer: self.answer.text.clone() }
    }

    /// The question with its answer, on one line of a prompt.
    pub(super) fn line(&self) -> String {
        let answer: String = one_line(&self.answer.text).chars().take(LONGEST).collect();
        let unsettled = match self.answer.missing.is_empty() {
            true => "",
            false => " (likely; the documents do not settle it)",
        };
        let (question, answer) = (quiet_words(&one_line(&self.question)), quiet_words(&answer));
        format!("{question} → {answer}{unsettled}")
    }
}

/// Findings with their numbers, one on each line.
pub(super) fn finding_lines(findings: &[Finding]) -> String {
    let lines = findings.iter().enumerate();
    let lines: Vec<String> =
        lines.map(|(at, finding)| format!("{}. {}", at + 1, finding.line())).collect();
    lines.join("\n")
}

/// An idea of one agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Thought {
    /// The perspective, by its place.
    pub(super) perspective: usize,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) evidence: Vec<Claim>,
    /// The findings of its agent that it rests on, by their places.
    pub(super) findings: Vec<usize>,
    pub(super) gap: Option<Gap>,
    /// The agent's reply to objections that it holds to be wrong; may be empty.
    pub(super) defence: String,
}
