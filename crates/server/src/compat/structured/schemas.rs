//! Finds a schema that a client describes in its messages, as instructor and Pydantic AI do for models without
//! schemas of their own.

use serde_json::{Deserializer, Value};

use super::super::chat::Message;

/// Words before a schema in a system message.
const INTRODUCTIONS: [&str; 2] = ["match the following json_schema", "compatible with this schema"];
/// The request that instructor appends to the question.
const REQUEST: &str =
    "Return the correct JSON response within a ```json codeblock. not the JSON_SCHEMA";
/// The most objects of a message that are tried as a schema.
const TRIED: usize = 64;

/// The schema in a system message: its first object with properties.
pub(super) fn described(messages: &[Message]) -> Option<Value> {
    instructions(messages).find_map(|message| {
        let text = message.text();
        text.match_indices('{').take(TRIED).find_map(|(at, _)| {
            let rest = text.get(at..)?;
            let value = Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
            value.get("properties")?.is_object().then_some(value)
        })
    })
}

/// Whether a system message asks for an object that meets a schema.
pub(super) fn is_described_in_words(messages: &[Message]) -> bool {
    instructions(messages).any(|message| {
        let text = message.text();
        INTRODUCTIONS.iter().any(|words| text.contains(words))
    })
}

fn instructions(messages: &[Message]) -> impl Iterator<Item = &Message> {
    messages.iter().filter(|message| matches!(message.role.as_str(), "system" | "developer"))
}

/// The messages without a request for JSON at the end of the question.
pub(super) fn without_request_for_json(mut messages: Vec<Message>) -> Vec<Message> {
    if let Some(last) = messages.last_mut().filter(|last| last.role == "user") {
        let text = last.text();
        let question = text.trim_end().strip_suffix(REQUEST).map(str::trim_end);
        if let Some(question) = question.filter(|question| !question.is_empty()) {
            last.content = Value::String(question.to_owned());
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(role: &str, text: &str) -> Message {
        serde_json::from_value(json!({"role": role, "content": text})).unwrap()
    }

    #[test]
    fn a_schema_in_the_instructions_is_found() {
        let words = "As a genius expert, provide the parsed objects in json that match the following json_schema:\n\n{\n \"properties\": {\"name\": {\"type\": \"string\"}}, \"type\": \"object\"}\n\nMake sure {…}";
        let messages = [message("system", words), message("user", "Who?")];
        assert_eq!(described(&messages).unwrap()["properties"]["name"]["type"], "string");
        assert!(is_described_in_words(&messages));
        let other =
            [message("system", "Reply as {\"a\": 1}."), message("user", "{\"properties\": {}}")];
        assert!(described(&other).is_none() && !is_described_in_words(&other));
    }

    #[test]
    fn a_request_for_json_is_no_part_of_the_question() {
        let asked = format!("Who?\n\n{REQUEST}");
        let of = |text: &str| without_request_for_json(vec![message("user", text)])[0].text();
        assert_eq!(of(&asked), "Who?");
        assert_eq!(of("Who?"), "Who?");
        assert_eq!(of(REQUEST), REQUEST);
    }
}
