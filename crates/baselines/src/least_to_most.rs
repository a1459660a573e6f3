//! Lists simpler sub-questions once, and solves them in order, each with the answers before it
//! (Least-to-Most: Zhou et al., 2023; RA-ISF §4.4 and Table 1).

use std::num::NonZeroUsize;

use pikerag_knowledge::{Answer, Context, Event, Question, Role, StopReason};
use pikerag_prompt::{Prompt, quiet_headings};
use pikerag_reason::transcript;
use tracing::instrument;

use crate::self_ask::{combine_and_conclude, look_up_alone};
use pikerag_methods::decompose::SubQuestions;
use pikerag_methods::retrieval::{RetrievalParams, answer_step, sub_question as in_short};
use pikerag_methods::spec::{Cost, MethodParams, MethodSpec, Range, Variant, WithoutModel, field};
use pikerag_methods::unaided::recall;
use pikerag_methods::verdict::UNKNOWN;
use pikerag_methods::{Ports, Run, SolveError};

const PROMPT: Prompt = Prompt::new(Role::Decompose, include_str!("prompts/least_to_most.md"), 1024)
    .with_earlier("baselines/least_to_most", &[include_str!("prompts/earlier/least_to_most.1.md")]);

/// The parameters of splitting and solving.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// The most sub-questions (N); further ones are dropped.
    pub n: NonZeroUsize,
    /// The retrieval for each; `None`, as in the papers: the model answers from its knowledge.
    pub retrieval: Option<RetrievalParams>,
}

impl Default for Params {
    /// Without retrieval (RA-ISF Table 1). Zhou et al. set no limit: N = 5 is that of KAR³ §4.1 for
    /// similar methods.
    fn default() -> Self {
        Self { n: const { NonZeroUsize::new(5).unwrap() }, retrieval: None }
    }
}

impl MethodParams for Params {
    const SPEC: MethodSpec<Self> = MethodSpec {
        variants: &[
            Variant::new(
                "least-to-most",
                "sub-questions from simple to hard, answered by the model",
                "Zhou et al. 2023; RA-ISF Table 1",
                |_| {},
            ),
            Variant::new("least-to-most-r", "the same with 4 chunks for each", "ours", |params| {
                params.retrieval = Some(RetrievalParams::step());
            }),
        ],
        parameters: &[field!(n, "the most sub-questions (N)", Range::COUNT)],
        roles: &[Role::Decompose, Role::Answer],
        without_model: WithoutModel::Fails,
        needs: None,
        cost: |params| Cost {
            calls: 0.6 * params.n.get() as f64 + 2.0,
            most_calls: params.n.get() as u64 + 3,
            chunks: 0.0,
            most_chunks: 4 * params.n.get() as u64,
            most_chunk_tokens: None,
            rounds: params.n.get() as u64,
            fixed: 700,
            reply: 80,
            basis: "a call to divide, one per sub-question, one to answer (RA-ISF §4.4)",
        },
    };
}

/// Answers `question` by its parts: at most `n + 2` chat calls, each repeated at most once.
///
/// Differs from Zhou et al.: instructions replace demonstrations, and the question itself, their
/// last sub-question, is answered from the earlier answers alone.
///
/// # Errors
/// See [`SolveError`].
#[instrument(name = "least_to_most", skip_all, fields(question = %question.id))]
pub async fn solve(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    params: Params,
) -> Result<Answer, SolveError> {
    let mut context = Context::default(); // The retrieved chunks, for citations only.
    let mut pairs: Vec<(String, String)> = Vec::new();
    // Stage 1: decomposition.
    let sub_questions = split(ports, run, question, params.n).await?;
    // Stage 2: the sub-questions in order, each with all answers before it.
    for (place, sub_question) in sub_questions.into_iter().enumerate() {
        let sub_question = run.asked(1, sub_question)?;
        let (hop, notes) = (place + 1, transcript(&pairs));
        let asked = in_short(&sub_question);
        let answer = match params.retrieval {
            Some(retrieval) => {
                let query = with_answers(&sub_question, &pairs);
                let found = look_up_alone(ports, run, hop, &query, retrieval, &mut context).await?;
                let reading = answer_step(ports, run, &asked, &found, &notes).await?;
                reading.map(|reading| reading.answer)
            }
            None => recall(ports, run, &asked, &notes).await?.map(|recalled| recalled.answer),
        };
        let answer = answer.unwrap_or_else(|| UNKNOWN.to_owned());
        let answer = run.resolved(1, &sub_question, answer)?;
        pairs.push((sub_question, answer));
    }
    combine_and_conclude(ports, question, context, &pairs, run).await
}

/// The query of a sub-question. The list was made in advance and cannot name earlier answers, so
/// they are appended.
fn with_answers(sub_question: &str, pairs: &[(String, String)]) -> String {
    let mut query = sub_question.to_owned();
    for (_, answer) in pairs.iter().filter(|(_, answer)| answer != UNKNOWN) {
        query.push(' ');
        query.push_str(answer);
    }
    query
}

/// Lists sub-questions, at most `n`; the question itself if there are none.
async fn split(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    n: NonZeroUsize,
) -> Result<Vec<String>, SolveError> {
    let (count, asked) = (n.to_string(), quiet_headings(&question.text));
    let inputs = [("count", count.as_str()), ("question", asked.as_str())];
    let sub_questions = match run.ask::<SubQuestions>(ports, &PROMPT, &inputs).await? {
        Some(SubQuestions(sub_questions)) => sub_questions,
        None => Vec::new(),
    };
    let mut sub_questions = run.proposed(1, String::new(), sub_questions)?;
    if n.get() < sub_questions.len() {
        sub_questions.truncate(n.get());
        run.push(Event::Stopped { hop: n.get(), reason: StopReason::HopLimit });
    }
    if sub_questions.is_empty() {
        sub_questions.push(question.query().to_owned());
    }
    Ok(sub_questions)
}
