//! What is a model told about the answer that is wanted? The same words in every prompt that asks for one.

use pikerag_knowledge::AnswerForm;

/// How an answer has to look that is read off passages: the metric of a task counts what its prompt asks for.
pub fn how_to_answer(form: AnswerForm) -> &'static str {
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
        AnswerForm::Choice | AnswerForm::Articles | AnswerForm::Crimes => how_to_answer_alone(form),
    }
}

/// How an answer has to look that is given without passages: from what is known, or from other answers.
pub fn how_to_answer_alone(form: AnswerForm) -> &'static str {
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
