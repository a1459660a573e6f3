//! Describes replies of OpenAI's routes.
#![expect(dead_code, reason = "the document describes these types, and nothing makes them")]

use serde_json::Value;
use utoipa::ToSchema;

/// A whole answer, as OpenAI's clients read it.
#[derive(ToSchema)]
pub(crate) struct ChatCompletion {
    /// Identifier of the answer; it contains the run's name.
    id: String,
    /// Always `chat.completion`.
    object: String,
    /// When it was made, in seconds since 1970.
    created: u64,
    /// The model of the request.
    model: String,
    /// One choice.
    choices: Vec<ChatCompletionChoice>,
    /// The tokens of the model calls.
    usage: ChatUsage,
}

/// An answer.
#[derive(ToSchema)]
pub(crate) struct ChatCompletionChoice {
    /// Always 0.
    index: u32,
    /// The answer.
    message: ChatCompletionMessage,
    /// Always null.
    #[schema(value_type = Option<Object>)]
    logprobs: Option<Value>,
    /// Why it ends: `stop`, `length` if it was cut, `tool_calls` if the only function was demanded.
    finish_reason: String,
}

/// The message that answers.
#[derive(ToSchema)]
pub(crate) struct ChatCompletionMessage {
    /// Always `assistant`.
    role: String,
    /// The answer with the numbers of its citations, then its rationale; or an object as JSON. Null
    /// with a call or a refusal.
    #[schema(required)]
    content: Option<String>,
    /// The answer in words, if it gives no values for the object that was asked for.
    refusal: Option<String>,
    /// The call of the function that was demanded.
    #[schema(nullable = false)]
    tool_calls: Option<Vec<ChatCall>>,
    /// The citations.
    #[schema(nullable = false)]
    annotations: Option<Vec<ChatAnnotation>>,
}

/// The call of a function.
#[derive(ToSchema)]
pub(crate) struct ChatCall {
    /// Always 0; only in streams.
    #[schema(nullable = false)]
    index: Option<u32>,
    /// Identifier of the call; it contains the run's name.
    id: String,
    /// Always `function`.
    #[serde(rename = "type")]
    kind: String,
    /// The function.
    function: ChatFunction,
}

/// A called function.
#[derive(ToSchema)]
pub(crate) struct ChatFunction {
    /// Its name.
    name: String,
    /// Its arguments as JSON.
    arguments: String,
}

/// A citation in the text of an answer.
#[derive(ToSchema)]
pub(crate) struct ChatAnnotation {
    /// Always `url_citation`.
    #[serde(rename = "type")]
    kind: String,
    /// The cited passage.
    url_citation: ChatCitation,
}

/// A cited passage.
#[derive(ToSchema)]
pub(crate) struct ChatCitation {
    /// A link to the passage.
    url: String,
    /// The title of the document.
    title: String,
    /// Where the number of the citation begins, in characters of the text.
    start_index: u64,
    /// Where it ends.
    end_index: u64,
}

/// Tokens of model calls.
#[derive(ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the protocol")]
pub(crate) struct ChatUsage {
    /// Tokens of the prompts.
    prompt_tokens: u64,
    /// Tokens of the replies.
    completion_tokens: u64,
    /// The sum.
    total_tokens: u64,
}

/// A piece of a streamed answer. The last event of the stream is `[DONE]`.
#[derive(ToSchema)]
pub(crate) struct ChatChunk {
    /// The same for all pieces of an answer.
    id: String,
    /// Always `chat.completion.chunk`.
    object: String,
    /// When the answer was begun, in seconds since 1970.
    created: u64,
    /// The model of the request.
    model: String,
    /// One choice; none in the piece that holds the usage.
    choices: Vec<ChatChunkChoice>,
    /// The tokens, in the last piece, if `stream_options.include_usage` is set.
    usage: Option<ChatUsage>,
    /// A citation as Open WebUI reads it.
    #[schema(value_type = Option<Object>, nullable = false)]
    event: Option<Value>,
}

/// A piece of an answer.
#[derive(ToSchema)]
pub(crate) struct ChatChunkChoice {
    /// Always 0.
    index: u32,
    /// The next piece.
    delta: ChatDelta,
    /// Always null.
    #[schema(value_type = Option<Object>)]
    logprobs: Option<Value>,
    /// In the last piece: `stop`, `length` or `tool_calls`.
    #[schema(required)]
    finish_reason: Option<String>,
}

/// The next piece of a message.
#[derive(ToSchema)]
pub(crate) struct ChatDelta {
    /// `assistant`, in the first piece.
    #[schema(nullable = false)]
    role: Option<String>,
    /// The checked answer.
    #[schema(nullable = false)]
    content: Option<String>,
    /// The answer in words, if it gives no values for the object that was asked for.
    #[schema(nullable = false)]
    refusal: Option<String>,
    /// The call of the function that was demanded.
    #[schema(nullable = false)]
    tool_calls: Option<Vec<ChatCall>>,
    /// A step of the run, or a draft of the answer.
    #[schema(nullable = false)]
    reasoning_content: Option<String>,
    /// The citations.
    #[schema(nullable = false)]
    annotations: Option<Vec<ChatAnnotation>>,
}

/// The available models, as OpenAI's clients read them.
#[derive(ToSchema)]
pub(crate) struct OpenAiModels {
    /// Always `list`.
    object: String,
    /// A model for each method and base.
    data: Vec<OpenAiModel>,
}

/// A method of a base, as a model.
#[derive(ToSchema)]
pub(crate) struct OpenAiModel {
    /// The name that requests use.
    id: String,
    /// Always `model`.
    object: String,
    /// Always 0.
    created: u64,
    /// Always `pikerag`.
    owned_by: String,
}

/// Vectors, as OpenAI's clients read them.
#[derive(ToSchema)]
pub(crate) struct EmbeddingsList {
    /// Always `list`.
    object: String,
    /// One for each text, in order.
    data: Vec<EmbeddingLine>,
    /// The embedder.
    model: String,
    /// Tokens of the texts.
    usage: EmbeddingsUsage,
}

/// The vector of a text.
#[derive(ToSchema)]
pub(crate) struct EmbeddingLine {
    /// Always `embedding`.
    object: String,
    /// The position of the text, from 0.
    index: u64,
    /// The vector.
    embedding: EmbeddingVector,
}

/// A vector.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum EmbeddingVector {
    /// Its numbers.
    Numbers(Vec<f32>),
    /// With `encoding_format = base64`: its numbers as little-endian `f32`.
    Packed(String),
}

/// Tokens of embedded texts.
#[derive(ToSchema)]
pub(crate) struct EmbeddingsUsage {
    /// Tokens of the texts; 0 if the embedder does not count them.
    prompt_tokens: u64,
    /// The same.
    total_tokens: u64,
}

/// An answer, as clients of OpenAI's Responses API read it.
#[derive(ToSchema)]
pub(crate) struct ResponsesReply {
    /// Identifier of the answer; it contains the run's name.
    id: String,
    /// Always `response`.
    object: String,
    /// When it was begun, in seconds since 1970.
    created_at: u64,
    /// `completed`, `incomplete` or `failed`.
    status: String,
    /// The model of the request.
    model: String,
    /// Reasoning, and the message with its citations.
    #[schema(value_type = Vec<Object>)]
    output: Vec<Value>,
    /// The tokens of the model calls.
    #[schema(value_type = Option<Object>)]
    usage: Option<Value>,
}

/// An event of a streamed answer.
#[derive(ToSchema)]
pub(crate) struct ResponsesEvent {
    /// The kind, for example `response.output_text.delta`.
    #[serde(rename = "type")]
    kind: String,
    /// The number of the event, from 0.
    sequence_number: u64,
}
