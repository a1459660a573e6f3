//! Reads a prompt as messages: `LiteLLM` joins a conversation under headings before it sends it to
//! `/api/generate`.

use serde_json::json;

use crate::compat::chat::Message;

/// `LiteLLM`'s headings (models named `ollama/…`), with the roles of the messages below them.
const HEADINGS: &[(&str, &str)] =
    &[("### User:", "user"), ("### System:", "system"), ("### Assistant:", "assistant")];

/// The messages that a prompt joins under headings; without a heading in its first line, the whole
/// prompt is one message of the role `user`.
pub(super) fn messages(prompt: &str) -> Vec<Message> {
    if prompt.lines().next().and_then(role).is_none() {
        return vec![message("user", prompt)];
    }
    let mut turns: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in prompt.lines() {
        if let Some(role) = role(line) {
            turns.push((role, Vec::new()));
        } else if let Some((_, lines)) = turns.last_mut() {
            lines.push(line);
        }
    }
    turns.iter().map(|(role, lines)| message(role, lines.join("\n").trim())).collect()
}

pub(super) fn message(role: &str, text: &str) -> Message {
    Message { role: role.to_owned(), content: json!(text) }
}

/// The role of the message below a line; `None` if the line is no heading.
fn role(line: &str) -> Option<&'static str> {
    HEADINGS.iter().find(|(heading, _)| line.trim_end() == *heading).map(|(_, role)| *role)
}

#[cfg(test)]
mod tests {
    use super::messages;

    fn shown(prompt: &str) -> Vec<String> {
        let messages = messages(prompt);
        messages.iter().map(|message| format!("{}: {}", message.role, message.text())).collect()
    }

    #[test]
    fn joined_conversations_are_split_at_their_headings() {
        let joined = "### User:\nWho wrote it?\n\n### System:\nBe brief.\n\n### Assistant:\nAda.\n\n### User:\nWhere?\nAnd when?\n\n";
        let turns = [
            "user: Who wrote it?",
            "system: Be brief.",
            "assistant: Ada.",
            "user: Where?\nAnd when?",
        ];
        assert_eq!(shown(joined), turns);
    }

    #[test]
    fn other_prompts_are_one_question() {
        assert_eq!(shown("Who wrote it?"), ["user: Who wrote it?"]);
        let quoted = "What does this mean?\n### User:\nx";
        assert_eq!(shown(quoted), [format!("user: {quoted}")]);
    }
}
