//! Has a model shown, by what it said, that it can collect facts and answer at once?

use pikerag_knowledge::{AnswerForm, Question};
use pikerag_language::fold::tokens;

use super::shelf::Shelf;
use crate::verdict::is_unknown;

/// Words of an answer that is wanted short, at most: more is a sentence.
const SHORT: usize = 10;

/// Whether an answer looks like one, and rests on words that stand in the passages. Weak models give dots or sentences
/// in place of an answer, and facts that nobody wrote.
pub(super) fn holds(question: &Question, shelf: &Shelf, answer: &str) -> bool {
    let words = tokens(answer).len();
    if words == 0 || is_unknown(answer) || !shelf.has_fact_that_stands() {
        return false;
    }
    match question.form {
        AnswerForm::Short => words <= SHORT && !is_sentence(answer, words),
        AnswerForm::Choice => words <= SHORT && answer.chars().any(|c| c.is_ascii_uppercase()),
        AnswerForm::Fitting | AnswerForm::Long | AnswerForm::Articles | AnswerForm::Crimes => true,
    }
}

/// Whether a short answer is told in a sentence: "The Corrie was launched first." for "the Corrie". Names and dates end in a
/// full stop too ("Robert Hale Jr."), though not of many words.
fn is_sentence(answer: &str, words: usize) -> bool {
    const SENTENCE: usize = 4;
    SENTENCE <= words && answer.trim_end().ends_with(['.', '!'])
}
