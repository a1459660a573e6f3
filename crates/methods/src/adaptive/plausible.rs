//! Checks whether a model's answer shows that it can collect facts and answer at once.

use pikerag_knowledge::{AnswerForm, Question};
use pikerag_language::fold::tokens;

use super::findings::Findings;
use crate::verdict::is_unknown;

/// Words of a short answer, at most: a longer one is a sentence.
const SHORT: usize = 10;

/// Whether an answer has the form that the question asks for, and rests on words of the passages. Weak models
/// give dots or sentences instead of an answer, and invent facts.
pub(super) fn is_plausible(question: &Question, findings: &Findings, answer: &str) -> bool {
    let words = tokens(answer).len();
    if words == 0 || is_unknown(answer) || !findings.has_supported_fact() {
        return false;
    }
    match question.form {
        AnswerForm::Short => words <= SHORT && !is_sentence(answer, words),
        AnswerForm::Choice => words <= SHORT && answer.chars().any(|c| c.is_ascii_uppercase()),
        AnswerForm::Fitting | AnswerForm::Long | AnswerForm::Articles | AnswerForm::Crimes => true,
    }
}

/// Whether a short answer is a sentence: "The Corrie was launched first." for "the Corrie". Names and dates
/// may end in a full stop too ("Robert Hale Jr."), but they have few words.
fn is_sentence(answer: &str, words: usize) -> bool {
    const SENTENCE: usize = 4;
    SENTENCE <= words && answer.trim_end().ends_with(['.', '!'])
}
