//! Words the requirements on an answer, the same in every prompt that asks for one.

use std::borrow::Cow;

use pikerag_knowledge::{AnswerForm, Question};
use pikerag_language::is_chinese;

/// The form of an answer from passages. A task's metric and its prompt ask for the same form.
pub fn how_to_answer(question: &Question) -> Cow<'static, str> {
    in_its_language(question, off_passages(question.form))
}

/// The form of an answer without passages: from the model's knowledge, or from other answers.
pub fn how_to_answer_alone(question: &Question) -> Cow<'static, str> {
    in_its_language(question, alone(question.form))
}

/// The form of a summary: whole sentences, unless the question has a form of its own.
pub fn how_to_summarize(question: &Question) -> Cow<'static, str> {
    match question.form {
        AnswerForm::Fitting => in_its_language(
            question,
            "Write whole sentences, with the words and figures of the points, in the language of the question.",
        ),
        _ => how_to_answer(question),
    }
}

/// Small models answer in English if an English prompt asks for "the language of the question", so
/// Chinese is named.
fn in_its_language(question: &Question, form: &'static str) -> Cow<'static, str> {
    match is_in_chinese(question) {
        true => Cow::Owned(form.replace("in the language of the question", "in Chinese (用中文)")),
        false => Cow::Borrowed(form),
    }
}

fn is_in_chinese(question: &Question) -> bool {
    let letters = || question.text.chars().filter(|c| c.is_alphabetic());
    let chinese = letters().filter(|c| is_chinese(*c)).count();
    let is_japanese = letters().any(|c| ('\u{3040}'..='\u{30FF}').contains(&c));
    // A Chinese question may hold names and terms in Latin letters.
    0 < chinese && !is_japanese && letters().count() <= 4 * chinese
}

fn off_passages(form: AnswerForm) -> &'static str {
    match form {
        AnswerForm::Fitting => {
            "Give the answer that the question asks for, and no more: a name, a date, a number, yes or no, or a phrase \
             where it asks for one; every item where it asks for several; whole sentences where it asks how, why or under \
             which conditions. Take the words and figures of the passages, and write in the language of the question."
        }
        AnswerForm::Short => {
            "Keep the answer as short as it can be: a name, a date, a number, yes or no, or a phrase, and nothing around \
             it. Take the words and figures of the passages (22, not 22 times), and write in the language of the question."
        }
        AnswerForm::Long => {
            "Answer in full sentences, with all conditions and exceptions that the passages tell, in their words and in \
             the language of the question."
        }
        AnswerForm::Choice | AnswerForm::Articles | AnswerForm::Crimes => alone(form),
    }
}

fn alone(form: AnswerForm) -> &'static str {
    match form {
        AnswerForm::Fitting => {
            "Give the answer that the question asks for, and no more: a name, a date, a number, yes or no, or a phrase \
             where it asks for one; every item where it asks for several; whole sentences where it asks how, why or under \
             which conditions. Write in the language of the question."
        }
        AnswerForm::Short => {
            "Keep the answer as short as it can be: a name, a date, a number, yes or no, or a phrase, and nothing around \
             it, in the language of the question."
        }
        AnswerForm::Long => {
            "Answer in full sentences, with all conditions and exceptions, in the language of the question."
        }
        AnswerForm::Choice => {
            "The answer is the letter of the right option, or the letters of all right options (such as B or ACD), and \
             nothing else."
        }
        AnswerForm::Articles => {
            "The answer names the statute and the numbers of its articles that decide the case, and nothing else, in the \
             language of the question."
        }
        AnswerForm::Crimes => {
            "The answer is the name of the crime, or the names of all of them with semicolons between them, and nothing \
             else, in the language of the question."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For every form, the prompt names Chinese as the language of a Chinese question, even with
    /// names in Latin letters.
    #[test]
    fn chinese_questions_name_chinese_as_answer_language() {
        use AnswerForm::{Articles, Crimes, Fitting, Long, Short};
        for form in [Fitting, Short, Long, Articles, Crimes] {
            for how in [how_to_answer, how_to_answer_alone, how_to_summarize] {
                let of = |text: &str| how(&Question { form, ..Question::new("", text) });
                assert!(of("HX-M150电机质保期多久？").contains("in Chinese (用中文)"), "{form:?}");
                assert!(
                    of("Who wrote 红楼梦, and when was it published?")
                        .contains("language of the question")
                );
                for other in ["", "誰がこの本を書きましたか"] {
                    assert!(of(other).contains("language of the question"), "{form:?} {other}");
                }
            }
        }
    }

    #[test]
    fn a_summary_is_not_asked_for_as_a_name_or_a_date() {
        let question = Question::new("", "Summarise the reports.");
        assert!(how_to_answer(&question).contains("a name, a date"));
        assert!(!how_to_summarize(&question).contains("a name, a date"));
        let short = Question { form: AnswerForm::Short, ..question };
        assert_eq!(how_to_summarize(&short), how_to_answer(&short));
    }
}
