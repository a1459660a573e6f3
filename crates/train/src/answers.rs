//! Answers selected sub-questions from their chunks, because Algorithm 3 needs answers that Algorithms 1 and 2 do not
//! make.

use pikerag_eval::runner::ends_every_answer;
use pikerag_knowledge::{Chunk, Context, Question, error_chain};
use pikerag_methods::retrieval::{answer_step, sub_question};
use pikerag_methods::{MethodLabel, Ports, Run, RunParams, SolveError};

use crate::runs::ReadRun;
use crate::trajectory::Round;

/// `aᵗ`: the answer to a sub-question from its chunk; empty if the chunk does not give one. One call.
pub(crate) async fn answer_from(
    ports: &Ports,
    question: &str,
    chunk: &Chunk,
    run: &mut Run,
) -> Result<String, SolveError> {
    let passages = Context::of(1, [chunk.clone()]);
    let reading = answer_step(ports, run, &sub_question(question), &passages, "").await?;
    Ok(reading.unwrap_or_default().answer)
}

/// Answers the sub-questions that a kept run did not answer, in order, with one call each. `chunks` must contain the
/// chunks of its steps. The trajectory gets the bill also where a call fails; it has failed then, and is not right.
///
/// # Errors
/// Those that every further call would repeat: a spent budget, a bad key.
pub async fn answer_steps(
    ports: &Ports,
    read: &mut ReadRun,
    chunks: &[Chunk],
) -> Result<(), SolveError> {
    let ReadRun { trajectory, unanswered } = read;
    let question = Question::new(trajectory.item.clone(), trajectory.question.clone());
    let mut run = Run::begin(MethodLabel::named("train-collect"), &question, RunParams::default());
    let result = answer_each(ports, &mut trajectory.rounds, unanswered, chunks, &mut run).await;
    trajectory.spent.merge(&run.account.cost().spent);
    match result {
        Err(error) if ends_every_answer(&error) => Err(error),
        Err(error) => {
            trajectory.failed = Some(error_chain(&error));
            trajectory.is_right = false;
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

async fn answer_each(
    ports: &Ports,
    rounds: &mut [Round],
    unanswered: &[usize],
    chunks: &[Chunk],
    run: &mut Run,
) -> Result<(), SolveError> {
    for place in unanswered {
        let chosen = rounds.get_mut(*place).and_then(|round| round.chosen.as_mut());
        let Some(chosen) = chosen else { continue };
        let chunk = chunks.iter().find(|chunk| Some(chunk.id) == chosen.chunk);
        let Some(chunk) = chunk else { continue };
        chosen.answer = answer_from(ports, &chosen.question, chunk, run).await?;
    }
    Ok(())
}
