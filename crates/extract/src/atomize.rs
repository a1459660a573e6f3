//! Which questions does a chunk answer? The knowledge atomizer `f_a(d_k) → {q_k1 … q_km}`
//! (KAR³ §3.3, eq. 3), and its variant without a model: the sentences as they stand (Table 13).

use std::collections::HashSet;

use pikerag_knowledge::{Account, Atom, AtomId, AtomKind, ChatModel, Chunk, Role, Schema};
use pikerag_language::{is_chinese, sentences};
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, find_json, list_items, quiet_headings, shown_text,
    texts, without_thinking,
};
use serde_json::json;

// §A.3: diverse questions.
const PROMPT: Prompt = Prompt::new(Role::Atomize, include_str!("prompts/atomize.md"), 2048).at(0.7);

/// What a chunk was atomized into, and what was dropped on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Atomized {
    /// The questions or statements, in the model's order, each once; may be empty.
    pub atoms: Vec<Atom>,
    /// Questions that were asked before in other dress.
    pub duplicates: usize,
    /// Questions whose subject is only a pronoun: nobody could find them.
    pub pronouns: usize,
}

/// Atomic questions of a chunk: one call, two where the first reply cannot be read.
///
/// # Errors
/// The model's; an answer without any question is none.
pub async fn question_atoms(model: &dyn ChatModel, chunk: &Chunk) -> Result<Atomized, AskError> {
    let (title, text) = content(chunk);
    let inputs = [("title", title.as_str()), ("text", text.as_str())];
    let questions = ask::<Questions>(model, &PROMPT, &inputs, &mut Account::default()).await?;
    let mut atomized = Atomized::default();
    let mut seen = HashSet::new();
    for question in questions.0 {
        if only_pronouns(&question) {
            atomized.pronouns += 1;
        } else if seen.insert(question.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "")) {
            atomized.atoms.push(atom(chunk, AtomKind::Question, &question));
        } else {
            atomized.duplicates += 1;
        }
    }
    Ok(atomized)
}

/// The prompt that [`question_atoms`] would send, for estimates.
///
/// # Errors
/// Never, unless our template is broken.
pub fn atomize_prompt(chunk: &Chunk) -> Result<String, AskError> {
    let (title, text) = content(chunk);
    PROMPT.render(&[("title", title.as_str()), ("text", text.as_str())])
}

/// The sentences of a chunk as atoms: no model call.
pub fn sentence_atoms(chunk: &Chunk) -> Vec<Atom> {
    let mut atoms = Vec::new();
    let mut seen = HashSet::new();
    for range in sentences(&chunk.text) {
        let Some(sentence) = chunk.text.get(range) else { continue };
        let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
        if sentence.chars().any(char::is_alphanumeric) && seen.insert(sentence.clone()) {
            atoms.push(atom(chunk, AtomKind::Sentence, &sentence));
        }
    }
    atoms
}

pub(crate) fn atom(chunk: &Chunk, kind: AtomKind, text: &str) -> Atom {
    Atom {
        id: AtomId::of(chunk.id, kind.as_str(), text),
        chunk: chunk.id,
        kind,
        text: text.to_owned(),
    }
}

pub(crate) fn content(chunk: &Chunk) -> (String, String) {
    let title = chunk.full_title().split_whitespace().collect::<Vec<_>>().join(" ");
    (quiet_headings(&title), shown_text(chunk))
}

struct Questions(Vec<String>);

impl Reply for Questions {
    fn schema() -> Option<Schema> {
        let schema = json!({
            "type": "object",
            "properties": {"questions": {"type": "array", "items": {"type": "string"}}},
            "required": ["questions"],
            "additionalProperties": false
        });
        Some(Schema { name: "questions".to_owned(), schema })
    }

    /// JSON, or one question per line: models that cannot do the one can do the other.
    fn read(reply: &str) -> Result<Self, Unreadable> {
        let reply = without_thinking(reply);
        if reply.is_empty() {
            return Err(Unreadable::Empty);
        }
        if let Some(found) = find_json(reply, &["questions"]) {
            return texts(&found.value, "questions").map(Self);
        }
        let mut lines = list_items(reply);
        lines.retain(|line| line.ends_with(['?', '？']));
        if lines.is_empty() {
            return Err(Unreadable::NoObject { keys: "questions".to_owned() });
        }
        Ok(Self(lines))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_questions: Questions }

/// Whether a question names nothing that it could be found by: a pronoun, and no name or number.
pub(crate) fn only_pronouns(question: &str) -> bool {
    const ENGLISH: [&str; 18] = [
        "he", "she", "it", "they", "him", "her", "them", "his", "hers", "its", "their", "theirs",
        "this", "that", "these", "those", "we", "i",
    ];
    const CHINESE: [&str; 8] = ["他", "她", "它", "其", "该公司", "该人", "这家", "这个"];
    let mut words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let mut pronoun = CHINESE.iter().any(|pronoun| question.starts_with(pronoun));
    if question.chars().any(is_chinese) {
        return pronoun
            && !question.chars().any(|c| c.is_ascii_alphanumeric() || c == '《' || c == '“');
    }
    pronoun |= ENGLISH.contains(&first.to_lowercase().as_str());
    for word in words {
        let named = word.chars().any(char::is_numeric)
            || (word.chars().any(char::is_uppercase) && word != "I");
        if named {
            return false;
        }
        pronoun |= ENGLISH.contains(&word);
    }
    pronoun
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &str) -> Vec<String> {
        Questions::read(reply).unwrap().0
    }

    #[test]
    fn json_and_lines_are_both_read() {
        assert_eq!(read(r#"{"questions": ["Who?", "When?"]}"#), ["Who?", "When?"]);
        assert_eq!(
            read("Here they are:\n1. Who built it?\n- 谁建造了它？\n"),
            ["Who built it?", "谁建造了它？"]
        );
        assert!(Questions::read("I cannot do that.").is_err());
        assert!(Questions::read("  ").is_err());
    }

    #[test]
    fn questions_about_nobody() {
        assert!(only_pronouns("Where was he born?"));
        assert!(only_pronouns("他在哪里出生？"));
        assert!(!only_pronouns("Where was Ada Lovelace born, and did she marry?"));
        assert!(!only_pronouns("What is photosynthesis?"));
        assert!(!only_pronouns("What happened to it in 1998?"));
        assert!(!only_pronouns("青岛厂在哪里？"));
    }
}
