//! How does a method end? It answers from what it gathered, and checks each citation.

use pikerag_knowledge::{Answer, Context, Event, Question, Role, WrittenBy};
use pikerag_reason::{Reading, cite, quote, read};

use crate::kit::{Kit, Run, SolveError};

/// Sentences that the quoting generator puts together.
const QUOTED: usize = 4;

/// Line 14 of Algorithm 1: `â ← LLM(q, C)`; without a model, quotes. An unreadable reply falls
/// back to quotes too, and the trace says so.
pub(crate) async fn conclude(
    kit: &Kit,
    question: &Question,
    context: Context,
    mut run: Run,
) -> Result<Answer, SolveError> {
    let (reading, written_by) = match kit.models.of(Role::Answer) {
        Some(model) => {
            let asked = read(model, question, &context, &mut run.spent).await;
            match run.readable(Role::Answer, asked)? {
                Some(reading) => {
                    (reading, WrittenBy::LanguageModel { model: model.name().to_owned() })
                }
                None => quoted(question, &context, &mut run, "The reply could not be read"),
            }
        }
        None => quoted(question, &context, &mut run, "No language model was used"),
    };
    let citations = cite(kit.base.as_ref(), &context, &reading.answer, &reading.claims).await?;
    run.trace.push(Event::Answered { answer: reading.answer.clone() });
    Ok(Answer {
        text: reading.answer,
        rationale: reading.rationale,
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
