//! Turns a chat request into JSON, and JSON into a reply.

use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{
    ChatModel, ChatReply, ChatRequest, FinishReason, Message, ModelError, TokenLogprob, Usage,
};
use pikerag_language::estimate_tokens;
use reqwest::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tracing::Instrument;

use self::shape::{ResponseFormat, is_bounded, response_format};
use self::stream::Assembled;
use super::http::{Wire, is_of_events};
use super::measured::{cached, counted, timings};
use super::quirks::{Dialect, Quirks};
use super::{Endpoint, Structured, Transport, Trouble, spans};
use crate::draft::{Draft, watched};
use crate::estimate::estimate_prompt;

mod shape;
mod stream;

/// A chat model behind an OpenAI-compatible endpoint.
pub struct OpenAiChat {
    endpoint: Endpoint,
    wire: Wire,
    quirks: Arc<Quirks>,
}

impl OpenAiChat {
    /// Checks the settings; sends nothing.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`], naming the setting that is wrong.
    pub fn new(endpoint: Endpoint, transport: &Transport) -> Result<Self, ModelError> {
        let wire = Wire::open(transport, &endpoint, "chat/completions")?;
        Ok(Self { endpoint, wire, quirks: Arc::default() })
    }

    /// Shares the dialect that the endpoint was found to understand.
    pub(crate) fn with_quirks(self, quirks: Arc<Quirks>) -> Self {
        Self { quirks, ..self }
    }

    /// Sends the request, and tries other dialects while the endpoint refuses the current one.
    async fn ask(&self, request: &ChatRequest) -> Result<Choice, Trouble> {
        let asked =
            request.schema.as_ref().map_or(Structured::Prompt, |_| self.endpoint.structured);
        let is_bounded = request.schema.as_ref().is_some_and(|schema| is_bounded(&schema.schema));
        let draft = if self.endpoint.stream { watched() } else { None };
        let mut dialect = self.quirks.dialect();
        loop {
            let draft = draft.as_deref().filter(|_| dialect.has_stream());
            let body = body(&self.endpoint, request, dialect, draft.is_some());
            let body = serde_json::to_vec(&body);
            let body = body.map_err(|error| Trouble::wrong(error.to_string()))?;
            let error = match self.wire.send(body).await {
                Ok(response) => {
                    let choice = self.choice(response, draft).await?;
                    self.quirks.remember(&self.endpoint.model, dialect);
                    return Ok(choice);
                }
                Err(error) => error,
            };
            dialect = dialect.simpler(asked, is_bounded, draft.is_some(), &error).ok_or(error)?;
        }
    }

    /// Reads the reply. What arrives piece by piece is shown in the draft meanwhile; an endpoint may
    /// ignore that a stream was asked for.
    async fn choice(&self, response: Response, draft: Option<&Draft>) -> Result<Choice, Trouble> {
        let Some(draft) = draft.filter(|_| is_of_events(&response)) else {
            return self.first_choice(self.wire.whole(response).await?);
        };
        let mut assembled = Assembled::begin(draft);
        let is_done = self.wire.events(response, |data| assembled.take(&self.wire, data)).await?;
        let choice = assembled.into_choice(&self.wire, is_done);
        self.quirks.streamed(&self.endpoint.model, choice.is_ok());
        choice
    }

    fn first_choice(&self, completion: Completion) -> Result<Choice, Trouble> {
        if let Some(error) = completion.error.filter(|error| !error.is_null()) {
            return Err(self.wire.reported(&error));
        }
        let Some(mut choice) = completion.choices.into_iter().flatten().next() else {
            return Err(Trouble::wrong("has no choices"));
        };
        choice.usage = completion.usage;
        choice.timings = completion.timings;
        Ok(choice)
    }

    fn no_logprobs(&self) -> ModelError {
        ModelError::NoLogprobs { model: self.endpoint.model.clone() }
    }

    async fn replied(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let mut choice = self.ask(request).await.map_err(|trouble| {
            match request.logprobs && trouble.refuses(|body| body.contains("logprob")) {
                true => self.no_logprobs(),
                false => trouble.into_error(&self.endpoint.model),
            }
        })?;
        let scores = choice.logprobs.take().and_then(|scores| scores.content);
        let mut reply = choice.into_reply(request);
        if request.logprobs {
            match scores {
                Some(scores) => {
                    reply.logprobs = scores.into_iter().map(TokenScore::into_logprob).collect();
                }
                None if reply.text.is_empty() => {}
                None => return Err(self.no_logprobs()),
            }
        }
        Ok(reply)
    }
}

#[async_trait]
impl ChatModel for OpenAiChat {
    fn name(&self) -> &str {
        &self.endpoint.model
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.endpoint.reply_tokens.map(NonZeroU32::get)
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let span = spans::chat(&self.endpoint, request);
        let reply = self.replied(request).instrument(span.clone()).await;
        spans::replied(&span, &reply);
        reply
    }
}

/// The body of a request. Extra fields replace ours.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl<'a> },
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: &'a str,
}

fn body<'a>(
    endpoint: &'a Endpoint,
    request: &'a ChatRequest,
    dialect: Dialect,
    is_streamed: bool,
) -> Body<'a> {
    let ours = |field: &str| !endpoint.extra.contains_key(field);
    let sends_temperature = endpoint.send_temperature && dialect.has_temperature();
    let limit = (ours("max_tokens") && ours("max_completion_tokens")).then_some(request.max_tokens);
    let (max_tokens, max_completion_tokens) =
        if dialect.has_max_tokens() { (limit, None) } else { (None, limit) };
    let schema = request.schema.as_ref().filter(|_| ours("response_format"));
    let has_options = is_streamed && dialect.has_stream_options() && ours("stream_options");
    Body {
        model: &endpoint.model,
        messages: request.messages.iter().map(wire_message).collect(),
        temperature: (sends_temperature && ours("temperature")).then_some(request.temperature),
        max_tokens,
        max_completion_tokens,
        response_format: schema.and_then(|schema| {
            let structured = dialect.structured(endpoint.structured);
            response_format(schema, structured, dialect.has_bounds())
        }),
        logprobs: (request.logprobs && ours("logprobs")).then_some(true),
        stream: is_streamed.then_some(true),
        stream_options: has_options.then_some(StreamOptions { include_usage: true }),
        extra: &endpoint.extra,
    }
}

fn wire_message(message: &Message) -> WireMessage<'_> {
    match message {
        Message::System { text } => WireMessage { role: "system", content: Content::Text(text) },
        Message::Assistant { text } => {
            WireMessage { role: "assistant", content: Content::Text(text) }
        }
        Message::User { text, images } if images.is_empty() => {
            WireMessage { role: "user", content: Content::Text(text) }
        }
        Message::User { text, images } => {
            let images = images.iter().map(|url| Part::ImageUrl { image_url: ImageUrl { url } });
            let parts = std::iter::once(Part::Text { text }).chain(images).collect();
            WireMessage { role: "user", content: Content::Parts(parts) }
        }
    }
}

#[derive(Deserialize)]
struct Completion {
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
    /// llama.cpp's measurement.
    timings: Option<Value>,
    error: Option<Value>,
}

/// The first choice. Fields for reasoning (`reasoning`, `reasoning_content`) are left out; their
/// tokens are in the usage.
#[derive(Deserialize)]
struct Choice {
    message: RawReply,
    finish_reason: Option<String>,
    logprobs: Option<TokenScores>,
    #[serde(skip)]
    usage: Option<Value>,
    #[serde(skip)]
    timings: Option<Value>,
}

#[derive(Deserialize)]
struct RawReply {
    content: Option<ReplyContent>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ReplyContent {
    Text(String),
    Parts(Vec<ReplyPart>),
}

#[derive(Deserialize)]
struct ReplyPart {
    text: Option<String>,
}

#[derive(Deserialize)]
struct TokenScores {
    content: Option<Vec<TokenScore>>,
}

#[derive(Deserialize)]
struct TokenScore {
    token: String,
    logprob: f32,
}

impl ReplyContent {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().filter_map(|part| part.text).collect(),
        }
    }
}

impl Choice {
    /// Turns a choice into a reply; a refusal or a null content becomes an empty reply.
    fn into_reply(self, request: &ChatRequest) -> ChatReply {
        let text = self.message.content.map(ReplyContent::into_text).unwrap_or_default();
        let counted = |field| counted(self.usage.as_ref(), field);
        let prompt = counted("prompt_tokens");
        // Gemini counts reasoning tokens only in the total.
        let all_but_prompt = counted("total_tokens")
            .zip(prompt)
            .and_then(|(total, prompt)| total.checked_sub(prompt));
        let usage = Usage {
            prompt_tokens: prompt.unwrap_or_else(|| estimate_prompt(request)),
            completion_tokens: counted("completion_tokens")
                .max(all_but_prompt.filter(|tokens| 0 < *tokens))
                .unwrap_or_else(|| estimate_tokens(&text)),
        };
        let finish = self.finish_reason.as_deref().map(finish_reason);
        let cached_tokens = cached(self.usage.as_ref(), self.timings.as_ref());
        let timings = self.timings.as_ref().and_then(timings);
        ChatReply { finish, cached_tokens, timings, ..ChatReply::new(text, usage) }
    }
}

fn finish_reason(name: &str) -> FinishReason {
    match name {
        "stop" | "eos" => FinishReason::Stop,
        "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        _ => FinishReason::Other,
    }
}

impl TokenScore {
    /// Limits the logarithm to 0: some servers round it slightly above.
    fn into_logprob(self) -> TokenLogprob {
        TokenLogprob { token: self.token, logprob: self.logprob.min(0.0) }
    }
}

#[cfg(test)]
pikerag_test_support::fuzz_targets! {
    chat_reply in "corpus/chat" => |bytes: &[u8]| {
        let endpoint = Endpoint::new("http://127.0.0.1:9/v1", "m");
        let model = OpenAiChat::new(endpoint, &Transport::default()).unwrap();
        let choice = serde_json::from_slice(bytes).map(|completion| model.first_choice(completion));
        if let Ok(Ok(choice)) = choice {
            let reply = choice.into_reply(&pikerag_doubles::request("a"));
            assert!(0 < reply.usage.prompt_tokens);
        }
    };
}
