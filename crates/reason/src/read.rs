//! Asks a model to answer from the context: `â ← LLM(q, C)` (KAR³, Algorithm 1, line 14).

use pikerag_knowledge::{Account, ChatModel, ChunkId, Context, Question, Role, Schema};
use pikerag_language::estimate_tokens;
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask_read, at_most, closed, object, passages,
    quiet_headings, shape, text,
};
use serde_json::{Value, json};

use crate::Claim;
use crate::form::how_to_answer;

const PROMPT: Prompt = Prompt::new(Role::Answer, include_str!("prompts/answer.md"), 2048)
    .with_earlier(
        "reason/answer",
        &[include_str!("prompts/earlier/answer.1.md"), include_str!("prompts/earlier/answer.2.md")],
    );

/// The model's reply, unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The short answer; empty if the model knows none.
    pub answer: String,
    /// The model's reasons in its own words; may be empty.
    pub rationale: String,
    /// Facts that the answer needs and the passages do not give; empty if they settle the question.
    pub missing: Vec<String>,
    /// The model's quotes, unchecked. A quote from a passage that does not exist goes to the first
    /// passage.
    pub claims: Vec<Claim>,
    /// The passage that a brief reply names.
    pub passage: Option<ChunkId>,
    /// Whether it is a brief reply and no sentence of the context has its words.
    pub is_unsupported: bool,
}

/// How much a model writes beside its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyLength {
    /// Reasons in one or two sentences, and up to twelve quotes.
    Full,
    /// The number of the passage alone, for a model that writes slowly: [`evidence`] finds the words that support the
    /// answer.
    ///
    /// [`evidence`]: crate::evidence
    Brief,
}

/// Answers a question from its context and, if there are any, from notes of earlier results: one
/// call, two if the first reply cannot be read. If the context is empty, the model answers from its
/// knowledge. The answer is a part of a larger one; for the final answer, see [`read_finally`].
///
/// # Errors
/// See [`AskError`].
pub async fn read(
    model: &dyn ChatModel,
    question: &Question,
    (context, notes): (&Context, &str),
    length: ReplyLength,
    account: &mut Account,
) -> Result<Reading, AskError> {
    read_by(&PROMPT, model, question, (context, notes, length), account).await
}

/// As [`read`], for the final answer, which is shown while the model writes it.
///
/// # Errors
/// See [`AskError`].
pub async fn read_finally(
    model: &dyn ChatModel,
    question: &Question,
    (context, notes): (&Context, &str),
    length: ReplyLength,
    account: &mut Account,
) -> Result<Reading, AskError> {
    let prompt = PROMPT.answering_after("rationale");
    read_by(&prompt, model, question, (context, notes, length), account).await
}

async fn read_by(
    prompt: &Prompt,
    model: &dyn ChatModel,
    question: &Question,
    (context, notes, length): (&Context, &str, ReplyLength),
    account: &mut Account,
) -> Result<Reading, AskError> {
    let shown = match passages(context.chunks.iter().map(|held| &held.chunk)) {
        empty if empty.is_empty() => "(no passages were found)".to_owned(),
        shown => shown,
    };
    let asked = quiet_headings(&question.text);
    let (notes, form) = (quiet_headings(notes), how_to_answer(question));
    let inputs = [
        ("form", form.as_ref()),
        ("brief", if length == ReplyLength::Brief { "yes" } else { "" }),
        ("context", shown.as_str()),
        ("notes", notes.as_str()),
        ("question", asked.as_str()),
    ];
    let schema = Some(schema(length));
    let reply = ask_read(model, prompt, &inputs, schema, RawReply::read, account).await?;
    let mut claims = Vec::new();
    for (passage, quote) in reply.quotes {
        let held = context.chunks.get(passage).or_else(|| context.chunks.first());
        if let Some(held) = held {
            claims.push(Claim { chunk: held.chunk.id, quote });
        }
    }
    let named = reply.passage.and_then(|passage| context.chunks.get(passage));
    Ok(Reading {
        answer: reply.answer,
        rationale: reply.rationale,
        missing: reply.missing.into_iter().collect(),
        claims,
        passage: named.map(|held| held.chunk.id),
        is_unsupported: false,
    })
}

/// The tokens of the fixed part of the prompt of [`read`], about. It comes first, so that servers of slow models keep it
/// from call to call. Kept runs were cut with this number, so that rewording the prompt does not change it.
pub const FIXED_TOKENS: u32 = 329;

/// The tokens of the prompt of [`read`] beside its passages, estimated.
pub fn tokens_beside(question: &Question, notes: &str) -> u64 {
    let form = how_to_answer(question);
    let others = [form.as_ref(), question.text.as_str(), notes];
    u64::from(FIXED_TOKENS) + others.map(estimate_tokens).iter().sum::<u64>()
}

struct RawReply {
    answer: String,
    rationale: String,
    missing: Option<String>,
    /// Passage numbers from 0, and the quoted words.
    quotes: Vec<(usize, String)>,
    /// The passage number of a brief reply, from 0.
    passage: Option<usize>,
}

impl Reply for RawReply {
    fn schema() -> Option<Schema> {
        Some(schema(ReplyLength::Full))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["answer"])?;
        Ok(Self {
            answer: answer_in(&object)?,
            rationale: text(&object, "rationale").unwrap_or_default(),
            missing: missing_in(&object),
            quotes: quotes(&object),
            passage: pikerag_prompt::index(&object, "passage", 10_000).ok().flatten(),
        })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_raw_reply: RawReply }

/// The longest answer of a brief reply, in characters: a small model may go on without end.
const BRIEF_ANSWER: usize = 600;

/// Keys in the order in which the model must write them: reasons, or the passage, before the answer.
fn schema(length: ReplyLength) -> Schema {
    let quote = closed(json!({"passage": {"type": "integer"}, "quote": at_most(600)}));
    let keys = match length {
        ReplyLength::Full => json!({
            "rationale": at_most(1500),
            "answer": {"type": "string"},
            "lacking": {"type": ["string", "null"]},
            "citations": {"type": "array", "items": quote, "maxItems": 12}
        }),
        ReplyLength::Brief => json!({
            "passage": {"type": "integer"},
            "answer": at_most(BRIEF_ANSWER)
        }),
    };
    shape("answer", keys)
}

/// A reply's entry "answer". Null is an empty answer: the model knows none.
///
/// # Errors
/// There is no such entry, or its value is not like a string.
pub fn answer_in(reply: &Value) -> Result<String, Unreadable> {
    match reply.get("answer") {
        Some(Value::Null) => Ok(String::new()),
        _ => text(reply, "answer"),
    }
}

/// A reply's entry "lacking": facts that the answer needs and no passage gives. `None` if it is
/// null, or words for null.
pub fn missing_in(reply: &Value) -> Option<String> {
    text(reply, "lacking").ok().filter(|missing| !is_none(missing))
}

/// Whether words mean "nothing": models write them instead of null.
fn is_none(text: &str) -> bool {
    const NONE: [&str; 9] = ["", "null", "none", "no", "nothing", "n/a", "无", "没有", "-"];
    NONE.contains(&text.trim().trim_end_matches(['.', '。']).to_lowercase().as_str())
}

/// Citations in any of the shapes that models use; other items are left out.
fn quotes(object: &Value) -> Vec<(usize, String)> {
    let Some(Value::Array(items)) = object.get("citations") else { return Vec::new() };
    let mut quotes = Vec::new();
    for item in items {
        let words = text(item, "quote").or_else(|_| text(item, "text"));
        let passage = ["passage", "chunk", "id"]
            .iter()
            .find_map(|key| pikerag_prompt::index(item, key, 10_000).ok()?);
        if let (Ok(words), Some(passage)) = (words, passage)
            && !words.is_empty()
        {
            quotes.push((passage, words));
        }
    }
    quotes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_with_and_without_citations() {
        let reply = RawReply::read(
            r#"{"answer": 42, "rationale": "so", "citations": [{"passage": "2", "quote": "x"}, 7]}"#,
        );
        let reply = reply.unwrap();
        assert_eq!((reply.answer.as_str(), reply.rationale.as_str()), ("42", "so"));
        assert_eq!(reply.quotes, [(1, "x".to_owned())]);
        let bare = RawReply::read(r#"{"answer": "x"}"#).unwrap();
        assert_eq!((bare.quotes, bare.missing), (Vec::new(), None));
        let missing = |value: &str| {
            let reply = format!(r#"{{"answer": "x", "lacking": {value}}}"#);
            RawReply::read(&reply).unwrap().missing
        };
        assert_eq!(missing(r#""the year""#).as_deref(), Some("the year"));
        assert_eq!(
            [missing("null"), missing(r#""None.""#), missing(r#""无。""#)],
            [None, None, None]
        );
        for unknown in [r#"{"answer": null}"#, r#"{"answer": ""}"#] {
            assert_eq!(RawReply::read(unknown).unwrap().answer, "", "{unknown}");
        }
        assert!(RawReply::read(r#"{"rationale": "x"}"#).is_err());
    }
}
