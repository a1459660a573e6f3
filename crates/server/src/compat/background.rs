//! Answers the background tasks of chat programs without a method: titles, tags, follow-ups,
//! searches, tools. These instructions concern the conversation, so no document answers them. They
//! are recognized by the wording of Open WebUI's default prompts.

use serde_json::json;

/// The largest number of characters kept of an older conversation.
const REMEMBERED: usize = 4000;

/// The reply to a background task; `None` for a question of a person.
pub(super) fn background(system: &str, text: &str) -> Option<String> {
    let (system, text) = (system.trim_start(), text.trim_start());
    if system.starts_with("Available Tools:") {
        return Some(r#"{"tool_calls": []}"#.to_owned());
    }
    if system.contains("private memory reviewer") {
        return Some("{}".to_owned());
    }
    if text.starts_with("Your task is to reflect the speaker's likely facial expression") {
        return Some(String::new());
    }
    if text.starts_with("You have been provided with a set of responses from various models") {
        // A model would merge them; without one, the responses are listed.
        let responses = text.split_once("Responses from models:").map(|(_, rest)| rest.trim());
        return Some(responses.unwrap_or_default().to_owned());
    }
    let task = text.strip_prefix("### Task:")?;
    if task.trim_start().starts_with("Summarize the conversation history") {
        return Some(compacted(task));
    }
    if !(task.contains("<chat_history>") || task.contains("### Chat History")) {
        return None;
    }
    Some(reply(task))
}

/// Replies by what the task requests before the history begins.
fn reply(task: &str) -> String {
    let asked = task.split("<chat_history>").next().unwrap_or_default().to_lowercase();
    let requests = |word: &str| asked.contains(word);
    if requests("autocompletion") {
        r#"{"text": ""}"#.to_owned()
    } else if requests("follow-up") || requests("follow_ups") {
        r#"{"follow_ups": []}"#.to_owned()
    } else if requests("tags") {
        r#"{"tags": []}"#.to_owned()
    } else if requests("quer") {
        r#"{"queries": []}"#.to_owned()
    } else if requests("title") {
        json!({ "title": first_question(task) }).to_string()
    } else {
        String::new()
    }
}

/// The first words of the person in a history (`USER: …`), as a title.
fn first_question(text: &str) -> String {
    const WORDS: usize = 6;
    let history = text.split("<chat_history>").nth(1).unwrap_or_default();
    let first = history.lines().find_map(|line| line.trim().strip_prefix("USER:"));
    let words: Vec<&str> = first.unwrap_or_default().split_whitespace().take(WORDS).collect();
    // Chinese has no blanks between words.
    words.join(" ").chars().take(48).collect()
}

/// The end of the text to summarize, unchanged.
fn compacted(task: &str) -> String {
    let text = task.split_once("### Messages Being Compacted:").map_or(task, |(_, rest)| rest);
    let text = text.split("### Recent Messages Kept In Context:").next().unwrap_or_default().trim();
    let skipped = text.chars().count().saturating_sub(REMEMBERED);
    text.chars().skip(skipped).collect()
}

/// The person's own words, if a chat program put excerpts of attached files before them: the answer
/// comes from the base.
pub(super) fn without_wrapping(text: &str) -> &str {
    let is_wrapped = text.trim_start().starts_with("### Task:\nRespond to the user query");
    let behind = text.rsplit_once("</context>").map(|(_, behind)| behind.trim());
    match behind {
        Some(question) if is_wrapped && !question.is_empty() => question,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{background, without_wrapping};

    #[test]
    fn background_tasks_of_chat_programs_run_no_method() {
        let of = |text: &str| background("", text);
        let title = "### Task:\nGenerate a concise, 3-5 word title with an emoji.\n<chat_history>\nUSER: Who calibrates the load sensor of crane 7 today?\nASSISTANT: Ada.\n</chat_history>";
        assert_eq!(of(title).unwrap(), r#"{"title":"Who calibrates the load sensor of"}"#);
        let tags = "### Task:\nGenerate 1-3 broad tags.\n<chat_history>\nUSER: x\n</chat_history>";
        assert_eq!(of(tags).unwrap(), r#"{"tags": []}"#);
        let more = "### Task:\nSuggest 3-5 relevant follow-up questions.\n<chat_history>\nUSER: x\n</chat_history>";
        assert_eq!(of(more).unwrap(), r#"{"follow_ups": []}"#);
        let face = "Your task is to reflect the speaker's likely facial expression through a fitting emoji.";
        assert_eq!(of(face).unwrap(), "");
        let merge = "You have been provided with a set of responses from various models to the latest user query: \"x\"\n\nResponses from models: A. B.";
        assert_eq!(of(merge).unwrap(), "A. B.");
        let compact = "### Task:\nSummarize the conversation history that goes.\n### Messages Being Compacted:\nuser: Who?\n### Recent Messages Kept In Context:\nx";
        assert_eq!(of(compact).unwrap(), "user: Who?");
        assert_eq!(background("Available Tools: []", "Query: x").unwrap(), r#"{"tool_calls": []}"#);
        assert_eq!(of("What is the task of the crane's mate?"), None);
        assert_eq!(of("### Task:\nSummarize the handbook."), None);
        assert_eq!(background("You are kind.", "Who?"), None);
    }

    #[test]
    fn text_before_the_question_of_a_person_is_removed() {
        let wrapped = "### Task:\nRespond to the user query using the provided context.\n<context>\n<source id=\"1\">x</source>\n</context>\nWho calibrates it?";
        assert_eq!(without_wrapping(wrapped), "Who calibrates it?");
        assert_eq!(without_wrapping("What does </context> mean?"), "What does </context> mean?");
    }
}
