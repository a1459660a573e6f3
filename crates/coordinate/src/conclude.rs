//! How does a method end? It answers from what it gathered, and checks each citation.

use pikerag_knowledge::{Answer, Context, Event, Question, Role, WrittenBy};
use pikerag_reason::{Claim, Reading, cite, quote, read};

use crate::ports::{Ports, Run, SolveError};

/// Sentences that the quoting generator puts together.
const QUOTED: usize = 4;

/// Line 14 of Algorithm 1: `â ← LLM(q, C)`; without a model, quotes. An unreadable reply falls
/// back to quotes too, and the trace says so.
pub(crate) async fn conclude(
    ports: &Ports,
    question: &Question,
    context: Context,
    run: Run,
) -> Result<Answer, SolveError> {
    conclude_with(ports, question, context, "", run).await
}

/// The same with notes of what was worked out on the way.
pub(crate) async fn conclude_with(
    ports: &Ports,
    question: &Question,
    context: Context,
    notes: &str,
    mut run: Run,
) -> Result<Answer, SolveError> {
    let (reading, written_by) = match ports.models.of(Role::Answer) {
        Some(model) => {
            let asked = read(model, question, &context, notes, &mut run.spent).await;
            match run.readable(Role::Answer, asked)? {
                Some(reading) => {
                    (reading, WrittenBy::LanguageModel { model: model.name().to_owned() })
                }
                None => quoted(question, &context, &mut run, "The reply could not be read"),
            }
        }
        None => quoted(question, &context, &mut run, "No language model was used"),
    };
    finish(ports, context, reading, written_by, run).await
}

/// Ends with an answer that the method's own steps have worked out.
pub(crate) async fn conclude_as(
    ports: &Ports,
    context: Context,
    answer: String,
    rationale: String,
    run: Run,
) -> Result<Answer, SolveError> {
    conclude_read(ports, context, Reading { answer, rationale, claims: Vec::new() }, run).await
}

/// Ends with an answer that a step has read from the context, quotes included.
pub(crate) async fn conclude_read(
    ports: &Ports,
    context: Context,
    reading: Reading,
    run: Run,
) -> Result<Answer, SolveError> {
    let model = ports.models.need(Role::Answer)?.name().to_owned();
    finish(ports, context, reading, WrittenBy::LanguageModel { model }, run).await
}

/// Ends without an answer: `missing` says what the base lacks.
pub(crate) async fn refuse(
    ports: &Ports,
    context: Context,
    missing: String,
    run: Run,
) -> Result<Answer, SolveError> {
    let mut answer = conclude_as(ports, context, missing, String::new(), run).await?;
    answer.refused = true;
    answer.citations.clear();
    Ok(answer)
}

async fn finish(
    ports: &Ports,
    context: Context,
    reading: Reading,
    written_by: WrittenBy,
    mut run: Run,
) -> Result<Answer, SolveError> {
    let claims: &[Claim] = &reading.claims;
    let citations = cite(ports.base.as_ref(), &context, &reading.answer, claims).await?;
    run.trace.push(Event::Answered { answer: reading.answer.clone() });
    Ok(Answer {
        text: reading.answer,
        rationale: reading.rationale,
        refused: false,
        written_by,
        citations,
        context,
        trace: run.trace,
        spent: run.spent,
    })
}

fn quoted(
    question: &Question,
    context: &Context,
    run: &mut Run,
    why: &str,
) -> (Reading, WrittenBy) {
    run.trace.push(Event::Noted { note: format!("{why}: the answer quotes its evidence.") });
    (quote(question, context, QUOTED), WrittenBy::Quotation)
}
