//! Writes the atomic statements of a chunk: one fact each, readable alone.
//!
//! They are the third kind of atom (PIKE-RAG §5.1.2), beside questions and sentences.

use std::collections::HashSet;

use pikerag_knowledge::{Account, AtomKind, ChatModel, Chunk, Role, Schema};
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, find_json, list_items, texts, titled,
    without_thinking,
};

use crate::atomize::{Atomized, atom, atoms_schema, most_atoms, only_pronouns};

// Each fact needs only one statement, so the temperature is 0; questions need diversity instead.
const PROMPT: Prompt = Prompt::new(Role::Atomize, include_str!("prompts/statements.md"), 2048)
    .with_earlier("extract/statements", &[include_str!("prompts/earlier/statements.1.md")]);

/// Asks for the atomic statements of a chunk: one call, or two if the first reply is unreadable.
///
/// # Errors
/// Those of the model. A reply without any statement is no error.
pub async fn statement_atoms(model: &dyn ChatModel, chunk: &Chunk) -> Result<Atomized, AskError> {
    let (title, text) = titled(chunk);
    let most = most_atoms(chunk);
    let number = most.to_string();
    let inputs = [("title", title.as_str()), ("text", text.as_str()), ("most", number.as_str())];
    let statements = ask::<Statements>(model, &PROMPT, &inputs, &mut Account::default()).await?;
    let mut atomized = Atomized::default();
    let mut seen = HashSet::new();
    for statement in statements.0 {
        if only_pronouns(&statement) {
            atomized.pronouns += 1;
        } else if seen.insert(statement.to_lowercase().replace(|c: char| !c.is_alphanumeric(), ""))
        {
            atomized.atoms.push(atom(chunk, AtomKind::Statement, &statement));
        } else {
            atomized.duplicates += 1;
        }
    }
    Ok(atomized.within(chunk, most))
}

/// The prompt that [`statement_atoms`] would send, for estimates.
///
/// # Errors
/// None, unless the built-in template is broken.
pub fn statements_prompt(chunk: &Chunk) -> Result<String, AskError> {
    let (title, text) = titled(chunk);
    let most = most_atoms(chunk).to_string();
    PROMPT.render(&[("title", title.as_str()), ("text", text.as_str()), ("most", most.as_str())])
}

struct Statements(Vec<String>);

impl Reply for Statements {
    fn schema() -> Option<Schema> {
        Some(atoms_schema("statements"))
    }

    /// Reads JSON, or a list with one statement per line. Running text is unreadable.
    fn read(reply: &str) -> Result<Self, Unreadable> {
        let reply = without_thinking(reply);
        if reply.is_empty() {
            return Err(Unreadable::Empty);
        }
        if let Some(found) = find_json(reply, &["statements"]) {
            return texts(&found.value, "statements").map(Self);
        }
        let marked = |line: &&str| {
            line.trim_start()
                .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '*' | '•'))
        };
        let listed: Vec<&str> = reply.lines().filter(marked).collect();
        let mut lines = list_items(&listed.join("\n"));
        lines.retain(|line| line.ends_with(['.', '。', '!', '！']));
        if lines.is_empty() {
            return Err(Unreadable::NoObject { keys: "statements".to_owned() });
        }
        Ok(Self(lines))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_statements: Statements }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_lists_are_both_read() {
        let read = |reply: &str| Statements::read(reply).unwrap().0;
        assert_eq!(
            read(r#"{"statements": ["Ada wrote it.", "甲公司建于1998年。"]}"#),
            ["Ada wrote it.", "甲公司建于1998年。"]
        );
        assert_eq!(
            read("Here:\n1. Ada wrote it.\n- 甲公司建于1998年。\n"),
            ["Ada wrote it.", "甲公司建于1998年。"]
        );
        assert!(Statements::read("I cannot do that.").is_err());
        assert!(Statements::read(" ").is_err());
    }

    #[test]
    fn statements_without_a_name_are_detected() {
        assert!(only_pronouns("It was built there."));
        assert!(!only_pronouns("It was built in 1998."));
        assert!(!only_pronouns("他于1998年在青岛出生。"));
    }
}
