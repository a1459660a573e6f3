//! Gets the end of a chunk from a model, or counts the calls for a forecast.

use async_trait::async_trait;
use pikerag_knowledge::{
    Account, ChatModel, ChatReply, ChatRequest, ModelError, Role, Schema, Usage, error_chain,
};
use pikerag_language::estimate_tokens;
use pikerag_prompt::{
    AskError, Prompt, Prose, Unreadable, ask, ask_read, index, object, one_line, quiet_headings,
    shape, text,
};
use serde_json::json;

use super::Window;

const FORWARD: Prompt = Prompt::new(Role::Summarize, include_str!("../prompts/forward.md"), 512);
const END: Prompt = Prompt::new(Role::Summarize, include_str!("../prompts/chunk_end.md"), 640);
/// Estimated tokens of a summary of one to three sentences, and of the JSON around it.
const SUMMARY_TOKENS: u64 = 60;
const WRAPPING_TOKENS: u64 = 14;

pub(super) enum Guide<'a> {
    Model {
        model: &'a dyn ChatModel,
        undecided: usize,
    },
    /// Makes no call; counts the calls and tokens that a model would need.
    Forecast {
        calls: usize,
        usage: Usage,
    },
}

/// A model that keeps unreadable replies. After an interruption, a repeated walk then leaves the
/// same windows to structure and sends the same later prompts.
pub(super) struct KeepsReplies<'a>(pub(super) &'a dyn ChatModel);

#[async_trait]
impl ChatModel for KeepsReplies<'_> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.0.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        self.0.complete(request).await
    }
}

/// Counts one window for structure if the reply was unreadable or the request was refused for its
/// content. Returns other errors to the caller.
fn count_for_structure(title: &str, error: AskError) -> Result<usize, AskError> {
    let is_refusal = |source: &ModelError| matches!(source, ModelError::Refused { .. });
    match &error {
        AskError::Unreadable { reason, .. } => {
            tracing::warn!(of = title, %reason, "a reply is unreadable; going on without it");
            Ok(1)
        }
        AskError::Model { source, .. } if is_refusal(source) => {
            tracing::warn!(
                of = title,
                reason = error_chain(source),
                "a request was refused; going on without it"
            );
            Ok(1)
        }
        _ => Err(error),
    }
}

impl Guide<'_> {
    /// The forward summary of a document's beginning; `None` if the reply was unreadable.
    pub(super) async fn forward(
        &mut self,
        title: &str,
        shown: &[String],
    ) -> Result<Option<String>, AskError> {
        let text = shown.join("\n");
        let inputs = [("title", title), ("text", text.as_str())];
        match self {
            Self::Model { model, undecided } => {
                let asked = ask::<Prose>(*model, &FORWARD, &inputs, &mut Account::default()).await;
                match asked {
                    Ok(Prose(summary)) => Ok(Some(one_line(&summary))),
                    Err(error) => {
                        *undecided += count_for_structure(title, error)?;
                        Ok(None)
                    }
                }
            }
            Self::Forecast { calls, usage } => {
                *calls += 1;
                usage.prompt_tokens += estimate_tokens(&FORWARD.render(&inputs)?);
                usage.completion_tokens += SUMMARY_TOKENS;
                Ok(Some(placeholder_summary()))
            }
        }
    }

    /// The end of a chunk, and its summary.
    pub(super) async fn end(
        &mut self,
        title: &str,
        before: &str,
        shown: &[String],
        window: &Window<'_>,
    ) -> Result<(usize, Option<String>), AskError> {
        let before = if before.is_empty() { "(nothing)" } else { before };
        let (from, to) = (window.first.to_string(), window.last.to_string());
        // If there is no choice, the prompt omits the text after the chunk.
        let shown = match window.first == window.last {
            true => shown.get(..window.last).unwrap_or(shown),
            false => shown,
        };
        let mut pieces = Vec::with_capacity(shown.len());
        for (place, piece) in shown.iter().enumerate() {
            pieces.push(format!("[{}] {piece}", place + 1));
        }
        let pieces = pieces.join("\n");
        let before = quiet_headings(before);
        let inputs = [
            ("title", title),
            ("before", before.as_str()),
            ("pieces", pieces.as_str()),
            ("from", from.as_str()),
            ("to", to.as_str()),
        ];
        match self {
            Self::Model { model, undecided } => {
                let (first, last) = (window.first, window.last);
                let read = move |reply: &str| read_end(reply, first, last);
                let mut account = Account::default();
                match ask_read(*model, &END, &inputs, Some(schema()), read, &mut account).await {
                    Ok((end, summary)) => Ok((end, Some(summary))),
                    Err(error) => {
                        *undecided += count_for_structure(title, error)?;
                        Ok((window.by_structure(), None))
                    }
                }
            }
            Self::Forecast { calls, usage } => {
                *calls += 1;
                usage.prompt_tokens += estimate_tokens(&END.render(&inputs)?);
                usage.completion_tokens += SUMMARY_TOKENS + WRAPPING_TOKENS;
                Ok((window.by_structure(), Some(placeholder_summary())))
            }
        }
    }
}

/// A text as long as a summary, for prompts of a forecast.
fn placeholder_summary() -> String {
    "abc ".repeat(SUMMARY_TOKENS as usize)
}

fn schema() -> Schema {
    shape("chunk_end", json!({"end": {"type": "integer"}, "summary": {"type": "string"}}))
}

/// Reads the end and the summary from a reply.
fn read_end(reply: &str, first: usize, last: usize) -> Result<(usize, String), Unreadable> {
    let object = object(reply, &["summary", "end"])?;
    let summary = one_line(&text(&object, "summary")?);
    if summary.is_empty() {
        let (key, expected) = ("summary".to_owned(), "a sentence at least".to_owned());
        return Err(Unreadable::BadKey { key, expected });
    }
    if first == last {
        return Ok((last, summary));
    }
    let out_of_range = Unreadable::key("end", format!("an integer from {first} to {last}"));
    match index(&object, "end", last) {
        Ok(Some(place)) if first <= place + 1 => Ok((place + 1, summary)),
        _ => Err(out_of_range),
    }
}
