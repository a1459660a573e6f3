//! Assembles a reply from the events of its stream.

use serde::Deserialize;
use serde_json::Value;

use super::{Choice, RawReply, ReplyContent, TokenScore, TokenScores};
use crate::draft::Draft;
use crate::openai::Trouble;
use crate::openai::http::Wire;

/// The first choice of a reply, as far as it has arrived.
pub(super) struct Assembled<'a> {
    /// Shows the text to those who wait.
    draft: &'a Draft,
    text: String,
    finish_reason: Option<String>,
    scores: Option<Vec<TokenScore>>,
    usage: Option<Value>,
    timings: Option<Value>,
    has_choice: bool,
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<ChunkChoice>>,
    usage: Option<Value>,
    /// llama.cpp's measurement, in the last event.
    timings: Option<Value>,
    error: Option<Value>,
    /// `error` in the errors of some servers.
    object: Option<Value>,
}

#[derive(Deserialize)]
struct ChunkChoice {
    delta: Option<RawReply>,
    /// In place of `delta` from servers that send the whole reply as one event.
    message: Option<RawReply>,
    finish_reason: Option<String>,
    logprobs: Option<TokenScores>,
}

impl<'a> Assembled<'a> {
    /// A reply of which nothing has arrived. It replaces the text of an earlier attempt.
    pub(super) fn begin(draft: &'a Draft) -> Self {
        draft.restart();
        Self {
            draft,
            text: String::new(),
            finish_reason: None,
            scores: None,
            usage: None,
            timings: None,
            has_choice: false,
        }
    }

    /// Adds an event.
    ///
    /// # Errors
    /// It is unreadable, or an error of the endpoint.
    pub(super) fn take(&mut self, wire: &Wire, data: &[u8]) -> Result<(), Trouble> {
        let chunk: Chunk = wire.parse(data)?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(wire.reported(&error));
        }
        if chunk.object.is_some_and(|object| object == "error") {
            return Err(wire.reported(&wire.parse::<Value>(data)?));
        }
        if let Some(usage) = chunk.usage.filter(|usage| !usage.is_null()) {
            self.usage = Some(usage);
        }
        self.timings = chunk.timings.or(self.timings.take());
        // Only one choice was asked for.
        let Some(choice) = chunk.choices.into_iter().flatten().next() else { return Ok(()) };
        self.has_choice = true;
        if let Some(content) = choice.delta.or(choice.message).and_then(|delta| delta.content) {
            let text = content.into_text();
            self.draft.push(&text);
            self.text.push_str(&text);
        }
        if choice.finish_reason.is_some() {
            self.finish_reason = choice.finish_reason;
        }
        if let Some(scores) = choice.logprobs.and_then(|scores| scores.content) {
            self.scores.get_or_insert_default().extend(scores);
        }
        Ok(())
    }

    /// The whole reply; `is_done` reports whether the stream had its end mark.
    ///
    /// # Errors
    /// The stream ended too early, or had no choice.
    pub(super) fn into_choice(self, wire: &Wire, is_done: bool) -> Result<Choice, Trouble> {
        if !is_done && self.finish_reason.is_none() {
            return Err(wire.cut("the stream ended within the reply"));
        }
        if !self.has_choice {
            return Err(Trouble::wrong("has no choices"));
        }
        Ok(Choice {
            message: RawReply { content: Some(ReplyContent::Text(self.text)) },
            finish_reason: self.finish_reason,
            logprobs: self.scores.map(|content| TokenScores { content: Some(content) }),
            usage: self.usage,
            timings: self.timings,
        })
    }
}
