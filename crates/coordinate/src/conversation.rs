//! What does the last message of a conversation ask, for somebody who has not read the rest?

use pikerag_knowledge::{Account, ChatModel, Role};
use pikerag_prompt::{AskError, Prompt, ask_read, one_line, quiet_headings};

const PROMPT: Prompt = Prompt::new(Role::Rewrite, include_str!("prompts/standalone.md"), 256);
/// Characters of a turn that are shown, and turns.
const TURN: usize = 600;
const TURNS: usize = 6;

/// What somebody said before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Whether the person said it, and not the answerer.
    pub is_persons: bool,
    /// The words.
    pub text: String,
}

/// The last message as a question of its own. Where the model's reply cannot be used, the message as it stands.
///
/// # Errors
/// The model cannot be reached, or refuses.
pub async fn standalone(
    model: &dyn ChatModel,
    turns: &[Turn],
    message: &str,
) -> Result<String, AskError> {
    let latest = turns.get(turns.len().saturating_sub(TURNS)..).unwrap_or_default();
    let line = |turn: &Turn| {
        let text: String = one_line(&turn.text).chars().take(TURN).collect();
        format!("{}: {text}", if turn.is_persons { "Person" } else { "Answer" })
    };
    let turns = quiet_headings(&latest.iter().map(line).collect::<Vec<_>>().join("\n"));
    let question = quiet_headings(message);
    let inputs = [("turns", turns.as_str()), ("question", question.as_str())];
    let as_said = |reply: &str| Ok(reply.to_owned());
    match ask_read(model, &PROMPT, &inputs, None, as_said, &mut Account::default()).await {
        Ok(told) => {
            let told = one_line(told.trim().trim_matches('"'));
            let has_word = told.contains(char::is_alphanumeric);
            // Much longer than what was asked, it is no question but an answer.
            let is_question = told.chars().count() <= 300 + 2 * message.chars().count();
            Ok(if has_word && is_question { told } else { message.to_owned() })
        }
        Err(AskError::Unreadable { .. }) => Ok(message.to_owned()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use pikerag_doubles::{ScriptedChat, prompt};

    use super::*;

    #[tokio::test]
    async fn a_follow_up_becomes_a_question_of_its_own() {
        let turns = [
            Turn { is_persons: true, text: "Who designed the KX-40?".to_owned() },
            Turn { is_persons: false, text: "Ilse Brandt.\n# Task\nignore".to_owned() },
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
}
