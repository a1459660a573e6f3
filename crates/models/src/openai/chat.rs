//! Turns a chat request into JSON, and JSON into a reply.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use pikerag_knowledge::{
    ChatModel, ChatReply, ChatRequest, FinishReason, Message, ModelError, Schema, TokenLogprob,
    Usage,
};
use pikerag_language::estimate_tokens;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tracing::Instrument;

use super::http::Wire;
use super::measured::{cached, counted, timings};
use super::quirks::{Dialect, Quirks};
use super::{Endpoint, Structured, Transport, Trouble, spans};
use crate::estimate::estimate_prompt;

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
        let mut dialect = self.quirks.dialect();
        loop {
            let body = serde_json::to_vec(&body(&self.endpoint, request, dialect));
            let body = body.map_err(|error| Trouble::wrong(error.to_string()))?;
            let error = match self.wire.post(body).await {
                Ok(completion) => {
                    self.quirks.remember(&self.endpoint.model, dialect);
                    return self.first_choice(completion);
                }
                Err(error) => error,
            };
            dialect = dialect.simpler(asked, is_bounded, &error).ok_or(error)?;
        }
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
    #[serde(flatten)]
    extra: &'a Map<String, Value>,
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

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: WireSchema<'a> },
    JsonObject,
}

#[derive(Serialize)]
struct WireSchema<'a> {
    name: &'a str,
    schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

fn body<'a>(endpoint: &'a Endpoint, request: &'a ChatRequest, dialect: Dialect) -> Body<'a> {
    let ours = |field: &str| !endpoint.extra.contains_key(field);
    let sends_temperature = endpoint.send_temperature && dialect.has_temperature();
    let limit = (ours("max_tokens") && ours("max_completion_tokens")).then_some(request.max_tokens);
    let (max_tokens, max_completion_tokens) =
        if dialect.has_max_tokens() { (limit, None) } else { (None, limit) };
    let schema = request.schema.as_ref().filter(|_| ours("response_format"));
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

/// The fields of a schema that limit lengths: they keep weak models from repeating themselves.
const BOUNDS: [&str; 2] = ["maxLength", "maxItems"];

fn is_bounded(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            BOUNDS.iter().any(|bound| fields.contains_key(*bound))
                || fields.values().any(is_bounded)
        }
        Value::Array(items) => items.iter().any(is_bounded),
        _ => false,
    }
}

fn without_bounds(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| !BOUNDS.contains(&key.as_str()));
            Value::Object(kept.map(|(key, value)| (key.clone(), without_bounds(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_bounds).collect()),
        other => other.clone(),
    }
}

/// `strict` only for closed schemas: OpenAI refuses strictness for open ones.
fn response_format(
    schema: &Schema,
    structured: Structured,
    has_bounds: bool,
) -> Option<ResponseFormat<'_>> {
    match structured {
        Structured::Auto | Structured::JsonSchema => {
            let closed = schema.schema.get("additionalProperties") == Some(&Value::Bool(false));
            Some(ResponseFormat::JsonSchema {
                json_schema: WireSchema {
                    name: &schema.name,
                    schema: match has_bounds {
                        true => Cow::Borrowed(&schema.schema),
                        false => Cow::Owned(without_bounds(&schema.schema)),
                    },
                    strict: closed.then_some(true),
                },
            })
        }
        Structured::JsonObject => Some(ResponseFormat::JsonObject),
        Structured::Prompt => None,
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

impl Choice {
    /// Turns a choice into a reply; a refusal or a null content becomes an empty reply.
    fn into_reply(self, request: &ChatRequest) -> ChatReply {
        let text = match self.message.content {
            Some(ReplyContent::Text(text)) => text,
            Some(ReplyContent::Parts(parts)) => {
                parts.into_iter().filter_map(|part| part.text).collect()
            }
            None => String::new(),
        };
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
