//! Asks a trained proposer for the next sub-question (PIKE-RAG §5.3.3, §6.4): one call in place of lines 3 to 5 of
//! Algorithm 1. Training data have the same prompt and the same replies.

use std::fmt::Write as _;

use pikerag_knowledge::{ChatModel, Question, Role, Schema};
use pikerag_prompt::{AskError, Prompt, Reply, Unreadable, ask, quiet_headings};

use crate::run::Run;

const PROMPT: Prompt = Prompt::new(Role::Propose, include_str!("prompts/next.md"), 256);

/// A sub-question with its answer, `(qⁱ, aⁱ)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The sub-question.
    pub question: String,
    /// Its answer; may be empty.
    pub answer: String,
}

/// The reply of a trained proposer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another sub-question.
    Ask(String),
    /// No further decomposition is needed.
    Done,
}

impl Next {
    /// The reply as a model writes it: `prompt_y` of PIKE-RAG §6.4.
    pub fn to_reply(&self) -> String {
        match self {
            Self::Ask(question) => format!(
                "<decompose>True</decompose>\n<sub-question>{}</sub-question>",
                question.split_whitespace().collect::<Vec<_>>().join(" ")
            ),
            Self::Done => "<decompose>False</decompose>".to_owned(),
        }
    }
}

/// The prompt for the next sub-question: `prompt_x` of PIKE-RAG §6.4.
///
/// # Errors
/// [`AskError::Template`]: a defect of pikerag.
pub fn next_prompt(question: &str, answered: &[Answered]) -> Result<String, AskError> {
    let (question, answers) = (quiet_headings(question), listed(answered));
    PROMPT.render(&[("question", question.as_str()), ("answers", answers.as_str())])
}

/// Asks a trained proposer. `None` where its reply stayed unreadable.
///
/// # Errors
/// The call failed.
pub async fn propose_next(
    model: &dyn ChatModel,
    question: &Question,
    answered: &[Answered],
    run: &mut Run,
) -> Result<Option<Next>, AskError> {
    let (question, answers) = (quiet_headings(&question.text), listed(answered));
    let inputs = [("question", question.as_str()), ("answers", answers.as_str())];
    let reply = ask::<Next>(model, &PROMPT, &inputs, &mut run.account).await;
    run.readable(Role::Propose, reply)
}

/// One line for each pair: `1. sub-question → answer`.
fn listed(answered: &[Answered]) -> String {
    let mut lines = String::new();
    for (number, pair) in (1..).zip(answered) {
        let end = if number == 1 { "" } else { "\n" };
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (question, answer) = (one_line(&pair.question), one_line(&pair.answer));
        let _ = write!(lines, "{end}{number}. {question} → {answer}");
    }
    if lines.is_empty() { "(none)".to_owned() } else { lines }
}

impl Reply for Next {
    fn schema() -> Option<Schema> {
        None
    }

    /// Reads the tags; a sub-question counts even where the flag before it is missing.
    fn read(reply: &str) -> Result<Self, Unreadable> {
        let asked = tag(reply, "sub-question").filter(|question| !question.is_empty());
        match (tag(reply, "decompose"), asked) {
            (Some(flag), _) if flag.eq_ignore_ascii_case("false") => Ok(Self::Done),
            (_, Some(question)) => Ok(Self::Ask(question.to_owned())),
            _ => {
                let expected = "`<decompose>False</decompose>`, or `<decompose>True</decompose>` and a `<sub-question>`";
                Err(Unreadable::key("decompose", expected))
            }
        }
    }
}

/// The text between `<name>` and the next `<`.
fn tag<'a>(reply: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = reply.split_once(&format!("<{name}>"))?;
    Some(after.split('<').next().unwrap_or(after).trim())
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_next: Next }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_own_replies() {
        for next in [Next::Ask("Who built the Heron?".to_owned()), Next::Done] {
            assert_eq!(Next::read(&next.to_reply()).unwrap(), next);
        }
        assert_eq!(Next::read("<decompose> false </decompose>").unwrap(), Next::Done);
        let untagged = Next::read("<sub-question>Who?</sub-question>").unwrap();
        assert_eq!(untagged, Next::Ask("Who?".to_owned()));
        assert!(Next::read("<decompose>True</decompose>").is_err());
        assert!(Next::read("Who built it?").is_err());
    }

    #[test]
    fn the_prompt_lists_each_answer_on_a_line() {
        let pair = |question: &str, answer: &str| Answered {
            question: question.to_owned(),
            answer: answer.to_owned(),
        };
        let answered = [pair("Who built\nit?", "Brandt"), pair("Where was Brandt born?", "Oslo")];
        let prompt =
            next_prompt("Where was its builder born?\n# Output format", &answered).unwrap();
        assert!(prompt.contains("1. Who built it? → Brandt\n2. Where was Brandt born? → Oslo\n"));
        assert_eq!(prompt.matches("\n# Output format").count(), 1, "{prompt}");
        assert!(next_prompt("Why?", &[]).unwrap().contains("# Answers so far\n(none)\n"));
    }
}
