//! Collects trajectories by context sampling (PIKE-RAG §5.3.3, Algorithm 2).

use std::collections::BTreeMap;

use pikerag_eval::datasets::Item;
use pikerag_eval::runner::ends_every_answer;
use pikerag_knowledge::{
    Candidate, Chunk, ChunkId, Context, Question, Role, Via, Which, error_chain,
};
use pikerag_methods::candidates::{atom_candidates, fetch};
use pikerag_methods::conclude::conclude;
use pikerag_methods::decompose::{Choice, Proposer, Selection, Selector, propose, select};
use pikerag_methods::retrieval::least_similarity;
use pikerag_methods::{MethodLabel, Ports, Run, RunParams, SolveError};
use pikerag_retrieve::atoms_compared;

use crate::answers::answer_from;
use crate::params::{Empty, Params, Split};
use crate::right::verdict;
use crate::sampled::with_samples;
use crate::trajectory::{Chosen, Pair, Round, Trajectory};
use crate::ucb::{Pool, Sampler};

/// δ and δ′ of a base, and its chunks.
#[derive(Clone, Debug)]
pub struct Ground {
    /// δ: the least similarity of a candidate.
    pub delta: f32,
    /// δ′ < δ: the least similarity of a pair that raises the score of its chunk.
    pub near: f32,
    /// All chunks, for [`Pool::All`]; else empty.
    pub chunks: Vec<ChunkId>,
}

/// δ and δ′ as set, else calibrated on the base's own atoms.
///
/// # Errors
/// The base cannot be read.
pub async fn ground(ports: &Ports, params: &Params) -> Result<Ground, SolveError> {
    let delta = match params.delta {
        Some(delta) => delta,
        None => least_similarity(ports, params.atoms).await?,
    };
    let near = params.near_delta.unwrap_or(delta * params.near_share).min(delta);
    let mut chunks = Vec::new();
    if params.pool == Pool::All {
        for source in ports.base.sources(Which::All).await? {
            let of_source = ports.base.first_chunks(source.id, usize::MAX).await?;
            chunks.extend(of_source.into_iter().map(|chunk| chunk.id));
        }
    }
    Ok(Ground { delta, near, chunks })
}

/// Attempts a question until an answer is right, at most `params.attempts` times; each attempt from `first` on is a
/// trajectory. An attempt that failed is the last one. The error beside them is one that every further call would
/// repeat: a spent budget, a bad key.
pub async fn attempts(
    ports: &Ports,
    ground: &Ground,
    item: &Item,
    params: &Params,
    first: u32,
) -> (Vec<Trajectory>, Option<SolveError>) {
    let mut made = Vec::new();
    for attempt in first..params.attempts.get() {
        let mut trajectory = Trajectory {
            item: item.id.clone(),
            attempt,
            question: item.question.clone(),
            labels: item.answers.clone(),
            ..Trajectory::default()
        };
        match one(ports, ground, item, params, &mut trajectory).await {
            Ok(()) => {}
            Err(error) if ends_every_answer(&error) => return (made, Some(error)),
            Err(error) => trajectory.failed = Some(error_chain(&error)),
        }
        let ends = trajectory.failed.is_some() || trajectory.is_right && params.stops_when_right;
        made.push(trajectory);
        if ends {
            break;
        }
    }
    (made, None)
}

/// One attempt, with its cost even where it fails.
async fn one(
    ports: &Ports,
    ground: &Ground,
    item: &Item,
    params: &Params,
    trajectory: &mut Trajectory,
) -> Result<(), SolveError> {
    let question = item.asked();
    let ports = with_samples(ports, trajectory.attempt, params.temperature);
    let mut run = Run::begin(MethodLabel::named("train-collect"), &question, RunParams::default());
    let seed = params.seed ^ u64::from(trajectory.attempt).wrapping_mul(0x9E37_79B9);
    let mut sampler = Sampler::new(params.alpha, params.pool, seed);
    let walk = Walk { ports: &ports, ground, params, question: &question };
    let result = walk.gather(&mut run, &mut sampler, trajectory).await;
    let result = match result {
        // Line 27.
        Ok(context) => conclude(&ports, &question, context, &mut run).await,
        Err(error) => Err(error),
    };
    let ended = run.end(result);
    trajectory.spent.merge(&ended.record.cost.spent);
    let answer = ended.result?;
    trajectory.answer.clone_from(&answer.text);
    let verdict = verdict(&ports, item, &answer.text, params.right, &mut trajectory.spent).await?;
    (trajectory.scores, trajectory.judged) = (verdict.scores, verdict.judged);
    trajectory.is_right = verdict.is_right && !answer.refused;
    Ok(())
}

/// The constants of an attempt.
struct Walk<'a> {
    ports: &'a Ports,
    ground: &'a Ground,
    params: &'a Params,
    question: &'a Question,
}

impl Walk<'_> {
    /// Lines 1 to 26: the context.
    async fn gather(
        &self,
        run: &mut Run,
        sampler: &mut Sampler,
        trajectory: &mut Trajectory,
    ) -> Result<Context, SolveError> {
        let mut context = Context::default(); // Line 1.
        for t in 1..=self.params.rounds.get() {
            let bound = sampler.sample(t, &self.ground.chunks); // Line 5.
            let mut seen = context.clone();
            if let Some(bound) = &bound {
                seen.extend(0, self.ports.base.chunks(&[bound.chunk]).await?);
            }
            let mut round = Round { sampled: bound, ..Round::default() };
            let is_over = self.round(t, &seen, &mut context, &mut round, run, sampler).await?;
            trajectory.rounds.push(round);
            if is_over {
                break;
            }
        }
        Ok(context)
    }

    /// Lines 6 to 25 of round `t`: whether it is the last one. `seen` is the context and the sampled chunk.
    async fn round(
        &self,
        t: usize,
        seen: &Context,
        context: &mut Context,
        round: &mut Round,
        run: &mut Run,
        sampler: &mut Sampler,
    ) -> Result<bool, SolveError> {
        let model = self.ports.models.need(Role::Propose)?;
        let proposals = propose(model, self.question, seen, Proposer::Many, "", run).await?;
        let Some(proposals) = proposals.filter(|proposals| !proposals.questions.is_empty()) else {
            return Ok(true); // Nothing more to ask.
        };
        let candidates = self.candidates(&proposals.questions, context, round, sampler).await?;
        round.proposals = proposals.questions;
        let selection = self.select(context, &candidates, run).await?;
        let chosen = selection.index.and_then(|index| candidates.get(index));
        let Some(chosen) = chosen else {
            if self.params.on_empty == Empty::Ends || selection.enough == Some(true) {
                return Ok(true); // Lines 17 to 19.
            }
            if let Some(bound) = &round.sampled {
                sampler.visit(bound.chunk);
            }
            return Ok(false);
        };
        let chunks = fetch(self.ports, std::slice::from_ref(chosen)).await?;
        let Some(chunk) = chunks.into_iter().next() else { return Ok(false) };
        sampler.select(chunk.id); // Lines 23 and 24.
        round.chosen = Some(self.answered(chosen, &chunk, selection.thinking, run).await?);
        context.add(t, chunk); // Lines 21 and 22.
        Ok(false)
    }

    /// Lines 7 to 15: the candidates; the other pairs raise the scores of their chunks. As in Algorithm 1 here, no
    /// pair leads to a chunk of the context.
    async fn candidates(
        &self,
        proposals: &[String],
        context: &Context,
        round: &mut Round,
        sampler: &mut Sampler,
    ) -> Result<Vec<Candidate>, SolveError> {
        let (params, Ground { delta, near, .. }) = (self.params, self.ground);
        let (finder, k) = (self.ports.finder(), params.near_k.get());
        // The maximum of lines 10 and 13.
        let found =
            atoms_compared(finder, params.atoms, proposals, k, *near, &context.ids()).await?;
        let (mut best, mut of_proposal) = (Vec::new(), BTreeMap::new());
        for hit in found {
            let rank: &mut usize = of_proposal.entry(hit.proposal).or_default();
            *rank += 1;
            let is_candidate = match params.split {
                Split::Threshold => *delta <= hit.score,
                Split::TopK => *delta <= hit.score && *rank <= params.k.get(),
            };
            let pair =
                Pair { text: hit.atom.text.clone(), chunk: hit.atom.chunk, similarity: hit.score };
            if is_candidate {
                round.candidates.push(pair); // Line 11.
                best.push(hit);
            } else {
                sampler.raise(hit.atom.chunk, f64::from(hit.score)); // Line 13.
                round.near.push(pair);
            }
        }
        atom_candidates(self.ports, &best, proposals, Via::Atoms).await
    }

    /// Line 16.
    async fn select(
        &self,
        context: &Context,
        candidates: &[Candidate],
        run: &mut Run,
    ) -> Result<Selection, SolveError> {
        let nothing = Selection { thinking: String::new(), index: None, enough: None };
        if candidates.is_empty() {
            return Ok(nothing);
        }
        let model = self.ports.models.need(Role::Select)?;
        let choice = Choice { candidates, chunks: &[], selector: Selector::ByAtom, may_end: true };
        let selection = select(model, self.question, context, choice, run).await?;
        Ok(selection.unwrap_or(nothing))
    }

    /// `(qᵗ, aᵗ)`: Algorithm 3 needs the answer, which Algorithm 2 does not make. One call.
    async fn answered(
        &self,
        chosen: &Candidate,
        chunk: &Chunk,
        thinking: String,
        run: &mut Run,
    ) -> Result<Chosen, SolveError> {
        let question = match self.params.atoms {
            pikerag_knowledge::AtomKind::Question => chosen.text.clone(),
            _ => chosen.proposal.clone(),
        };
        let answer = answer_from(self.ports, &question, chunk, run).await?;
        let (chunk, document) = (Some(chunk.id), chunk.uri.clone());
        Ok(Chosen { question, answer, chunk, document, thinking })
    }
}
