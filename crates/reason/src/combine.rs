//! What do the answers to sub-questions add up to? The transcript of follow-up questions that
//! Self-Ask introduced (Press et al., 2023), finished by the model.

use std::fmt::Write;

use pikerag_knowledge::{Account, ChatModel, Question, Role};
use pikerag_prompt::{AskError, Prompt, Prose, ask, one_line};

use crate::form::how_to_answer_alone;

/// Finishes a transcript with the answer, in free text: the reply may begin where the transcript
/// ends.
pub const COMBINE: Prompt = Prompt::new(Role::Answer, include_str!("prompts/combine.md"), 1024);

/// Answers a question from (sub-question, sub-answer) pairs alone: one call, two where the first
/// reply is empty.
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
    let Prose(said) = ask(model, &COMBINE, &inputs, account).await?;
    Ok(short_answer(&said))
}

/// Pairs as the lines of a transcript, each with its line break.
pub fn transcript(pairs: &[(String, String)]) -> String {
    let mut lines = String::new();
    for (question, answer) in pairs {
        let (question, answer) = (one_line(question), one_line(answer));
        let _ = writeln!(lines, "Follow up: {question}\nIntermediate answer: {answer}");
    }
    lines
}

/// The answer in a reply that may repeat the words before it: what follows the last "final answer
/// is", on one line, without the full stop that models like to add.
pub fn short_answer(said: &str) -> String {
    let lower = said.to_ascii_lowercase();
    let begins = match lower.rfind("final answer is") {
        Some(at) => at + "final answer is".len(),
        None => 0,
    };
    let answer = said.get(begins..).unwrap_or(said).trim_start_matches([':', ' ']).trim();
    let first = answer.lines().next().unwrap_or_default().trim();
    let bare = first.strip_suffix('.').filter(|bare| !bare.contains(". "));
    bare.unwrap_or(first).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_in_a_reply() {
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
