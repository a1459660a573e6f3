//! Connects to OpenAI-compatible endpoints (OpenAI, Azure, vLLM, Ollama, llama.cpp).
//!
//! Built on plain `reqwest` with serde types of our own instead of a client library. We read seven
//! fields of the protocol. We need details that such libraries hide (`Retry-After`, the body of an
//! error, float against base64 vectors). We accept deviations that they reject (null contents,
//! extra fields, missing usage).

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::secret::Secret;

mod chat;
mod embeddings;
mod events;
mod extra;
mod http;
mod measured;
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

/// The beginning of the name of a model that pikerag serves itself, such as `local:smollm2-135m`.
/// Its endpoint has the name as address.
pub const LOCAL: &str = "local:";

/// The address of a model, and the dialect of its endpoint.
#[derive(Clone)]
pub struct Endpoint {
    /// The part before `/chat/completions`, such as `https://api.openai.com/v1`; for Azure the
    /// resource, `https://NAME.openai.azure.com`.
    pub base_url: String,
    /// Sent to this address only; local servers need none.
    pub api_key: Option<Secret>,
    /// The endpoint's name for the model; for Azure the deployment.
    pub model: String,
    /// Uses this version of Azure's dialect.
    pub azure_api_version: Option<String>,
    /// The time limit of one call, from the first byte out to the last byte in.
    pub timeout: Duration,
    /// Further headers of each request; their values are never shown.
    pub headers: Vec<(String, Secret)>,
    /// How to ask for a shape of the reply.
    pub structured: Structured,
    /// Whether to send the temperature; endpoints that refuse it are detected automatically.
    pub send_temperature: bool,
    /// Further fields of the body, such as `{"options": {"num_ctx": 16384}}`; they replace ours.
    /// Fields whose cost no cap could limit are rejected: `n`, `tools` and the like.
    pub extra: Map<String, Value>,
    /// The settings with keys that are not sent here because they were given for another address. A
    /// refusal names them.
    pub withheld: Vec<String>,
    /// The limit on tokens of a reply; if absent, each prompt sets its own. Chat only.
    pub reply_tokens: Option<NonZeroU32>,
    /// Whether a reply that somebody watches is received piece by piece; endpoints that refuse it
    /// are detected automatically. Chat only.
    pub stream: bool,
}

/// How to ask for a reply that follows a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Structured {
    /// By schema; as any JSON if the endpoint refuses schemas; by the prompt alone if it refuses
    /// that too. A refused form is not tried again.
    #[default]
    Auto,
    /// By schema only.
    JsonSchema,
    /// As any JSON; the prompt describes the shape.
    JsonObject,
    /// By the prompt alone: no field requests a shape.
    Prompt,
}

impl Endpoint {
    /// A model at an address, without a key, with a time limit of ten minutes for a call.
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
            stream: true,
        }
    }

    /// The address in a form that may be shown: without user, password and query.
    pub fn address(&self) -> String {
        http::shown(&self.base_url)
    }

    /// The name of the model, without its beginning, if pikerag serves it itself.
    pub fn local_name(&self) -> Option<&str> {
        self.base_url.strip_prefix(LOCAL)
    }

    /// All values that must never be shown: the key, and the values of all headers.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        let headers = self.headers.iter().map(|(_, secret)| secret.clone());
        self.api_key.clone().into_iter().chain(headers).collect()
    }
}

impl fmt::Debug for Endpoint {
    /// Shows neither keys nor parts that may hold one: passwords and queries of the address, extra
    /// fields.
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
            .field("stream", &self.stream)
            .finish()
    }
}
