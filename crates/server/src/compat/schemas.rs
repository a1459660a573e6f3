//! Describes the bodies of other protocols for the OpenAPI document. The code builds these bodies as
//! JSON, so no value of these types is made.
#![expect(dead_code, reason = "the document describes these types, and nothing makes them")]

mod ollama;
mod openai;
mod search;

use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use self::ollama::{
    OllamaFormat, OllamaGenerated, OllamaModels, OllamaReply, OllamaShown, OllamaStatus,
    OllamaVector, OllamaVectors, OllamaVersion,
};
use self::openai::{
    ChatChunk, ChatCompletion, EmbeddingsList, OpenAiModel, OpenAiModels, ResponsesEvent,
    ResponsesReply,
};
use self::search::{DifyRecords, RerankAnswer, RerankDocument};

/// All schemas by name; some more than once.
pub(crate) fn all() -> Vec<(String, RefOr<Schema>)> {
    let mut all = Vec::new();
    add::<TextInput>(&mut all);
    add::<ChatMessage>(&mut all);
    add::<ChatCompletion>(&mut all);
    add::<ChatChunk>(&mut all);
    add::<OpenAiModels>(&mut all);
    add::<OpenAiModel>(&mut all);
    add::<EmbeddingsList>(&mut all);
    add::<RerankDocument>(&mut all);
    add::<RerankAnswer>(&mut all);
    add::<OllamaVersion>(&mut all);
    add::<OllamaFormat>(&mut all);
    add::<OllamaModels>(&mut all);
    add::<OllamaReply>(&mut all);
    add::<OllamaGenerated>(&mut all);
    add::<OllamaShown>(&mut all);
    add::<OllamaStatus>(&mut all);
    add::<OllamaVectors>(&mut all);
    add::<OllamaVector>(&mut all);
    add::<ResponsesReply>(&mut all);
    add::<ResponsesEvent>(&mut all);
    add::<DifyRecords>(&mut all);
    all
}

/// Adds a schema and those that it refers to.
fn add<T: ToSchema>(all: &mut Vec<(String, RefOr<Schema>)>) {
    all.push((T::name().into_owned(), T::schema()));
    T::schemas(all);
}

/// A text, or a list of texts.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum TextInput {
    /// A text.
    One(String),
    /// Texts.
    Several(Vec<String>),
}

/// The text of a message.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum ChatContent {
    /// The text.
    Text(String),
    /// Parts, of which those with a text are read.
    Parts(Vec<ChatPart>),
}

/// A part of a message.
#[derive(ToSchema)]
pub(crate) struct ChatPart {
    /// The kind, for example `text`.
    #[serde(rename = "type")]
    kind: String,
    /// Its text.
    text: Option<String>,
}

/// A message of a conversation.
#[derive(ToSchema)]
pub(crate) struct ChatMessage {
    /// `system`, `user`, `assistant` or `tool`.
    role: String,
    /// The text.
    content: Option<ChatContent>,
}
