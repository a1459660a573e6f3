//! Answers a question from what the model knows, without retrieval (`zero-shot-cot`: Kojima et al., 2022).

use pikerag_knowledge::{Answer, Context, Question, Role, Schema};
use pikerag_narrate::{InWords, Language, Sentence};
use pikerag_prompt::{Prompt, Reply, Unreadable, object, quiet_headings, shape, text};
use pikerag_reason::how_to_answer_alone;
use serde_json::json;

use crate::conclude::{conclude_as, refuse};
use crate::ports::{Ports, SolveError};
use crate::run::Run;

const STEP_BY_STEP: Prompt =
    Prompt::new(Role::Answer, include_str!("prompts/zero_shot_cot.md"), 2048).with_earlier(
        "methods/zero_shot_cot",
        &[include_str!("prompts/earlier/zero_shot_cot.1.md")],
    );

/// A model's answer from its own knowledge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recalled {
    /// The answer; not empty.
    pub answer: String,
    /// Why; may be empty.
    pub rationale: String,
}

/// Answers a question or sub-question step by step, from what the model knows and from notes of earlier
/// results; `None` where the reply stayed unreadable.
pub async fn recall(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    notes: &str,
) -> Result<Option<Recalled>, SolveError> {
    let (asked, notes) = (quiet_headings(&question.text), quiet_headings(notes));
    let form = how_to_answer_alone(question);
    let inputs = [("form", form.as_ref()), ("question", asked.as_str()), ("notes", notes.as_str())];
    Ok(run.ask::<StepByStep>(ports, &STEP_BY_STEP, &inputs).await?.map(|reply| reply.0))
}

/// Ends with the recalled answer; refuses without one, because there is no evidence to quote.
pub async fn conclude_recalled(
    ports: &Ports,
    recalled: Option<Recalled>,
    run: &mut Run,
) -> Result<Answer, SolveError> {
    match recalled {
        Some(Recalled { answer, rationale }) => {
            conclude_as(ports, Context::default(), answer, rationale, run).await
        }
        None => {
            let why = Sentence::ReplyUnreadable.in_words(Language::English);
            refuse(ports, Context::default(), why, run).await
        }
    }
}

struct StepByStep(Recalled);

impl Reply for StepByStep {
    fn schema() -> Option<Schema> {
        Some(shape(
            "reasoned_answer",
            json!({"rationale": {"type": "string"}, "answer": {"type": "string"}}),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        recalled(reply).map(Self)
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_step_by_step: StepByStep }

/// Reads an answer and its rationale.
///
/// # Errors
/// The reply holds no answer.
pub fn recalled(reply: &str) -> Result<Recalled, Unreadable> {
    let object = object(reply, &["answer"])?;
    let rationale = text(&object, "rationale").unwrap_or_default();
    Ok(Recalled { answer: text(&object, "answer")?, rationale })
}
