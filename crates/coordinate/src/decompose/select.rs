//! Which candidate helps most? `S_atom`: `LLM(q, Cᵗ⁻¹, P) = (q̂, q_kl, d_k)` or none (KAR³ eq. 6).

use pikerag_knowledge::{Candidate, ChatModel, Chunk, Context, Question, Role, Schema};
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, index, numbered, object, quiet_headings, text,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::decompose::propose::shown_context;
use crate::run::Run;

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
    /// Place in the list of candidates, from 0; `None`: nothing more is needed.
    pub index: Option<usize>,
}

/// Asks a model to choose. `chunks` are those of the candidates, in their order; only
/// [`Selector::ByChunk`] shows them. `None` where the reply stayed unreadable.
///
/// # Errors
/// The call failed.
pub async fn select(
    model: &dyn ChatModel,
    question: &Question,
    context: &Context,
    candidates: &[Candidate],
    chunks: &[Chunk],
    selector: Selector,
    run: &mut Run,
) -> Result<Option<Selection>, AskError> {
    let known = shown_context(context);
    let asked = quiet_headings(&question.text);
    let (prompt, list) = match selector {
        Selector::ByAtom => {
            (&BY_ATOM, numbered(candidates.iter().map(|candidate| candidate.text.as_str())))
        }
        Selector::ByChunk => {
            let shown: Vec<String> = chunks
                .iter()
                .map(|chunk| {
                    format!("Title: {}. Content: {}", chunk.full_title(), chunk.reading_text())
                })
                .collect();
            (&BY_CHUNK, numbered(shown.iter().map(String::as_str)))
        }
    };
    let count = candidates.len().to_string();
    let inputs = [
        ("count", count.as_str()),
        ("context", known.as_str()),
        ("candidates", list.as_str()),
        ("question", asked.as_str()),
    ];
    let reply = match selector {
        Selector::ByAtom => {
            ask::<AtomPlace>(model, prompt, &inputs, &mut run.account).await.map(|said| said.0)
        }
        Selector::ByChunk => {
            ask::<ChunkPlace>(model, prompt, &inputs, &mut run.account).await.map(|said| said.0)
        }
    };
    let Some(said) = run.readable(Role::Select, reply)? else { return Ok(None) };
    // An index beyond the list chooses nothing: better to stop than to add what nobody chose.
    Ok(Some(Selection { index: said.index.filter(|index| *index < candidates.len()), ..said }))
}

struct AtomPlace(Selection);
struct ChunkPlace(Selection);

impl Reply for AtomPlace {
    fn schema() -> Option<Schema> {
        Some(schema("question_idx"))
    }
    fn read(reply: &str) -> Result<Self, Unreadable> {
        place(reply, "question_idx").map(Self)
    }
}

impl Reply for ChunkPlace {
    fn schema() -> Option<Schema> {
        Some(schema("paragraph_idx"))
    }
    fn read(reply: &str) -> Result<Self, Unreadable> {
        place(reply, "paragraph_idx").map(Self)
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_atom_place: AtomPlace, reply_chunk_place: ChunkPlace }

/// No prompt lists more candidates than this; the real bound is checked by the caller.
const MOST: usize = 100_000;

fn place(reply: &str, key: &str) -> Result<Selection, Unreadable> {
    let object = object(reply, &[key])?;
    Ok(Selection {
        thinking: text(&object, "thinking").unwrap_or_default(),
        index: index(&object, key, MOST)?,
    })
}

fn schema(key: &str) -> Schema {
    let schema = json!({
        "type": "object",
        "properties": {"thinking": {"type": "string"}, key: {"type": ["integer", "null"]}},
        "required": ["thinking", key],
        "additionalProperties": false
    });
    Schema { name: key.to_owned(), schema }
}
