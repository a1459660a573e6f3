//! Asks a model with little time whether the cited passage states its answer (ours). Such a model also answers from a
//! passage that only resembles the question; asked again with that passage alone, it notices this most of the time.

use pikerag_knowledge::{Answer, Context, Question, Role, Schema, WrittenBy};
use pikerag_narrate::{InWords, Sentence};
use pikerag_prompt::{Prompt, Reply, Unreadable, object, passages, quiet_headings, shape, text};
use pikerag_reason::fit;
use serde_json::json;

use crate::ports::{Ports, SolveError};
use crate::quoting::known;
use crate::run::Run;

static PROMPT: Prompt = Prompt::new(Role::Answer, include_str!("../prompts/stated.md"), 100);

/// The tokens of the passage that is shown, about: its sentences with the words of question and answer.
const PASSAGE: u64 = 120;

/// Adds to `missing` that no passage states the answer, if the model says so of the passage with the first citation. One
/// call for a brief reply with a citation, none for other answers.
///
/// # Errors
/// See [`SolveError`].
pub(super) async fn check(
    ports: &Ports,
    run: &mut Run,
    question: &Question,
    answer: &mut Answer,
) -> Result<(), SolveError> {
    let by_model = matches!(answer.written_by, WrittenBy::LanguageModel { .. });
    // Brief replies give no reasons.
    let is_brief = by_model && run.has_little_time() && answer.rationale.is_empty();
    let is_checked = is_brief && !answer.refused && answer.missing.is_empty();
    let Some(citation) = answer.citations.first().filter(|_| is_checked) else { return Ok(()) };
    let cited = answer.context.chunks.iter().find(|held| held.chunk.id == citation.chunk);
    let Some(cited) = cited else { return Ok(()) };
    let both = question.reworded(format!("{} {}", question.query(), answer.text));
    let whole = Context::of(1, vec![cited.chunk.clone()]);
    let cut = fit(&both, &whole, &known(ports, &both).await?, PASSAGE).unwrap_or(whole);
    let passage = passages(cut.chunks.iter().map(|held| &held.chunk));
    let (asked, given) = (quiet_headings(question.query()), quiet_headings(&answer.text));
    let inputs =
        [("passage", passage.as_str()), ("question", asked.as_str()), ("answer", given.as_str())];
    if let Some(Stated(false)) = run.ask(ports, &PROMPT, &inputs).await? {
        answer.missing.push(Sentence::StatingPassage.in_words(run.language()));
    }
    Ok(())
}

/// Whether the passage states the answer.
struct Stated(bool);

impl Reply for Stated {
    fn schema() -> Option<Schema> {
        Some(shape("stated", json!({"stated": {"type": "string", "enum": ["yes", "no"]}})))
    }

    fn read(reply: &str) -> Result<Self, Unreadable> {
        let stated = text(&object(reply, &["stated"])?, "stated")?;
        match stated.trim().to_lowercase().as_str() {
            "yes" | "true" | "是" => Ok(Self(true)),
            "no" | "false" | "否" | "不是" => Ok(Self(false)),
            _ => Err(Unreadable::key("stated", "yes or no")),
        }
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_replies! { reply_stated: Stated }
