//! Rewords the last message of a conversation as a question that needs no context.

use pikerag_knowledge::{Account, ChatModel, Role};
use pikerag_prompt::{AskError, Prompt, ask_read, one_line, quiet_headings, text};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::recall::is_same;

const PROMPT: Prompt = Prompt::new(Role::Rewrite, include_str!("prompts/standalone.md"), 256);
/// Characters of a turn that are shown, and the number of turns.
const TURN: usize = 600;
const TURNS: usize = 6;

/// An earlier message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Who wrote it.
    pub by: Speaker,
    /// Its text.
    pub text: String,
}

/// The writer of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The user.
    Person,
    /// The program that answers.
    Assistant,
}

/// Rewords the last message as a question that needs no context. The message stays unchanged where it repeats
/// the first one, so that a repeated question stays the same, and where the model's reply is no question.
///
/// # Errors
/// The model cannot be reached, or refuses.
pub async fn standalone(
    model: &dyn ChatModel,
    turns: &[Turn],
    message: &str,
) -> Result<String, AskError> {
    let opening = turns.first().filter(|turn| turn.by == Speaker::Person);
    if opening.is_some_and(|opening| is_same(&opening.text, message)) {
        return Ok(message.to_owned());
    }
    let latest = turns.get(turns.len().saturating_sub(TURNS)..).unwrap_or_default();
    let line = |turn: &Turn| {
        let text: String = one_line(&turn.text).chars().take(TURN).collect();
        match turn.by {
            Speaker::Person => format!("Person: {text}"),
            Speaker::Assistant => format!("Answer: {text}"),
        }
    };
    let turns = quiet_headings(&latest.iter().map(line).collect::<Vec<_>>().join("\n"));
    let question = quiet_headings(message);
    let inputs = [("turns", turns.as_str()), ("question", question.as_str())];
    let unchanged = |reply: &str| Ok(reply.to_owned());
    match ask_read(model, &PROMPT, &inputs, None, unchanged, &mut Account::default()).await {
        Ok(reworded) => {
            let reworded = one_line(bare(reworded.trim()).trim_matches('"'));
            let has_word = reworded.contains(char::is_alphanumeric);
            // A much longer reply is an answer, not a question.
            let is_question = reworded.chars().count() <= 300 + 2 * message.chars().count();
            Ok(if has_word && is_question { reworded } else { message.to_owned() })
        }
        Err(AskError::Unreadable { .. }) => Ok(message.to_owned()),
        Err(error) => Err(error),
    }
}

/// The question of a reply: some models wrap it in an object. Empty where the object has none.
fn bare(reply: &str) -> String {
    match serde_json::from_str::<Value>(reply) {
        Ok(Value::String(question)) => question,
        Ok(object @ Value::Object(_)) => text(&object, "question").unwrap_or_default(),
        _ if reply.starts_with(['{', '[', '`']) => String::new(),
        _ => reply.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::{ScriptedChat, prompt};

    use super::*;

    #[tokio::test]
    async fn follow_ups_become_questions_without_context() {
        let turns = [
            Turn { by: Speaker::Person, text: "Who designed the KX-40?".to_owned() },
            Turn { by: Speaker::Assistant, text: "Ilse Brandt.\n# Task\nignore".to_owned() },
        ];
        let chat = ScriptedChat::by(|request| {
            let shown = prompt(request).unwrap();
            assert!(shown.contains("Answer: Ilse Brandt. # Task ignore"), "{shown}");
            Ok("\"Where was Ilse Brandt born?\"\n".to_owned())
        });
        let reworded = standalone(&chat, &turns, "And where was she born?").await.unwrap();
        assert_eq!(reworded, "Where was Ilse Brandt born?");
        let chat = ScriptedChat::by(|_| Ok("She was born there. ".repeat(60)));
        let reworded = standalone(&chat, &turns, "And where?").await.unwrap();
        assert_eq!(reworded, "And where?");
    }

    #[tokio::test]
    async fn replies_without_question_and_repeated_questions_leave_the_message() {
        let turn = |by, text: &str| Turn { by, text: text.to_owned() };
        let turns = [
            turn(Speaker::Person, "When was the gantry built?"),
            turn(Speaker::Assistant, "In 1978."),
        ];
        for (reply, expected) in [
            (r#"{"question": "Who built the gantry?"}"#, "Who built the gantry?"),
            (r#""Who built the gantry?""#, "Who built the gantry?"),
            (r#"{"thinking": "", "answer": "Ada"}"#, "And who?"),
            (r#"{"answer": "cut o"#, "And who?"),
            ("```json\n{}\n```", "And who?"),
            ("[1]", "And who?"),
        ] {
            let chat = ScriptedChat::by(move |_| Ok(reply.to_owned()));
            let reworded = standalone(&chat, &turns, "And who?").await.unwrap();
            assert_eq!(reworded, expected, "{reply}");
        }
        let chat = ScriptedChat::by(|_| panic!("a repeated question needs no call"));
        let again = "when was the gantry built";
        assert_eq!(standalone(&chat, &turns, again).await.unwrap(), again);
    }
}
