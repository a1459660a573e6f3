//! Writes the atomic questions of a section, a chapter or a document: those that several of its passages answer together
//! (PIKE-RAG §5.3.1, atoms of summary chunks). They lead to the passages, because answers cite these and not a summary.

use std::collections::HashSet;

use pikerag_knowledge::{Account, AtomKind, ChatModel, Chunk, InChunk, Role, Schema};
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, object, one_line, quiet_headings, shape, text, titled,
};
use serde_json::{Value, json};

use crate::atomize::{Atomized, atom, only_pronouns};

// As diverse as the questions of a chunk (KAR³ §A.3).
const PROMPT: Prompt = Prompt::new(Role::Atomize, include_str!("prompts/section.md"), 1500).at(0.7);
/// The most questions of a part.
const MOST: usize = 10;
/// Characters of all passages of a part that the model reads; each has its share.
const SHOWN: usize = 8000;

/// The questions that at least two of these chunks of one document answer together, for each chunk that an answer needs. Costs one
/// call, or two if the first reply is unreadable.
///
/// # Errors
/// Those of the model. A reply without any question is no error.
pub async fn section_atoms(
    model: &dyn ChatModel,
    chunks: &[Chunk],
) -> Result<Vec<InChunk<Atomized>>, AskError> {
    let (title, passages) = inputs(chunks);
    let inputs = [("title", title.as_str()), ("passages", passages.as_str())];
    let Questions(questions) = ask(model, &PROMPT, &inputs, &mut Account::default()).await?;
    Ok(spread(chunks, questions))
}

/// The prompt that [`section_atoms`] would send, for estimates.
///
/// # Errors
/// None, unless the built-in template is broken.
pub fn section_prompt(chunks: &[Chunk]) -> Result<String, AskError> {
    let (title, passages) = inputs(chunks);
    PROMPT.render(&[("title", title.as_str()), ("passages", passages.as_str())])
}

/// The title of the document, and its passages by number; of a long one its summary, else its beginning.
fn inputs(chunks: &[Chunk]) -> (String, String) {
    let title = chunks.first().map(|chunk| one_line(&chunk.title)).unwrap_or_default();
    let share = SHOWN / chunks.len().max(1);
    let mut passages = Vec::with_capacity(chunks.len());
    for (number, chunk) in (1..).zip(chunks) {
        let (heading, text) = titled(chunk);
        let long = share < text.chars().count();
        let text = chunk.summary.as_ref().filter(|_| long).map_or(text, |it| quiet_headings(it));
        let text: String = text.chars().take(share).collect();
        passages.push(format!("[{number}] {heading}\n{text}"));
    }
    (quiet_headings(&title), passages.join("\n\n"))
}

/// Gives each chunk the questions whose answers need it.
fn spread(chunks: &[Chunk], questions: Vec<(String, Vec<usize>)>) -> Vec<InChunk<Atomized>> {
    let mut all: Vec<InChunk<Atomized>> = chunks
        .iter()
        .map(|chunk| InChunk { chunk: chunk.id, found: Atomized::default() })
        .collect();
    let mut seen = HashSet::new();
    for (question, numbers) in questions.into_iter().take(MOST) {
        let places: HashSet<usize> =
            numbers.into_iter().filter(|n| (1..=chunks.len()).contains(n)).map(|n| n - 1).collect();
        let Some(first) = places.iter().min().filter(|_| 2 <= places.len()) else { continue };
        let Some(counted) = all.get_mut(*first) else { continue };
        if only_pronouns(&question) {
            counted.found.pronouns += 1;
            continue;
        }
        if !seen.insert(question.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "")) {
            counted.found.duplicates += 1;
            continue;
        }
        for (place, (chunk, held)) in chunks.iter().zip(&mut all).enumerate() {
            if places.contains(&place) {
                held.found.atoms.push(atom(chunk, AtomKind::Question, &question));
            }
        }
    }
    all
}

/// Questions, each with the numbers of its passages, from 1.
struct Questions(Vec<(String, Vec<usize>)>);

impl Reply for Questions {
    fn schema() -> Option<Schema> {
        let question = json!({"type": "object", "required": ["question", "passages"],
            "additionalProperties": false, "properties": {
                "question": {"type": "string"},
                "passages": {"type": "array", "items": {"type": "integer"}}}});
        let questions = json!({"type": "array", "items": question, "maxItems": MOST});
        Some(shape("section_questions", json!({"questions": questions})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["questions"])?;
        let listed = object.get("questions").and_then(Value::as_array);
        let read = |item: &Value| {
            let numbers = item.get("passages").and_then(Value::as_array)?;
            let number = |n: &Value| n.as_u64().and_then(|n| usize::try_from(n).ok());
            let numbers = numbers.iter().filter_map(number).collect();
            Some((one_line(&text(item, "question").ok()?), numbers))
        };
        Ok(Self(listed.into_iter().flatten().filter_map(read).collect()))
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_questions: Questions }

#[cfg(test)]
mod tests {
    use pikerag_doubles::ScriptedChat;
    use pikerag_knowledge::ChunkId;

    use super::*;
    use crate::{ChunkParams, document_graph, sketch};

    #[tokio::test]
    async fn questions_lead_to_every_passage_that_their_answer_needs() {
        let document = sketch::document("Log", "The crane failed in May.\n");
        let first = document_graph("log.md", document, ChunkParams::default()).chunks.remove(0);
        let chunk =
            |n, text: &str| Chunk { id: ChunkId(n), text: text.to_owned(), ..first.clone() };
        let chunks = [
            chunk(1, "The crane failed in May."),
            chunk(2, "It failed in June."),
            chunk(3, "Tea is good."),
        ];
        let reply = r#"{"questions": [
            {"question": "How often did the crane fail?", "passages": [1, 2]},
            {"question": "how often did the crane fail", "passages": [1, 2]},
            {"question": "What is good?", "passages": [3]},
            {"question": "When did it happen?", "passages": [1, 2, 9]},
            {"question": "What has the crane to do with tea?", "passages": [1, 3, 3]}]}"#;
        let script = ScriptedChat::in_order([reply]);
        let atoms = section_atoms(&script, &chunks).await.unwrap();
        let shown = |found: &InChunk<Atomized>| -> Vec<String> {
            found.found.atoms.iter().map(|atom| atom.text.clone()).collect()
        };
        assert_eq!(
            shown(&atoms[0]),
            ["How often did the crane fail?", "What has the crane to do with tea?"]
        );
        assert_eq!(shown(&atoms[1]), ["How often did the crane fail?"]);
        assert_eq!(shown(&atoms[2]), ["What has the crane to do with tea?"]);
        let counts = atoms.iter().map(|it| (it.found.duplicates, it.found.pronouns));
        assert_eq!(counts.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1)), (1, 1));
        let prompt = section_prompt(&chunks).unwrap();
        assert!(prompt.contains("[2]") && prompt.contains("It failed in June."), "{prompt}");
    }
}
