//! Answers from every passage alone, and weighs the answers together (REPLUG: Shi et al., 2023;
//! RA-ISF §4.4).

use std::num::NonZeroUsize;

use futures::future::join_all;
use pikerag_knowledge::{
    Answer, Candidate, Chunk, Context, Criterion, Event, Note, Question, Role,
};
use pikerag_methods::context::Rules;
use pikerag_prompt::{Prompt, passages, quiet_headings};
use pikerag_reason::{how_to_answer, short_answer};
use tracing::instrument;

use pikerag_methods::certainty::{Sure, ask_surely, need_certainty};
use pikerag_methods::conclude::{conclude, conclude_as};
use pikerag_methods::organizing::gathered;
use pikerag_methods::retrieval::{RetrievalParams, retrieve};
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Range, Variant, WithoutModel, field};
use pikerag_methods::verdict::{bare, is_unknown};
use pikerag_methods::{Ports, Run, SolveError};

const PROMPT: Prompt = Prompt::new(Role::Answer, include_str!("prompts/replug.md"), 1024)
    .with_earlier("baselines/replug", &[include_str!("prompts/earlier/replug.1.md")]);

/// The number of passages that answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Passages (k), with any score.
    pub k: NonZeroUsize,
}

impl Default for Params {
    /// k = 10 (§5.1).
    fn default() -> Self {
        Self { k: const { NonZeroUsize::new(10).unwrap() } }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "replug",
            "one answer per passage, weighed by retrieval score and likelihood",
            "Shi et al. 2023; RA-ISF Table 1",
            |_| {},
        )],
        parameters: &[field!(k, "passages (k)", Range::COUNT)],
        roles: &[Role::Answer, Role::Grade],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            calls: params.k.get() as f64,
            most_calls: 2 * params.k.get() as u64 + 1,
            chunks: 1.0,
            most_chunks: params.k.get() as u64,
            most_chunk_tokens: None,
            rounds: 1,
            fixed: 250,
            reply: 60,
            basis: "one call per passage, graded at most once",
        },
    };
}

/// Answers `question` by the heaviest answer of `k` passages, each in a call of its own: an answer
/// weighs `Σ λ(d, q) · p(answer | d, q)` over its passages, with `λ = softmax` of the retrieval scores
/// (eq. 2 and 3).
///
/// Differs from the paper: it mixes distributions token by token, which no endpoint offers. Whole
/// answers replace tokens, and `p` is the geometric mean over an answer's tokens, so that a short
/// answer does not outweigh a long one. The retriever is not tuned. "Unknown" is no answer.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "replug", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    ports.models.need(Role::Answer)?;
    need_certainty(ports)?;
    let found = retrieve(ports, question.query(), RetrievalParams::top(params.k.get())).await?;
    let (found, chunks) = gathered(ports, run, found, Rules::all()).await?;
    run.push(Event::Retrieved { hop: 1, candidates: found.clone() });
    // On accounts of their own: the calls run at the same time.
    let asked: Vec<_> =
        chunks.iter().map(|chunk| answer_from(ports, run.part(), question, chunk)).collect();
    let mut votes = Vec::new();
    for (passage, (own, reply)) in join_all(asked).await.into_iter().enumerate() {
        run.absorb(own);
        if let Some(reply) = reply? {
            votes.push(Vote::new(passage, &found, reply));
        }
    }
    let Some(answer) = heaviest(&votes, run) else {
        return conclude(ports, question, in_order(chunks, &[]), run).await;
    };
    let supporters: Vec<&Vote> = votes.iter().filter(|vote| vote.agrees_with(&answer)).collect();
    let rationale = format!("{} of {} passages say so.", supporters.len(), chunks.len());
    conclude_as(ports, in_order(chunks, &supporters), answer, rationale, run).await
}

/// The answer of one passage.
async fn answer_from(
    ports: &Ports,
    mut run: Run,
    question: &Question,
    chunk: &Chunk,
) -> (Run, Result<Option<Sure>, SolveError>) {
    let (context, asked) = (passages([chunk]), quiet_headings(&question.text));
    let form = how_to_answer(question);
    let inputs =
        [("form", form.as_ref()), ("context", context.as_str()), ("question", asked.as_str())];
    let reply = ask_surely(ports, &mut run, &PROMPT, &inputs).await;
    (run, reply)
}

/// The answer of one passage.
struct Vote {
    /// Its place among the passages.
    passage: usize,
    title: String,
    answer: String,
    reply: Sure,
    /// `λ(d, q) · p(answer | d, q)`
    weight: f64,
}

impl Vote {
    fn new(passage: usize, found: &[Candidate], reply: Sure) -> Self {
        let title = found.get(passage).map(|candidate| candidate.title.clone());
        let weight = softmax(found, passage) * reply.confidence;
        let answer = short_answer(&reply.text);
        Self { passage, title: title.unwrap_or_default(), answer, reply, weight }
    }

    fn agrees_with(&self, answer: &str) -> bool {
        bare(&self.answer) == bare(answer)
    }
}

/// `λ(d, q)`: the share of a passage in the exponentials of all scores.
fn softmax(found: &[Candidate], passage: usize) -> f64 {
    let best = found.iter().map(|candidate| candidate.score).fold(f32::MIN, f32::max);
    let power = |candidate: &Candidate| f64::from(candidate.score - best).exp();
    let all: f64 = found.iter().map(power).sum();
    found.get(passage).map_or(0.0, power) / all
}

/// The answer that weighs most, the first of two equal ones; in the words of its first passage.
fn heaviest(votes: &[Vote], run: &mut Run) -> Option<String> {
    let mut groups: Vec<(&Vote, f64)> = Vec::new();
    for vote in votes.iter().filter(|vote| !is_unknown(&vote.answer)) {
        match groups.iter_mut().find(|(first, _)| first.agrees_with(&vote.answer)) {
            Some((_, weight)) => *weight += vote.weight,
            None => groups.push((vote, vote.weight)),
        }
    }
    let mut best: Option<(&Vote, f64)> = None;
    for group in &groups {
        if best.is_none_or(|(_, most)| most < group.1) {
            best = Some(*group);
        }
    }
    let answer = best.map(|(first, _)| first.answer.clone());
    for vote in votes {
        run.push(Event::Judged {
            criterion: Criterion::Confident,
            of: format!("{}: {}", vote.title, vote.answer),
            holds: answer.as_ref().is_some_and(|answer| vote.agrees_with(answer)),
            // A confidence of zero has no logarithm.
            score: Some(vote.reply.log()).filter(|log| log.is_finite()),
            by: vote.reply.by,
        });
    }
    for (first, weight) in groups {
        let note = Note::AnswerWeighed { answer: first.answer.clone(), weight };
        run.push(Event::Noted { note: note.into() });
    }
    answer
}

/// All passages; those that support the answer come last and by rising weight, because citations
/// are looked for from the end.
fn in_order(chunks: Vec<Chunk>, supporters: &[&Vote]) -> Context {
    let weight = |place: usize| {
        let vote = supporters.iter().find(|vote| vote.passage == place);
        vote.map_or(-1.0, |vote| vote.weight)
    };
    let mut places: Vec<(usize, Chunk)> = chunks.into_iter().enumerate().collect();
    places.sort_by(|a, b| weight(a.0).total_cmp(&weight(b.0)));
    let mut context = Context::default();
    for (_, chunk) in places {
        context.add(1, chunk);
    }
    context
}
