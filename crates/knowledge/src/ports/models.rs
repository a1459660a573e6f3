//! The ports to models: their requests, their replies and their errors.

mod error;

use std::borrow::Cow;
use std::ops::AddAssign;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::ChunkId;

pub use error::ModelError;

/// The purpose of a call. Each role can have its own model, and is metered separately.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// Chunk → atomic questions (`f_a`).
    Atomize,
    /// Question and context → sub-questions (`f_p`).
    Propose,
    /// Question, context and candidates → one of them.
    Select,
    /// Question and context → answer.
    Answer,
    /// Question, labels and answer → correct or not.
    Judge,
    /// Text → fewer words.
    Summarize,
    /// Text or question → tags.
    Tag,
    /// Image → words.
    Describe,
    /// Question → task class.
    Classify,
    /// Question → whether the model can answer from its own knowledge.
    Know,
    /// Question and passage → whether the passage is relevant.
    Relevant,
    /// Question → sub-questions, without knowledge of the base.
    Decompose,
    /// The known facts → the next step of reasoning.
    Reason,
    /// A step or an answer → a grade of its quality or certainty.
    Grade,
    /// Query → a query that retrieves better.
    Rewrite,
    /// Chunk → entities, relations, records.
    Extract,
    /// Question and passages → facts, and the missing ones.
    Look,
}

impl Role {
    /// Every role, in order.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in settings, traces and reports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One message to a chat model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "speaker")]
pub enum Message {
    /// Instructions before all other messages.
    System {
        /// The instructions.
        text: String,
    },
    /// The user's message, with images if the model accepts them.
    User {
        /// The text.
        text: String,
        /// Images as `data:` URLs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<String>,
    },
    /// An earlier reply of the model.
    Assistant {
        /// The reply, shown so that the model can correct it.
        text: String,
    },
}

/// A JSON schema for the reply, if the endpoint can enforce one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// A short name, letters and underscores.
    pub name: String,
    /// As JSON Schema.
    pub schema: serde_json::Value,
}

/// One request to a chat model. Equal requests get equal ledger keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The purpose of the call.
    pub role: Role,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// 0 for answers, 0.7 for atomizing (KAR³ §A.3).
    pub temperature: f32,
    /// The largest number of tokens of the reply.
    pub max_tokens: u32,
    /// The schema of the reply, if one is needed.
    pub schema: Option<Schema>,
    /// The prompt and its version, such as `methods/look.2`; `None` for a first version, and for a
    /// request without a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The number of a sample of one request, from 0.
    pub sample: u32,
    /// Whether the reply must contain the probability of each token. An endpoint that cannot
    /// provide it is an error, [`ModelError::NoLogprobs`]: there is no silent replacement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub logprobs: bool,
    /// The sources of the request; not a part of the ledger's key.
    #[serde(skip)]
    pub origin: CallOrigin,
}

/// The sources of a request, so that forgetting a document finds the calls that contain its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOrigin {
    /// The template; `None` for a request without one. Its own lines do not identify a document.
    pub template: Option<Cow<'static, str>>,
    /// Chunks whose text the request contains, as far as the caller knows them. The base adds those
    /// that the call's run names.
    pub passages: Vec<ChunkId>,
    /// The number of numbered passages in the prompt, to be shown while the call is open.
    pub n_passages: usize,
    /// Where the reply has the text of the final answer, so that it is shown while the model
    /// writes. `None` for a call that does not write the final answer.
    pub draft: Option<DraftFields>,
}

/// The fields of a JSON reply that are shown to people while the model writes it. Their values are
/// strings in the outermost object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftFields {
    /// The key of the answer.
    pub answer: &'static str,
    /// A key that must be `true` before the answer, for replies that may need another call; `None`
    /// for replies that always hold the answer.
    pub only_if: Option<&'static str>,
    /// The key of the reasons, which are shown until the answer begins; `None` without them.
    pub reasons: Option<&'static str>,
}

/// Tokens used by one or many calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Usage {
    /// Tokens of the prompts.
    pub prompt_tokens: u64,
    /// Tokens of the replies, thinking included.
    pub completion_tokens: u64,
}

impl Usage {
    /// The price in the currency of the prices, which are those of a million tokens of prompts and
    /// of replies.
    pub fn priced(&self, (prompt, reply): (f64, f64)) -> f64 {
        (self.prompt_tokens as f64 * prompt + self.completion_tokens as f64 * reply) / 1e6
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
    }
}

/// The reply of a chat model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The text, thinking blocks included; may be empty.
    pub text: String,
    /// Tokens used, as the endpoint counts them; estimated if it does not.
    pub usage: Usage,
    /// Why the model stopped; `None` if the endpoint does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// The log-probability of each token of the text, in order; empty unless the request asked for
    /// it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logprobs: Vec<TokenLogprob>,
    /// Tokens of the prompt that the endpoint had in its cache and did not read again; 0 if it does
    /// not report them, and for a reply of the ledger.
    #[serde(skip)]
    pub cached_tokens: u64,
    /// How long the endpoint read and wrote; `None` if it does not report it, and for a reply of
    /// the ledger.
    #[serde(skip)]
    pub timings: Option<Timings>,
    /// The call's place in the ledger; `None` for a model without a ledger.
    #[serde(skip)]
    pub call: Option<CallRef>,
}

impl ChatReply {
    /// A reply with its usage and no further properties.
    pub fn new(text: impl Into<String>, usage: Usage) -> Self {
        Self { text: text.into(), usage, ..Self::default() }
    }
}

/// An endpoint's own measurement of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Tokens of the prompt that it read, without those of its cache.
    pub read_tokens: u64,
    /// The time of reading them.
    pub reading: Duration,
    /// Tokens of the reply.
    pub written_tokens: u64,
    /// The time of writing them.
    pub writing: Duration,
}

/// Why a model stopped writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It had finished.
    Stop,
    /// The limit of tokens was reached: the text is cut off.
    Length,
    /// The endpoint withheld the rest.
    ContentFilter,
    /// Any other reason.
    Other,
}

/// A call in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRef {
    /// BLAKE3 of the request, the ledger's key of the call.
    pub key: String,
    /// Whether the reply was read from the ledger; else the call was just made, and paid.
    pub replayed: bool,
}

/// A chat model behind any protocol.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// The configured name, such as `gpt-4.1-mini`; part of the ledger key.
    fn name(&self) -> &str;

    /// Completes one request.
    ///
    /// # Errors
    /// See [`ModelError`]; an empty reply is not an error.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call; it may be billed nevertheless.
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError>;

    /// The token limit of its replies, if a setting defines one; else each prompt's own. Models
    /// that think before they reply need more than prompts allow.
    fn reply_tokens(&self) -> Option<u32> {
        None
    }

    /// Reports that the replies of these calls were unusable, so that a ledger asks again the next
    /// time. Wrappers pass it on; a model without a ledger does nothing.
    ///
    /// # Errors
    /// [`ModelError::Ledger`].
    async fn discard(&self, _calls: &[CallRef]) -> Result<(), ModelError> {
        Ok(())
    }
}

/// One token of a scored text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenLogprob {
    /// The endpoint's token; may be a part of a word.
    pub token: String,
    /// Natural logarithm of its probability, at most 0.
    pub logprob: f32,
}

/// The geometric mean of the tokens' probabilities, from 0 to 1: `exp(mean log p)`, the inverse of
/// the perplexity. `None` without tokens.
pub fn mean_probability(tokens: &[TokenLogprob]) -> Option<f64> {
    if tokens.is_empty() {
        return None;
    }
    let sum: f64 = tokens.iter().map(|token| f64::from(token.logprob)).sum();
    Some((sum / tokens.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometric_mean() {
        let token = |p: f32| TokenLogprob { token: String::new(), logprob: p.ln() };
        let mean = mean_probability(&[token(0.5), token(0.125)]).unwrap();
        assert!((mean - 0.25).abs() < 1e-6, "{mean}");
        assert_eq!(mean_probability(&[]), None);
    }
}
