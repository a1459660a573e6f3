//! What does an answer help to find? Each round retrieves with the question and the last response,
//! and answers again (Iter-RetGen: Shao et al., 2023; parameters of KAR³ §A.2 and §A.3).

use std::num::NonZeroUsize;

use pikerag_knowledge::{Answer, Context, Event, Question, Role};
use tracing::instrument;

use crate::conclude::conclude;
use crate::methods::Method;
use crate::ports::{Ports, Run, SolveError};
use crate::retrieval::{RetrievalParams, answer_step, look_up};

/// How often, and with how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Rounds (N), all of which are taken.
    pub n: NonZeroUsize,
    /// What a round retrieves.
    pub retrieval: RetrievalParams,
}

impl Default for Params {
    /// N = 5 (KAR³ §4.1), 16 chunks, score ≥ 0.2 (§A.3).
    fn default() -> Self {
        Self { n: const { NonZeroUsize::new(5).unwrap() }, retrieval: RetrievalParams::chunks() }
    }
}

/// Answers `question` in `n` rounds of retrieval and generation: `n` chat calls, each asked at most
/// twice.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "iter_retgen", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    ports.models.need(Role::Answer)?;
    let mut run = Run::begin(&Method::IterRetgen(params).to_string(), question);
    let last_round = params.n.get();
    let mut response = String::new(); // y₀: none.
    for round in 1..last_round {
        let context =
            retrieve(ports, &mut run, question, &response, round, params.retrieval).await?;
        let reading = answer_step(ports, &mut run, &question.text, &context, "").await?;
        response = match reading {
            Some(reading) => format!("{} {}", reading.rationale, reading.answer).trim().to_owned(),
            None => String::new(), // Unreadable is none, too.
        };
        if !response.is_empty() {
            run.trace.push(Event::Thought { step: round, text: response.clone() });
        }
    }
    let context =
        retrieve(ports, &mut run, question, &response, last_round, params.retrieval).await?;
    conclude(ports, question, context, run).await // y_N is the answer.
}

/// `D_t ← R(q, y_{t-1})`: what the question and the last response find, and nothing of earlier rounds.
async fn retrieve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    response: &str,
    round: usize,
    retrieval: RetrievalParams,
) -> Result<Context, SolveError> {
    let query = format!("{} {response}", question.text);
    let mut context = Context::default();
    for chunk in look_up(ports, run, round, query.trim(), retrieval).await? {
        context.add(round, chunk);
    }
    Ok(context)
}
