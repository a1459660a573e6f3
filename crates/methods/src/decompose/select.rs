//! Selects the candidate that helps most, or none: `S_atom`, `LLM(q, Cᵗ⁻¹, P) = (q̂, q_kl, d_k)` (KAR³ eq. 6).

use std::collections::HashSet;

use pikerag_knowledge::{Candidate, ChatModel, Chunk, Context, Question, Role, Schema};
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, at_most, index, numbered, object, quiet_headings,
    shape, text,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::decompose::propose::shown_context;
use crate::run::Run;
use crate::verdict::{THINKING, yes_or_no};

const BY_ATOM: Prompt = Prompt::new(Role::Select, include_str!("prompts/select_atom.md"), 1024);
const BY_CHUNK: Prompt = Prompt { template: include_str!("prompts/select_chunk.md"), ..BY_ATOM };

/// What a selector sees of a candidate (KAR³ Table 3, "Atomic Selector").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selector {
    /// The paper's: the atom.
    ByAtom,
    /// The ablation: the chunk itself.
    ByChunk,
}

/// A choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The model's own words.
    pub thinking: String,
    /// Place in the list of candidates, from 0; `None` for none of them.
    pub index: Option<usize>,
    /// Whether the model finds the context sufficient; `None` where it was not asked, or did not say.
    pub enough: Option<bool>,
}

/// The input of a selector.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// In the order in which they are numbered.
    pub candidates: &'a [Candidate],
    /// Their chunks, in their order; only [`Selector::ByChunk`] shows them.
    pub chunks: &'a [Chunk],
    /// What it sees of each.
    pub selector: Selector,
    /// Whether it may report that the context is enough, or that nothing helps. The paper's selector chooses, or
    /// gives none where it needs nothing more (Algorithm 1, line 5).
    pub may_end: bool,
}

/// Asks a model to choose. `None` where the reply stayed unreadable.
///
/// # Errors
/// The call failed.
pub async fn select(
    model: &dyn ChatModel,
    question: &Question,
    context: &Context,
    choice: Choice<'_>,
    run: &mut Run,
) -> Result<Option<Selection>, AskError> {
    let Choice { candidates, chunks, selector, may_end } = choice;
    let known = shown_context(context);
    let asked = quiet_headings(&question.text);
    let (prompt, shown): (_, Vec<String>) = match selector {
        Selector::ByAtom => (&BY_ATOM, candidates.iter().map(shown).collect()),
        Selector::ByChunk => {
            let shown = chunks.iter().map(|chunk| {
                format!("Title: {}. Content: {}", chunk.full_title(), chunk.reading_text())
            });
            (&BY_CHUNK, shown.collect())
        }
    };
    let list = numbered(shown.iter().map(String::as_str));
    let (distinct, count) = (each_once(&list), candidates.len().to_string());
    let inputs = [
        ("may_end", if may_end { "yes" } else { "" }),
        ("count", count.as_str()),
        ("context", known.as_str()),
        // Earlier texts of the prompts list equal candidates twice.
        ("candidates", list.as_str()),
        ("distinct", distinct.as_str()),
        ("question", asked.as_str()),
    ];
    let account = &mut run.account;
    let reply = match (selector, may_end) {
        (Selector::ByAtom, true) => ask::<AtomPlace<true>>(model, prompt, &inputs, account)
            .await
            .map(|selection| selection.0),
        (Selector::ByAtom, false) => ask::<AtomPlace<false>>(model, prompt, &inputs, account)
            .await
            .map(|selection| selection.0),
        (Selector::ByChunk, true) => ask::<ChunkPlace<true>>(model, prompt, &inputs, account)
            .await
            .map(|selection| selection.0),
        (Selector::ByChunk, false) => ask::<ChunkPlace<false>>(model, prompt, &inputs, account)
            .await
            .map(|selection| selection.0),
    };
    let Some(selection) = run.readable(Role::Select, reply)? else { return Ok(None) };
    // An index beyond the list chooses nothing: the loop stops rather than add an arbitrary candidate.
    Ok(Some(Selection {
        index: selection.index.filter(|index| *index < candidates.len()),
        ..selection
    }))
}

/// A numbered list without the lines whose text, case aside, an earlier line has. The numbers stay.
fn each_once(list: &str) -> String {
    let mut seen = HashSet::new();
    let text = |line: &str| line.split_once(". ").map_or(line, |(_, text)| text).to_lowercase();
    let lines = list.lines().filter(|line| seen.insert(text(line)));
    lines.collect::<Vec<_>>().join("\n")
}

/// An atom by its text; a passage without one is marked as a passage.
fn shown(candidate: &Candidate) -> String {
    match candidate.atom {
        Some(_) => candidate.text.clone(),
        None => format!("Passage: {} …", candidate.text),
    }
}

/// A choice among atoms; with `MAY_END` the reply may also report that the context is enough.
struct AtomPlace<const MAY_END: bool>(Selection);
/// The same among chunks.
struct ChunkPlace<const MAY_END: bool>(Selection);

impl<const MAY_END: bool> Reply for AtomPlace<MAY_END> {
    fn schema() -> Option<Schema> {
        Some(schema("question_idx", MAY_END))
    }
    fn read(reply: &str) -> Result<Self, Unreadable> {
        place(reply, "question_idx").map(Self)
    }
}

impl<const MAY_END: bool> Reply for ChunkPlace<MAY_END> {
    fn schema() -> Option<Schema> {
        Some(schema("paragraph_idx", MAY_END))
    }
    fn read(reply: &str) -> Result<Self, Unreadable> {
        place(reply, "paragraph_idx").map(Self)
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_atom_place: AtomPlace<true>, reply_chunk_place: ChunkPlace<true> }

/// More candidates than a prompt lists; the caller checks the real limit.
const MOST: usize = 100_000;

fn place(reply: &str, key: &str) -> Result<Selection, Unreadable> {
    let object = object(reply, &[key])?;
    Ok(Selection {
        thinking: text(&object, "thinking").unwrap_or_default(),
        index: index(&object, key, MOST)?,
        enough: yes_or_no(&object.to_string(), "enough").ok(),
    })
}

fn schema(key: &str, may_end: bool) -> Schema {
    let enough = may_end.then(|| ("enough", json!({"type": "boolean"})));
    let keys = [("thinking", at_most(THINKING))].into_iter().chain(enough);
    shape(key, keys.chain([(key, json!({"type": ["integer", "null"]}))]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_choices_and_whether_the_context_is_enough() {
        let read = |reply: &str| {
            place(reply, "question_idx").map(|selection| (selection.index, selection.enough))
        };
        assert_eq!(read(r#"{"question_idx": 2}"#), Ok((Some(1), None)));
        assert_eq!(read(r#"{"enough": "yes", "question_idx": null}"#), Ok((None, Some(true))));
        assert_eq!(read(r#"{"enough": false, "question_idx": null}"#), Ok((None, Some(false))));
    }

    #[test]
    fn equal_candidates_are_listed_once_and_numbers_stay() {
        let list =
            "1. Who built it?\n2. Passage: Crane: It lifts. …\n3. who built it?\n4. Who owns it?";
        let distinct = "1. Who built it?\n2. Passage: Crane: It lifts. …\n4. Who owns it?";
        assert_eq!(each_once(list), distinct);
        assert_eq!(each_once(""), "");
    }

    #[test]
    fn schema_keys_match_the_prompt() {
        let keys = |may_end| schema("question_idx", may_end).schema["required"].clone();
        assert_eq!(keys(true), json!(["thinking", "enough", "question_idx"]));
        assert_eq!(keys(false), json!(["thinking", "question_idx"]));
    }
}
