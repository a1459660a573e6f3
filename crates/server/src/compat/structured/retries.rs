//! Recognises the messages by which a client asks to correct earlier values, so that they are not asked as questions.
//! The wording is that of instructor and Pydantic AI.

use super::super::chat::Message;

/// The beginnings of a client's complaint.
const BEGINNINGS: [&str; 5] = [
    "Validation Error found:\n",
    "Correct your JSON ONLY RESPONSE, based on the following errors:",
    "Recall the function correctly, fix the errors",
    "Validation feedback:\n",
    "Your previous response failed the application's validation",
];
/// The end of a complaint that begins with a number of errors.
const END: &str = "Fix the errors and try again.";

/// The conversation up to the question, and the last complaint about values for it.
///
/// A complaint is a result of the function that must be called again, or a client's message of known wording. The
/// assistant's message before it goes too: it is the reply that the client refused.
pub(super) fn without_retries(
    mut messages: Vec<Message>,
    is_function: bool,
) -> (Vec<Message>, Option<String>) {
    let mut complaint = None;
    let question = messages.iter().position(|message| message.role == "user");
    while let Some((length, text)) = retried(&messages, question, is_function) {
        complaint = complaint.or(Some(text));
        messages.truncate(length);
    }
    (messages, complaint)
}

/// The number of messages before the last complaint and its values, and the complaint. `question` is the place of the
/// first message of a person, which must stay.
fn retried(
    messages: &[Message],
    question: Option<usize>,
    is_function: bool,
) -> Option<(usize, String)> {
    let results = messages.iter().rev().take_while(|message| message.role == "tool").count();
    let first = messages.len().checked_sub(results.max(1))?;
    let complaint = messages.get(first)?.text();
    let is_complaint = match results {
        0 => messages.get(first)?.role == "user" && is_worded_as_complaint(&complaint),
        _ => is_function,
    };
    let before = messages.get(..first).filter(|_| is_complaint)?;
    // Pydantic AI explains its complaint in a system message before it.
    let is_instruction = |message: &&Message| message.role == "system";
    let instructions = before.iter().rev().take_while(is_instruction).count();
    let reply = first.checked_sub(instructions + 1);
    let is_reply = |at: &usize| before.get(*at).is_some_and(|it| it.role == "assistant");
    let length = reply.filter(is_reply).unwrap_or(first);
    question.filter(|question| *question < length)?;
    Some((length, complaint))
}

fn is_worded_as_complaint(text: &str) -> bool {
    let text = text.trim();
    let counts_errors = text.split_once(" validation error").is_some_and(|(number, _)| {
        number.chars().all(|c| c.is_ascii_digit()) && text.ends_with(END)
    });
    counts_errors || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn messages(all: &[(&str, &str)]) -> Vec<Message> {
        let message = |(role, text): &(&str, &str)| {
            serde_json::from_value(json!({"role": role, "content": text})).unwrap()
        };
        all.iter().map(message).collect()
    }

    /// The texts that are left, and the complaint.
    fn left(all: &[(&str, &str)], is_function: bool) -> (Vec<String>, Option<String>) {
        let (messages, complaint) = without_retries(messages(all), is_function);
        (messages.iter().map(Message::text).collect(), complaint)
    }

    const QUESTION: (&str, &str) = ("user", "Which is the capital?");
    const VALUES: (&str, &str) = ("assistant", "{\"capital\":\"Oslo\"}");

    #[test]
    fn complaints_of_clients_lead_back_to_the_question() {
        let by_user = [
            "Correct your JSON ONLY RESPONSE, based on the following errors:\n1 validation error for City",
            "Validation Error found:\n1 validation error for City\nRecall the function correctly, fix the errors",
            "2 validation errors:\n```json\n[]\n```\n\nFix the errors and try again.",
            "Validation feedback:\nOne word.\n\nFix the errors and try again.",
            "Your previous response failed the application's validation (this is automated feedback, not a message from the user):\n<pyai:validation_errors>\n[]\n</pyai:validation_errors>",
        ];
        for complaint in by_user {
            let (texts, found) = left(&[QUESTION, VALUES, ("user", complaint)], false);
            assert_eq!((texts, found.as_deref()), (vec![QUESTION.1.to_owned()], Some(complaint)));
            let explained = ("system", "The application says so in a note.");
            let (texts, _) = left(&[QUESTION, VALUES, explained, ("user", complaint)], false);
            assert_eq!(texts, [QUESTION.1]);
            // A stream's values are not repeated.
            let (texts, _) = left(&[QUESTION, ("user", complaint)], false);
            assert_eq!(texts, [QUESTION.1]);
        }
        let result = ("tool", "1 validation error for City\nRecall the function correctly");
        let called = ("assistant", "");
        let (texts, found) = left(&[QUESTION, called, result, called, result, result], true);
        assert_eq!((texts, found.as_deref()), (vec![QUESTION.1.to_owned()], Some(result.1)));
    }

    #[test]
    fn the_last_of_several_complaints_counts() {
        let (first, second) =
            ("Validation feedback:\nOne word.", "Validation feedback:\nIn English.");
        let all = [QUESTION, VALUES, ("user", first), VALUES, ("user", second)];
        let (texts, found) = left(&all, false);
        assert_eq!((texts, found.as_deref()), (vec![QUESTION.1.to_owned()], Some(second)));
    }

    #[test]
    fn other_messages_are_questions() {
        for last in [
            "And of Sweden?",
            "2 validation errors in the log: why?",
            "Fix the errors and try again.",
        ] {
            let all = [QUESTION, VALUES, ("user", last)];
            assert_eq!(left(&all, false), (all.map(|(_, text)| text.to_owned()).to_vec(), None));
        }
        // Without a question before it, a complaint is asked.
        let alone = [("user", "Validation feedback:\nOne word.")];
        assert_eq!(left(&alone, false).1, None);
        let instructed = [("system", "Be short."), alone[0], VALUES, alone[0]];
        assert_eq!(left(&instructed, false).0, ["Be short.", "Validation feedback:\nOne word."]);
        // A result of a function that need not be called again is no complaint.
        let results = [QUESTION, ("assistant", ""), ("tool", "ok")];
        assert_eq!(left(&results, false).1, None);
    }
}
