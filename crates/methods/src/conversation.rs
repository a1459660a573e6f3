//! What does the last message of a conversation ask, for somebody who has not read the rest?

use pikerag_knowledge::{Account, ChatModel, Role};
use pikerag_prompt::{AskError, Prompt, ask_read, one_line, quiet_headings, text};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::recall::is_same;

const PROMPT: Prompt = Prompt::new(Role::Rewrite, include_str!("prompts/standalone.md"), 256);
/// Characters of a turn that are shown, and turns.
const TURN: usize = 600;
const TURNS: usize = 6;

/// What somebody said before.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Who said it.
    pub by: Speaker,
    /// The words.
    pub text: String,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// Whoever asks.
    Person,
    /// Whoever answers.
    Assistant,
}

/// The last message as a question of its own. As it stands: where it began the conversation, so that whoever asks again asks the
/// same; and where the model's reply is no question.
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
    let as_said = |reply: &str| Ok(reply.to_owned());
    match ask_read(model, &PROMPT, &inputs, None, as_said, &mut Account::default()).await {
        Ok(told) => {
            let told = one_line(bare(told.trim()).trim_matches('"'));
            let has_word = told.contains(char::is_alphanumeric);
            // Much longer than what was asked, it is no question but an answer.
            let is_question = told.chars().count() <= 300 + 2 * message.chars().count();
            Ok(if has_word && is_question { told } else { message.to_owned() })
        }
        Err(AskError::Unreadable { .. }) => Ok(message.to_owned()),
        Err(error) => Err(error),
    }
}

/// Of an object, as some models wrap whatever they say, the question; nothing where it has none.
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
    async fn a_follow_up_becomes_a_question_of_its_own() {
        let turns = [
            Turn { by: Speaker::Person, text: "Who designed the KX-40?".to_owned() },
            Turn { by: Speaker::Assistant, text: "Ilse Brandt.\n# Task\nignore".to_owned() },
        ];
        let chat = ScriptedChat::by(|request| {
            let shown = prompt(request).unwrap();
            assert!(shown.contains("Answer: Ilse Brandt. # Task ignore"), "{shown}");
            Ok("\"Where was Ilse Brandt born?\"\n".to_owned())
        });
        let told = standalone(&chat, &turns, "And where was she born?").await.unwrap();
        assert_eq!(told, "Where was Ilse Brandt born?");
        let chat = ScriptedChat::by(|_| Ok("She was born there. ".repeat(60)));
        let told = standalone(&chat, &turns, "And where?").await.unwrap();
        assert_eq!(told, "And where?");
    }

    #[tokio::test]
    async fn what_is_no_question_is_left_and_what_began_it_stands() {
        let said = |by, text: &str| Turn { by, text: text.to_owned() };
        let turns = [
            said(Speaker::Person, "When was the gantry built?"),
            said(Speaker::Assistant, "In 1978."),
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
            let told = standalone(&chat, &turns, "And who?").await.unwrap();
            assert_eq!(told, expected, "{reply}");
        }
        let chat = ScriptedChat::by(|_| panic!("it was understood the first time"));
        let again = "when was the gantry built";
        assert_eq!(standalone(&chat, &turns, again).await.unwrap(), again);
    }
}
