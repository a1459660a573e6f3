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

const BY_ATOM: Prompt = Prompt::new(Role::Select, include_str!("prompts/select_atom.md"), 1024)
    .with_earlier("methods/select_atom", &[include_str!("prompts/earlier/select_atom.1.md")]);
const BY_CHUNK: Prompt = BY_ATOM
    .with_template(include_str!("prompts/select_chunk.md"))
    .with_earlier("methods/select_chunk", &[include_str!("prompts/earlier/select_chunk.1.md")]);

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
    let listed = |lines: Vec<String>| numbered(lines.iter().map(String::as_str));
    // Earlier texts of the prompts list equal candidates twice, and sentences without their titles.
    let (prompt, earlier, list) = match selector {
        Selector::ByAtom => {
            let earlier = listed(candidates.iter().map(shown_earlier).collect());
            (&BY_ATOM, earlier, listed(candidates.iter().map(shown).collect()))
        }
        Selector::ByChunk => {
            let shown = chunks.iter().map(|chunk| {
                format!("Title: {}. Content: {}", chunk.full_title(), chunk.reading_text())
            });
            let list = listed(shown.collect());
            (&BY_CHUNK, list.clone(), list)
        }
    };
    let (distinct, count) = (each_once(&list), candidates.len().to_string());
    let inputs = [
        ("may_end", if may_end { "yes" } else { "" }),
        ("count", count.as_str()),
        ("context", known.as_str()),
        ("candidates", earlier.as_str()),
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

/// A question by its text, a sentence with the title of its passage. A passage without an atom is marked as a passage; its
/// title is not repeated as its heading.
fn shown(candidate: &Candidate) -> String {
    let Candidate { atom, text, title, .. } = candidate;
    let is_mark = |c: char| matches!(c, '#' | ':' | ' ');
    if atom.is_some() {
        let sentence = text.trim_start_matches(is_mark);
        let is_clear = text.ends_with(['?', '？']) || sentence.contains(title.as_str());
        return if is_clear { sentence.to_owned() } else { format!("{sentence} [{title}]") };
    }
    let begin = text.strip_prefix(title.as_str()).unwrap_or(text).trim_start_matches(is_mark);
    let heading = title.rsplit(" › ").next().unwrap_or_default();
    let begin = begin.strip_prefix(heading).unwrap_or(begin).trim_start();
    format!("Passage: {title}: {begin} …")
}

/// As earlier texts of the prompt show a candidate: an atom by its text, a passage by title and heading.
fn shown_earlier(candidate: &Candidate) -> String {
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
    use std::collections::BTreeMap;

    use pikerag_knowledge::{AtomId, ChunkId, Via};

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
    fn sentences_have_titles_and_passages_no_heading_twice() {
        let of = |atom: Option<u64>, text: &str, title: &str| {
            shown(&Candidate {
                atom: atom.map(AtomId),
                text: text.to_owned(),
                chunk: ChunkId(1),
                title: title.to_owned(),
                via: Via::Atoms,
                proposal: String::new(),
                score: 1.0,
                parts: BTreeMap::new(),
            })
        };
        let (who, died) = ("Who built it?", "He died in 1685.");
        assert_eq!(of(Some(1), who, "KX-40"), who);
        assert_eq!(of(Some(1), died, "Charles II"), "He died in 1685. [Charles II]");
        assert_eq!(of(Some(1), "# KX-40", "KX-40"), "KX-40");
        let begin = "KX-40 › In service: ## In service Cranes are listed";
        let passage = of(None, begin, "KX-40 › In service");
        assert_eq!(passage, "Passage: KX-40 › In service: Cranes are listed …");
        assert_eq!(of(None, "Tea: It is hot.", "Tea"), "Passage: Tea: It is hot. …");
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
