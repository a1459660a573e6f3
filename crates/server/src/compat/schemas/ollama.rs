//! Describes replies of Ollama's routes.
#![expect(dead_code, reason = "the document describes these types, and nothing makes them")]

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::ToSchema;

/// The version of the protocol.
#[derive(ToSchema)]
pub(crate) struct OllamaVersion {
    /// The version.
    version: String,
}

/// Models, as Ollama's clients read them.
#[derive(ToSchema)]
pub(crate) struct OllamaModels {
    /// A model for each method and base.
    models: Vec<OllamaModel>,
}

/// A method of a base, as a model.
#[derive(ToSchema)]
pub(crate) struct OllamaModel {
    /// The name that requests use.
    name: String,
    /// The same.
    model: String,
    /// A fixed day.
    modified_at: String,
    /// Always 0.
    size: u64,
    /// Identifier of the model.
    digest: String,
    /// Fields that clients expect.
    #[schema(value_type = Object)]
    details: Value,
}

/// The form of an answer as JSON.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum OllamaFormat {
    /// `json`, for any object; empty for a text.
    Named(String),
    /// A JSON Schema.
    Schema(BTreeMap<String, Value>),
}

/// An answer, or a line of a streamed answer, as Ollama's clients read it.
#[derive(ToSchema)]
pub(crate) struct OllamaReply {
    /// The model of the request.
    model: String,
    /// A time.
    created_at: String,
    /// The answer, or its next piece.
    message: OllamaAnswer,
    /// Whether this is the last line.
    done: bool,
    /// Why it ends: `stop`, `length` if it was cut; `load` or `unload` without a question.
    #[schema(nullable = false)]
    done_reason: Option<String>,
    /// Tokens of the prompts.
    #[schema(nullable = false)]
    prompt_eval_count: Option<u64>,
    /// Tokens of the replies.
    #[schema(nullable = false)]
    eval_count: Option<u64>,
}

/// The message that answers.
#[derive(ToSchema)]
pub(crate) struct OllamaAnswer {
    /// Always `assistant`.
    role: String,
    /// The answer with the numbers of its citations.
    content: String,
    /// Steps of the run, and drafts of the answer.
    #[schema(nullable = false)]
    thinking: Option<String>,
}

/// An answer, or a line of a streamed answer, without a conversation.
#[derive(ToSchema)]
pub(crate) struct OllamaGenerated {
    /// The model of the request.
    model: String,
    /// A time.
    created_at: String,
    /// The answer, or its next piece.
    response: String,
    /// Steps of the run, and drafts of the answer.
    #[schema(nullable = false)]
    thinking: Option<String>,
    /// Whether this is the last line.
    done: bool,
    /// Why it ends: `stop`, `length` if it was cut; `load` or `unload` without a question.
    #[schema(nullable = false)]
    done_reason: Option<String>,
    /// Tokens of the prompts.
    #[schema(nullable = false)]
    prompt_eval_count: Option<u64>,
    /// Tokens of the replies.
    #[schema(nullable = false)]
    eval_count: Option<u64>,
}

/// A model, as Ollama's clients read it.
#[derive(ToSchema)]
pub(crate) struct OllamaShown {
    /// A line that names the model.
    modelfile: String,
    /// Always the prompt alone.
    template: String,
    /// Fields that clients expect.
    #[schema(value_type = Object)]
    details: Value,
    /// The length of a conversation, and the name.
    #[schema(value_type = Object)]
    model_info: Value,
    /// What the model can do.
    capabilities: Vec<String>,
}

/// A step of a download, which has nothing to do.
#[derive(ToSchema)]
pub(crate) struct OllamaStatus {
    /// `success` in the last line.
    status: String,
}

/// Vectors, as Ollama's clients read them.
#[derive(ToSchema)]
pub(crate) struct OllamaVectors {
    /// The model of the request.
    model: String,
    /// One for each text, in order.
    embeddings: Vec<Vec<f32>>,
    /// Tokens of the texts.
    #[schema(nullable = false)]
    prompt_eval_count: Option<u64>,
}

/// The vector of a text, as earlier clients read it.
#[derive(ToSchema)]
pub(crate) struct OllamaVector {
    /// Its numbers.
    embedding: Vec<f32>,
}
