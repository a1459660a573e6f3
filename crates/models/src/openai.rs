//! How do we speak with an OpenAI-compatible endpoint (OpenAI, Azure, vLLM, Ollama, llama.cpp)?
//!
//! On plain `reqwest` with serde types of our own rather than on a client library: we read seven
//! fields of the protocol, need what such libraries hide (`Retry-After`, the body of an error,
//! float against base64 vectors), and forgive what they do not (null contents, extra fields, missing
//! usage).

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::secret::Secret;

mod chat;
mod embeddings;
mod extra;
mod http;
mod quirks;
mod rerank;
mod spans;
#[cfg(test)]
mod tests;
mod trouble;
mod wait;

pub use chat::OpenAiChat;
pub use embeddings::{EmbeddingParams, OpenAiEmbedder};
pub(crate) use embeddings::{from_base64, to_base64};
pub(crate) use extra::Extra;
pub use http::Transport;
pub(crate) use quirks::Quirks;
pub use rerank::EndpointReranker;
pub(crate) use trouble::Trouble;
pub use trouble::withheld_keys;

/// Where a model is served, and how to speak with it.
#[derive(Clone)]
pub struct Endpoint {
    /// What stands before `/chat/completions`, such as `https://api.openai.com/v1`; for Azure the
    /// resource, `https://NAME.openai.azure.com`.
    pub base_url: String,
    /// Sent to this address alone; local servers need none.
    pub api_key: Option<Secret>,
    /// As the endpoint calls it; for Azure the deployment.
    pub model: String,
    /// Speaks Azure's dialect, in this version of it.
    pub azure_api_version: Option<String>,
    /// How long one call may take, from the first byte out to the last byte in.
    pub timeout: Duration,
    /// Further headers of each request; their values are never shown.
    pub headers: Vec<(String, Secret)>,
    /// How to ask for a shape of the reply.
    pub structured: Structured,
    /// Whether to send the temperature; endpoints that refuse it are found out by themselves.
    pub send_temperature: bool,
    /// Further fields of the body, such as `{"options": {"num_ctx": 16384}}`; they replace ours. Not those
    /// that nobody could hold under a cap: `n`, `tools` and the like.
    pub extra: Map<String, Value>,
    /// What holds a key that is not sent here, for it was given for another address. A refusal names it.
    pub withheld: Vec<String>,
    /// The room that replies have, in tokens; none for that of each prompt. Chat alone.
    pub reply_tokens: Option<NonZeroU32>,
}

/// How to ask for a reply that follows a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Structured {
    /// By schema; where the endpoint refuses that, as any JSON; where it refuses that, by the
    /// prompt alone. What was refused once is not tried again.
    #[default]
    Auto,
    /// By schema, and by nothing less.
    JsonSchema,
    /// As any JSON; the prompt says which.
    JsonObject,
    /// By the prompt alone: no field asks for a shape.
    Prompt,
}

impl Endpoint {
    /// A model at an address, without a key, and with ten minutes for a call.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            api_key: None,
            model: model.into(),
            azure_api_version: None,
            timeout: Duration::from_mins(10),
            headers: Vec::new(),
            structured: Structured::Auto,
            send_temperature: true,
            extra: Map::new(),
            withheld: Vec::new(),
            reply_tokens: None,
        }
    }

    /// The address as it may be shown: without user, password and query.
    pub fn address(&self) -> String {
        http::shown(&self.base_url)
    }

    /// All that must never be shown: the key, and the values of all headers.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        let headers = self.headers.iter().map(|(_, secret)| secret.clone());
        self.api_key.clone().into_iter().chain(headers).collect()
    }
}

impl fmt::Debug for Endpoint {
    /// Shows neither keys nor what may hold one: passwords and queries of the address, extra fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base_url", &self.address())
            .field("api_key", &self.api_key)
            .field("model", &self.model)
            .field("azure_api_version", &self.azure_api_version)
            .field("timeout", &self.timeout)
            .field("headers", &self.headers)
            .field("structured", &self.structured)
            .field("send_temperature", &self.send_temperature)
            .field("extra", &self.extra.keys())
            .field("withheld", &self.withheld)
            .field("reply_tokens", &self.reply_tokens)
            .finish()
    }
}
