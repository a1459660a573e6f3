//! Lets judgements of retrieval, relevance, support and usefulness decide what is answered
//! (Self-RAG: Asai et al., 2024; RA-ISF §4.4). Prompts ask for the judgements: models with
//! reflection tokens are not required.

mod judge;

use std::num::NonZeroUsize;

use pikerag_knowledge::{
    Answer, Chunk, Context, ContextChunk, Criterion, Event, JudgedBy, Note, Question, Role,
};
use pikerag_prompt::{passages, quiet_headings};
use pikerag_reason::Reading;
use tracing::instrument;

use self::judge::{Relevance, Retrieval, Support, Usefulness};
use pikerag_methods::conclude::conclude_as;
use pikerag_methods::retrieval::{RetrievalParams, answer_step, look_up};
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Range, Variant, WithoutModel, field};
use pikerag_methods::unaided::{conclude_recalled, recall};
use pikerag_methods::{Ports, Run, SolveError};

/// The number of passages, and the weights of the judgements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Passages (k), with any score.
    pub k: NonZeroUsize,
    /// Weight of relevance in the score of a passage, which is a weighted sum.
    pub w_rel: f64,
    /// Weight of support in the same sum.
    pub w_sup: f64,
    /// Weight of usefulness in the same sum.
    pub w_use: f64,
}

impl Default for Params {
    /// k = 5; weights 1.0, 1.0, 0.5 (§4.3).
    fn default() -> Self {
        let k = const { NonZeroUsize::new(5).unwrap() };
        Self { k, w_rel: 1.0, w_sup: 1.0, w_use: 0.5 }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "self-rag",
            "judgements of need, relevance, support and use choose the passage to answer from",
            "Asai et al. 2024; RA-ISF Table 1",
            |_| {},
        )],
        parameters: &[field!(k, "passages (k)", Range::COUNT)],
        roles: &[Role::Know, Role::Relevant, Role::Answer, Role::Grade],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            calls: 2.0 + 2.0 * params.k.get() as f64,
            most_calls: 3 * (2 + 3 * params.k.get() as u64),
            chunks: 1.0,
            most_chunks: 1,
            most_chunk_tokens: None,
            rounds: 3,
            fixed: 350,
            reply: 60,
            basis: "retrieve or not, and for each passage an answer and its judgements",
        },
    };
}

/// Answers `question` by the best segment: one call, or at most `1 + 4k`, each repeated at most
/// once.
///
/// Differs from the paper: one segment is written, as for its short answers; verdicts replace the
/// probabilities of tokens, and the likelihood of the segment itself is not counted; an irrelevant
/// passage gets no segment.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "self_rag", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    if !needs_retrieval(ports, run, question).await? {
        return from_memory(ports, run, question).await;
    }
    let retrieval = RetrievalParams::top(params.k.get());
    let mut segments = Vec::new();
    for chunk in look_up(ports, run, 1, question.query(), retrieval).await? {
        // A part of the run: if the model refuses one passage, the others keep their segments.
        let mut part = run.part();
        let made = relevant_segment(ports, &mut part, question, chunk, params).await;
        run.absorb(part);
        segments.extend(made?);
    }
    // The first of two equal scores: retrieval ranked its passage higher.
    let mut best: Option<&Segment> = None;
    for segment in &segments {
        if best.is_none_or(|best| best.score < segment.score) {
            best = Some(segment);
        }
    }
    let Some(Segment { reading, chunk, .. }) = best else {
        run.push(Event::Noted { note: Note::AnswersFromMemory.into() });
        return from_memory(ports, run, question).await;
    };
    let (answer, rationale) = (reading.answer.clone(), reading.rationale.clone());
    conclude_as(ports, alone(chunk.clone()), answer, rationale, run).await
}

/// The answer from the model's knowledge.
async fn from_memory(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
) -> Result<Answer, SolveError> {
    let recalled = recall(ports, run, question, "").await?;
    conclude_recalled(ports, recalled, run).await
}

/// An answer from one passage.
struct Segment {
    chunk: Chunk,
    reading: Reading,
    score: f64,
}

/// Whether to retrieve. Yes if no verdict can be read: a needless passage costs less than a missing
/// one.
async fn needs_retrieval(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
) -> Result<bool, SolveError> {
    let asked = quiet_headings(&question.text);
    let verdict = run.ask(ports, &judge::RETRIEVAL, &[("question", asked.as_str())]).await?;
    let Some(Retrieval(holds)) = verdict else { return Ok(true) };
    push(run, Criterion::NeedsRetrieval, &question.text, holds, None);
    Ok(holds)
}

/// Whether the passage is about the question. No if no verdict can be read.
async fn is_relevant(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    chunk: &Chunk,
) -> Result<bool, SolveError> {
    let (context, asked) = (passages([chunk]), quiet_headings(&question.text));
    let inputs = [("context", context.as_str()), ("question", asked.as_str())];
    let Some(Relevance(holds)) = run.ask(ports, &judge::RELEVANCE, &inputs).await? else {
        return Ok(false);
    };
    push(run, Criterion::Relevant, &chunk.full_title(), holds, None);
    Ok(holds)
}

/// The segment of a passage; `None` if it is irrelevant or unreadable.
async fn relevant_segment(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    chunk: Chunk,
    params: Params,
) -> Result<Option<Segment>, SolveError> {
    match is_relevant(ports, run, question, &chunk).await? {
        true => segment(ports, run, question, chunk, params).await,
        false => Ok(None),
    }
}

/// The segment of a relevant passage with its score; `None` if it is unreadable.
async fn segment(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    chunk: Chunk,
    params: Params,
) -> Result<Option<Segment>, SolveError> {
    let context = alone(chunk.clone());
    let read = answer_step(ports, run, question, &context, "").await?;
    let Some(reading) = read else { return Ok(None) };
    let answer = &reading.answer;
    run.push(Event::Thought { step: 1, text: answer.clone() });
    let shown = passages([&chunk]);
    let (reply, asked) = (quiet_headings(answer), quiet_headings(&question.text));
    let inputs =
        [("context", shown.as_str()), ("reply", reply.as_str()), ("question", asked.as_str())];
    // A verdict that cannot be read counts as 0.
    let (mut support, mut usefulness) = (0.0, 0.0);
    if let Some(Support(degree)) = run.ask(ports, &judge::SUPPORT, &inputs).await? {
        support = degree;
        push(run, Criterion::Supported, answer, 0.0 < degree, Some(degree));
    }
    let inputs = [("reply", reply.as_str()), ("question", asked.as_str())];
    if let Some(useful) = run.ask::<Usefulness>(ports, &judge::USEFULNESS, &inputs).await? {
        usefulness = useful.scale();
        push(run, Criterion::Useful, answer, 3 <= useful.0, Some(f64::from(useful.0)));
    }
    let relevance = 1.0; // Irrelevant passages do not come here.
    let score = params.w_rel * relevance + params.w_sup * support + params.w_use * usefulness;
    let note = Note::PassageScored { title: chunk.full_title(), score };
    run.push(Event::Noted { note: note.into() });
    Ok(Some(Segment { chunk, reading, score }))
}

fn alone(chunk: Chunk) -> Context {
    Context { chunks: vec![ContextChunk { chunk, hop: 1 }] }
}

fn push(run: &mut Run, criterion: Criterion, of: &str, holds: bool, score: Option<f64>) {
    let (of, by) = (of.to_owned(), JudgedBy::Verdict);
    run.push(Event::Judged { criterion, of, holds, score, by });
}
