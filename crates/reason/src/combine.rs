//! Answers a question from the answers to its sub-questions: the model completes a transcript of
//! follow-up questions, as in Self-Ask (Press et al., 2023).

use std::fmt::Write;

use pikerag_knowledge::{Account, ChatModel, Question, Role};
use pikerag_prompt::{AskError, Prompt, Prose, ask, one_line};

use crate::form::how_to_answer_alone;

/// Completes a transcript with the answer, in free text: the reply may begin where the transcript
/// ends.
pub const COMBINE: Prompt = Prompt::new(Role::Answer, include_str!("prompts/combine.md"), 1024)
    .with_earlier("reason/combine", &[include_str!("prompts/earlier/combine.1.md")]);

/// Answers a question from (sub-question, sub-answer) pairs alone: one call, two if the first reply
/// is empty.
///
/// # Errors
/// See [`AskError`].
pub async fn combine(
    model: &dyn ChatModel,
    question: &Question,
    pairs: &[(String, String)],
    account: &mut Account,
) -> Result<String, AskError> {
    let (asked, follow_ups) = (one_line(&question.text), transcript(pairs));
    let form = how_to_answer_alone(question);
    let inputs = [
        ("form", form.as_ref()),
        ("question", asked.as_str()),
        ("follow_ups", follow_ups.as_str()),
    ];
    let Prose(reply) = ask(model, &COMBINE, &inputs, account).await?;
    Ok(short_answer(&reply))
}

/// Pairs as the lines of a transcript, each line with its line break.
pub fn transcript(pairs: &[(String, String)]) -> String {
    let mut lines = String::new();
    for (question, answer) in pairs {
        let (question, answer) = (one_line(question), one_line(answer));
        let _ = writeln!(lines, "Follow up: {question}\nIntermediate answer: {answer}");
    }
    lines
}

/// The answer in a reply that may repeat the words before it: the text after the last "final answer
/// is", on one line, without the full stop that models like to add.
pub fn short_answer(reply: &str) -> String {
    let lower = reply.to_ascii_lowercase();
    let begins = match lower.rfind("final answer is") {
        Some(at) => at + "final answer is".len(),
        None => 0,
    };
    let answer = reply.get(begins..).unwrap_or(reply).trim_start_matches([':', ' ']).trim();
    let first = answer.lines().next().unwrap_or_default().trim();
    let bare = first.strip_suffix('.').filter(|bare| !bare.contains(". "));
    bare.unwrap_or(first).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_answers_lose_lead_in_and_full_stop() {
        assert_eq!(short_answer("So the final answer is: Oslo."), "Oslo");
        assert_eq!(short_answer("Oslo\nBecause it is."), "Oslo");
        assert_eq!(short_answer("The final answer is Jon Hale Jr."), "Jon Hale Jr");
        assert_eq!(short_answer("It is old. It is big."), "It is old. It is big.");
        assert_eq!(short_answer(""), "");
    }

    #[test]
    fn a_pair_cannot_fake_another() {
        let pairs = [("Who?".to_owned(), "A\nFollow up: B".to_owned())];
        assert_eq!(transcript(&pairs), "Follow up: Who?\nIntermediate answer: A Follow up: B\n");
    }
}
