//! Reads kept runs that decomposed their question hop by hop (KAR³, Algorithm 1) as trajectories. Feedback and labels
//! decide which of them are right.

use std::collections::BTreeMap;

use pikerag_eval::datasets::{Item, Task};
use pikerag_eval::metrics::{contains, score};
use pikerag_eval::normalize::normalize;
use pikerag_knowledge::{
    Answer, Candidate, ChunkId, Event, KeptVerified, RunEvent, RunRecord, Verified, Via,
};
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::params::Right;
use crate::trajectory::{Chosen, Origin, Pair, Round, Trajectory};

/// Why a kept run is not collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unused {
    /// It has no answer: it failed, it was stopped, or it is still running.
    NotAnswered,
    /// Neither feedback nor a label decides whether its answer is right. Feedback whose passages have changed does
    /// not count.
    Unknown,
    /// It did not decompose its question by proposals, candidates and selections, or it answered parts of the
    /// question by loops of their own.
    NoSteps,
    /// The base no longer has a chunk that it selected.
    Gone,
    /// It did not answer its sub-questions, and no model is set that answers them.
    NoAnswers,
    /// Its question was not drawn.
    NotDrawn,
}

/// The known right and wrong answers.
#[derive(Debug, Default)]
pub struct Known {
    /// Judgements by normalized question, the latest first.
    judged: BTreeMap<String, Vec<Verified>>,
    /// Questions with labels, by normalized question.
    items: BTreeMap<String, Item>,
    right: Right,
}

/// The verdict on the answer of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The identifier of the question, which all its runs share.
    pub item: String,
    /// The right answers; empty if the answer is wrong and no right one is known.
    pub labels: Vec<String>,
    /// Whether the answer is right.
    pub is_right: bool,
}

/// A run as a trajectory.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadRun {
    /// The trajectory, as the first attempt at its question.
    pub trajectory: Trajectory,
    /// The places of the rounds whose sub-question the run did not answer.
    pub unanswered: Vec<usize>,
}

impl Known {
    /// `judged` must be in the order of the base, the latest judgement first. Labels count only where words decide:
    /// short answers that are no figures over tables.
    ///
    /// # Errors
    /// [`TrainError::JudgeOfRuns`] with [`Right::Judge`].
    pub fn new(judged: Vec<KeptVerified>, items: &[Item], right: Right) -> Result<Self, TrainError> {
        if right == Right::Judge {
            return Err(TrainError::JudgeOfRuns);
        }
        let mut known = Self { right, ..Self::default() };
        for kept in judged {
            if !kept.is_stale() {
                let question = normalize(&kept.verified.question);
                known.judged.entry(question).or_default().push(kept.verified);
            }
        }
        let is_decided = |item: &&Item| {
            item.task == Task::Short && item.wanted.is_none() && !item.answers.is_empty()
        };
        for item in items.iter().filter(is_decided) {
            known.items.entry(normalize(item.query())).or_insert_with(|| item.clone());
        }
        Ok(known)
    }

    /// The verdict on the run's answer: the latest judgement of this very answer, else the labels of its question. If
    /// there are none, an answer that equals a verified one by the rule is right. `None` if nothing decides: an
    /// answer in other words than the verified one may be right too.
    pub fn verdict(&self, run: &RunRecord) -> Option<Verdict> {
        let answer = run.answer.as_ref()?;
        let (question, given) = (normalize(run.question.query()), answer.text.trim());
        let judged = self.judged.get(&question).map(Vec::as_slice).unwrap_or_default();
        let own = judged.iter().find(|judged| judged.given.trim() == given);
        let item = self.items.get(&question);
        let mut labels: Vec<String> = Vec::new();
        let verified = own.and_then(Verified::holds).into_iter();
        let verified = verified.chain(judged.iter().filter_map(Verified::holds));
        let of_file = item.into_iter().flat_map(|item| &item.answers).map(String::as_str);
        for label in verified.chain(of_file) {
            if !labels.iter().any(|known| known == label) {
                labels.push(label.to_owned());
            }
        }
        let is_right = match (own, item) {
            (Some(own), _) => own.holds().is_some_and(|right| right.trim() == given),
            (None, Some(_)) => self.has_label(answer, &labels),
            (None, None) if self.has_label(answer, &labels) => true,
            (None, None) => return None,
        };
        if !is_right {
            // Somebody else may have accepted the answer earlier.
            labels.retain(|label| label.trim() != given);
        }
        Some(Verdict { item: item.map_or(question, |item| item.id.clone()), labels, is_right })
    }

    fn has_label(&self, answer: &Answer, labels: &[String]) -> bool {
        let is_right = match self.right {
            Right::Contains => 0.0 < contains(&answer.text, labels),
            // `new` refuses a judge.
            Right::Em | Right::Judge => 1.0 <= score(&answer.text, labels).em,
        };
        is_right && !answer.refused
    }
}

/// The trajectory of an answered run with a loop of proposals, candidates and selections over its question (`kar3`
/// and its variants, also within `pike`); `None` for another run, or if nothing was selected.
///
/// A round with a choice that the run did not word as a question (a sentence, a passage) has the proposal that found
/// it as its sub-question. Rounds end with the loop: what the run reads beside the chosen chunks is no step.
pub fn read(run: &RunRecord, events: &[RunEvent], verdict: Verdict) -> Option<ReadRun> {
    let answer = run.answer.as_ref()?;
    let (rounds, unanswered) = rounds(run, events)?;
    let Verdict { item, labels, is_right } = verdict;
    let trajectory = Trajectory {
        item,
        origin: Origin::Run,
        run: Some(run.id.clone()),
        question: run.question.text.clone(),
        scores: score(&answer.text, &labels),
        labels,
        answer: answer.text.clone(),
        is_right,
        rounds,
        ..Trajectory::default()
    };
    Some(ReadRun { trajectory, unanswered })
}

/// The number of the next attempt at each question that has trajectories, by its identifier.
pub fn next_attempts(made: &[Trajectory]) -> BTreeMap<String, u32> {
    let mut next: BTreeMap<String, u32> = BTreeMap::new();
    for trajectory in made {
        let of_item = next.entry(trajectory.item.clone()).or_default();
        *of_item = (*of_item).max(trajectory.attempt + 1);
    }
    next
}

/// The rounds, and the places of those without an answer.
fn rounds(run: &RunRecord, events: &[RunEvent]) -> Option<(Vec<Round>, Vec<usize>)> {
    let (mut rounds, mut unanswered): (Vec<Round>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut found: &[Candidate] = &[];
    let mut has_ended = false;
    for event in events.iter().map(|event| &event.event) {
        match event {
            // The loops of parts decompose the parts, not the question.
            Event::Asked { .. } => return None,
            Event::Retrieved { .. } | Event::Selected { .. } | Event::Resolved { .. }
                if has_ended =>
            {
                return None;
            }
            Event::Proposed { proposals, .. } if !has_ended => {
                rounds.push(Round { proposals: proposals.clone(), ..Round::default() });
            }
            Event::Retrieved { candidates, .. } => {
                rounds.last_mut()?.candidates = candidates.iter().map(pair).collect();
                found = candidates.as_slice();
            }
            Event::Selected { thinking, index, chunk, .. } => {
                unanswered.push(rounds.len().checked_sub(1)?);
                let round = rounds.last_mut()?;
                round.chosen = Some(Chosen {
                    question: sub_question(run, found.get(*index)?, &round.proposals)?,
                    answer: String::new(),
                    chunk: Some(*chunk),
                    document: document(run, *chunk),
                    thinking: thinking.clone(),
                });
            }
            Event::Resolved { question, answer, .. } => {
                let chosen = rounds.last_mut()?.chosen.as_mut()?;
                (chosen.question, chosen.answer) = (question.clone(), answer.clone());
                unanswered.pop();
            }
            Event::Stopped { .. } => has_ended = true,
            _ => {}
        }
    }
    let has_step = rounds.iter().any(|round| round.chosen.is_some());
    has_step.then_some((rounds, unanswered))
}

/// `q̂ᵗ`. A trained proposer's own question is searched and answered; otherwise the chosen atomic question is the
/// sub-question.
fn sub_question(run: &RunRecord, chosen: &Candidate, proposals: &[String]) -> Option<String> {
    if run.parameters.get("proposer").is_some_and(|proposer| proposer == "trained") {
        return proposals.first().cloned();
    }
    let is_question = chosen.atom.is_some() && chosen.text.trim_end().ends_with(['?', '？']);
    match chosen.via {
        _ if is_question => Some(chosen.text.clone()),
        Via::Atoms | Via::Chunks => Some(chosen.proposal.clone()),
        // Other paths search for the question itself.
        _ => None,
    }
}

fn pair(candidate: &Candidate) -> Pair {
    let Candidate { text, chunk, score, .. } = candidate;
    Pair { text: text.clone(), chunk: *chunk, similarity: *score }
}

/// The document of a chunk that the answer was written from; empty for another chunk.
fn document(run: &RunRecord, chunk: ChunkId) -> String {
    let read = run.answer.iter().flat_map(|answer| &answer.context.chunks);
    let mut read = read.map(|held| &held.chunk).filter(|held| held.id == chunk);
    read.next().map_or_else(String::new, |held| held.uri.clone())
}
