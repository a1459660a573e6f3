//! What does a model answer from the context? `â ← LLM(q, C)` (KAR³, Algorithm 1, line 14).

use pikerag_knowledge::{Account, ChatModel, Context, Question, Role, Schema};
use pikerag_prompt::{
    AskError, Prompt, Reply, Unreadable, ask, closed, object, passages, quiet_headings, shape, text,
};
use serde_json::{Value, json};

use crate::Claim;
use crate::form::how_to_answer;

const PROMPT: Prompt = Prompt::new(Role::Answer, include_str!("prompts/answer.md"), 2048);

/// What the model said, nothing of it checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The short answer; empty where the model gave none.
    pub answer: String,
    /// The model's reasons in its own words; may be empty.
    pub rationale: String,
    /// What the passages do not tell though the answer needs it; empty where they settle the question.
    pub missing: Vec<String>,
    /// The quotes it gave, unchecked. A quote from a passage that does not exist goes to the first.
    pub claims: Vec<Claim>,
}

/// Answers a question from its context and, where there are any, from notes of what was worked out
/// before: one call, two where the first reply cannot be read. The context may be empty: the model
/// then answers from what it knows.
///
/// # Errors
/// See [`AskError`].
pub async fn read(
    model: &dyn ChatModel,
    question: &Question,
    context: &Context,
    notes: &str,
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
        ("context", shown.as_str()),
        ("notes", notes.as_str()),
        ("question", asked.as_str()),
    ];
    let said: RawReply = ask(model, &PROMPT, &inputs, account).await?;
    let mut claims = Vec::new();
    for (passage, quote) in said.quotes {
        let held = context.chunks.get(passage).or_else(|| context.chunks.first());
        if let Some(held) = held {
            claims.push(Claim { chunk: held.chunk.id, quote });
        }
    }
    let missing = said.lacking.into_iter().collect();
    Ok(Reading { answer: said.answer, rationale: said.rationale, missing, claims })
}

struct RawReply {
    answer: String,
    rationale: String,
    lacking: Option<String>,
    /// Passage from 0, and the words.
    quotes: Vec<(usize, String)>,
}

impl Reply for RawReply {
    fn schema() -> Option<Schema> {
        let citation = closed(
            json!({"passage": {"type": "integer"}, "quote": {"type": "string", "maxLength": 600}}),
        );
        Some(shape(
            "answer",
            json!({
                "rationale": {"type": "string", "maxLength": 1500},
                "answer": {"type": "string"},
                "lacking": {"type": ["string", "null"]},
                "citations": {"type": "array", "items": citation, "maxItems": 12}
            }),
        ))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let object = object(reply, &["answer"])?;
        Ok(Self {
            answer: text(&object, "answer")?,
            rationale: text(&object, "rationale").unwrap_or_default(),
            lacking: lacking(&object),
            quotes: quotes(&object),
        })
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_raw_reply: RawReply }

/// What a reply says under "lacking": what the answer needs and nobody told. `None` where it is null, or words for it.
pub fn lacking(reply: &Value) -> Option<String> {
    text(reply, "lacking").ok().filter(|said| !is_none(said))
}

/// Whether words say that there is nothing: models write them in place of null.
fn is_none(said: &str) -> bool {
    const NONE: [&str; 9] = ["", "null", "none", "no", "nothing", "n/a", "无", "没有", "-"];
    NONE.contains(&said.trim().trim_end_matches(['.', '。']).to_lowercase().as_str())
}

/// Citations in any of the shapes that models give them; what is no citation is left out.
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
        let said = RawReply::read(
            r#"{"answer": 42, "rationale": "so", "citations": [{"passage": "2", "quote": "x"}, 7]}"#,
        );
        let said = said.unwrap();
        assert_eq!((said.answer.as_str(), said.rationale.as_str()), ("42", "so"));
        assert_eq!(said.quotes, [(1, "x".to_owned())]);
        let bare = RawReply::read(r#"{"answer": "x"}"#).unwrap();
        assert_eq!((bare.quotes, bare.lacking), (Vec::new(), None));
        let lacking = |said: &str| {
            let reply = format!(r#"{{"answer": "x", "lacking": {said}}}"#);
            RawReply::read(&reply).unwrap().lacking
        };
        assert_eq!(lacking(r#""the year""#).as_deref(), Some("the year"));
        assert_eq!(
            [lacking("null"), lacking(r#""None.""#), lacking(r#""无。""#)],
            [None, None, None]
        );
        assert!(RawReply::read(r#"{"rationale": "x"}"#).is_err());
    }
}
