//! Retrieves in each round with the question and the last response, and answers again (Iter-RetGen:
//! Shao et al., 2023; parameters of KAR³ §A.2 and §A.3).

use std::num::NonZeroUsize;

use pikerag_knowledge::{Answer, Context, Question, Role};
use tracing::instrument;

use pikerag_methods::conclude::conclude;
use pikerag_methods::retrieval::{RetrievalParams, answer_step, look_up};
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Range, Variant, WithoutModel, field};
use pikerag_methods::{Ports, Run, SolveError};

/// The number of rounds and the size of each retrieval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Rounds (N); all of them run.
    pub n: NonZeroUsize,
    /// The retrieval of a round.
    pub retrieval: RetrievalParams,
}

impl Default for Params {
    /// N = 5 (KAR³ §4.1), 16 chunks, score ≥ 0.2 (§A.3).
    fn default() -> Self {
        Self { n: const { NonZeroUsize::new(5).unwrap() }, retrieval: RetrievalParams::chunks() }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[Variant::new(
            "iter-retgen",
            "retrieves with the last answer and answers again, N rounds",
            "Shao et al. 2023; KAR³ §A.2",
            |_| {},
        )],
        parameters: &[
            field!(n, "rounds, all of which run (N)", Range::COUNT),
            field!(retrieval.chunks as "chunks", "chunks that a round retrieves, at most", Range::COUNT),
        ],
        roles: &[Role::Answer],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            calls: params.n.get() as f64,
            most_calls: params.n.get() as u64,
            chunks: params.retrieval.chunks as f64,
            most_chunks: params.retrieval.chunks as u64,
            most_chunk_tokens: None,
            rounds: params.n.get() as u64,
            fixed: 330,
            reply: 95,
            basis: "KAR³ Table 10: 8140 + 473 tokens; N calls",
        },
    };
}

/// Answers `question` in `n` rounds of retrieval and generation: `n` chat calls, each repeated at
/// most once.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "iter_retgen", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    ports.models.need(Role::Answer)?;
    let last_round = params.n.get();
    let mut response = String::new(); // y₀: none.
    for round in 1..last_round {
        let context = retrieve(ports, run, question, &response, round, params.retrieval).await?;
        let reading = answer_step(ports, run, question, &context, "").await?;
        response = match reading {
            Some(reading) => format!("{} {}", reading.rationale, reading.answer).trim().to_owned(),
            None => String::new(), // An unreadable response counts as none.
        };
        if !response.is_empty() {
            response = run.thought(round, response)?;
        }
    }
    let context = retrieve(ports, run, question, &response, last_round, params.retrieval).await?;
    conclude(ports, question, context, run).await // y_N is the answer.
}

/// `D_t ← R(q, y_{t-1})`: the finds for the question and the last response, without those of
/// earlier rounds.
async fn retrieve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    response: &str,
    round: usize,
    retrieval: RetrievalParams,
) -> Result<Context, SolveError> {
    let query = format!("{} {response}", question.query());
    let context = Context::of(round, look_up(ports, run, round, query.trim(), retrieval).await?);
    Ok(context)
}
