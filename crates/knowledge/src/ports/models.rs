//! The ports to models: what a method may ask of them, and how they fail.

use std::borrow::Cow;
use std::ops::AddAssign;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Cause;
use super::error::StoreError;
use crate::id::ChunkId;

/// What a call is for. Each role can have a model of its own, and is metered on its own.
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
    /// Question → can the model answer from its own knowledge?
    Know,
    /// Question and passage → is it relevant?
    Relevant,
    /// Question → sub-questions, without knowledge of the base.
    Decompose,
    /// What is known so far → the next step of reasoning.
    Reason,
    /// A step or an answer → how good or how sure it is.
    Grade,
    /// Query → a query that retrieves better.
    Rewrite,
    /// Chunk → entities, relations, records.
    Extract,
    /// Question and passages → facts, and what is still missing.
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
    /// Standing instructions, ahead of all else.
    System {
        /// Instructions, which come before all else.
        text: String,
    },
    /// What we say, with images where the model sees.
    User {
        /// What is asked.
        text: String,
        /// Images as `data:` URLs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<String>,
    },
    /// What the model said before.
    Assistant {
        /// An earlier reply, shown so that it can be mended.
        text: String,
    },
}

/// A JSON schema that the reply should follow, where the endpoint can enforce one.
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
    /// What the call is for.
    pub role: Role,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// 0 for answers, 0.7 for atomizing (KAR³ §A.3).
    pub temperature: f32,
    /// The most tokens the reply may have.
    pub max_tokens: u32,
    /// The shape of the reply, where one is wanted.
    pub schema: Option<Schema>,
    /// Tells samples of one request apart; 0 for the first.
    pub sample: u32,
    /// Whether the reply has to say how probable each of its tokens was. An endpoint that cannot tell
    /// is an error, [`ModelError::NoLogprobs`]: nothing replaces them in silence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub logprobs: bool,
    /// What the request was made of; it is no part of the ledger's key.
    #[serde(skip)]
    pub origin: CallOrigin,
}

/// What a request was made of, so that forgetting a document finds the calls that hold its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOrigin {
    /// The template that was filled in; `None` for a request without one. Its own lines are no sign of a document.
    pub template: Option<Cow<'static, str>>,
    /// Chunks whose text the request holds, as far as the caller knows them. The base adds those that the call's run
    /// names.
    pub passages: Vec<ChunkId>,
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
    /// What it comes to, where a million tokens of prompts and of replies cost so much.
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

/// What a chat model said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The text, thinking blocks included; may be empty.
    pub text: String,
    /// Tokens used, as the endpoint counts them; estimated where it does not say.
    pub usage: Usage,
    /// Why the model wrote no more; none where the endpoint does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// How probable each token of the text was, in order; empty unless the request asked for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logprobs: Vec<TokenLogprob>,
    /// Where the call is on record; none for a model without a ledger.
    #[serde(skip)]
    pub call: Option<CallRef>,
}

impl ChatReply {
    /// A reply of so many tokens, of which nothing else is known.
    pub fn new(text: impl Into<String>, usage: Usage) -> Self {
        Self { text: text.into(), usage, ..Self::default() }
    }
}

/// Why a model stopped writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It had said what it had to say.
    Stop,
    /// The limit of tokens was reached: the text is cut.
    Length,
    /// The endpoint withheld the rest.
    ContentFilter,
    /// Anything else that an endpoint may say.
    Other,
}

/// A call in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRef {
    /// BLAKE3 of the request, by which the ledger knows the call.
    pub key: String,
    /// Whether the reply was read from the record; else the call was made, and paid, just now.
    pub replayed: bool,
}

/// Why a model call failed: one variant per decision open to the caller.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum ModelError {
    /// Ask again later: rate limit, timeout, HTTP 5xx, a broken connection.
    #[error("{model} is busy or does not answer")]
    Busy {
        model: String,
        /// When the endpoint wants to be asked again, if it said so.
        retry_after: Option<Duration>,
        source: Cause,
    },
    /// Ask nothing more for now: there is no connection, or call after call was in vain. The next run tries
    /// again.
    #[error("{model} is out of reach")]
    Unreachable { model: String, source: Cause },
    /// Never ask this again, but others: a prompt longer than the window, or one that a filter stopped.
    #[error("{model} refused the request")]
    Refused { model: String, source: Cause },
    /// Ask nothing more until settings are changed: bad key, unknown model, empty account, wrong address.
    #[error("{model} refuses every request")]
    Denied { model: String, source: Cause },
    /// The reply is not what the protocol promises: no choices, vectors of the wrong length.
    #[error("{model} sent a reply that breaks the protocol")]
    Broken { model: String, source: Cause },
    /// The cap was reached; the next run goes on from here.
    #[error("the budget of {cap} is spent ({spent} so far)")]
    OverBudget {
        /// The cap, for a person.
        cap: String,
        /// What was spent, for a person.
        spent: String,
    },
    /// The key of the request was revoked or has expired: nothing more is asked on its account.
    #[error("the key of this request is revoked or has expired")]
    KeyEnded,
    /// Replaying only, and this request was never recorded.
    #[error("replaying without network, and this `{role}` request to {model} was never recorded")]
    NotRecorded {
        /// What the call was for.
        role: String,
        model: String,
    },
    /// The endpoint cannot do this; `hint` names the setting that helps.
    #[error("{model} cannot do this: {hint}")]
    Unsupported { model: String, hint: String },
    /// The endpoint gives no log-probabilities, and the request is of no use without.
    #[error(
        "{model} gives no log-probabilities; a model that does is wanted (vLLM, llama.cpp, OpenAI's models \
         without reasoning)"
    )]
    NoLogprobs { model: String },
    /// The ledger could not be read or written: nothing is asked that could not be recorded.
    #[error("the call ledger failed")]
    Ledger { source: Box<StoreError> },
}

impl ModelError {
    /// What kind of trouble it is, in one word; programs may rely on it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Busy { .. } => "busy",
            Self::Unreachable { .. } => "unreachable",
            Self::Refused { .. } => "refused",
            Self::Denied { .. } => "denied",
            Self::Broken { .. } => "broken",
            Self::OverBudget { .. } => "over-budget",
            Self::KeyEnded => "key-ended",
            Self::NotRecorded { .. } => "not-recorded",
            Self::Unsupported { .. } => "unsupported",
            Self::NoLogprobs { .. } => "no-logprobs",
            Self::Ledger { .. } => "ledger",
        }
    }

    /// Whether every other call to the same model that asks for as much would fail too: whoever asks about many
    /// things stops at it. [`ModelError::NoLogprobs`] concerns the calls that want them, and no others.
    pub fn concerns_every_call(&self) -> bool {
        match self {
            Self::OverBudget { .. }
            | Self::KeyEnded
            | Self::Unreachable { .. }
            | Self::Denied { .. }
            | Self::NotRecorded { .. }
            | Self::Unsupported { .. }
            | Self::NoLogprobs { .. }
            | Self::Ledger { .. } => true,
            Self::Busy { .. } | Self::Refused { .. } | Self::Broken { .. } => false,
        }
    }
}

/// A chat model behind any protocol.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// The configured name, such as `gpt-4.1-mini`; part of the ledger key.
    fn name(&self) -> &str;

    /// Completes one request.
    ///
    /// # Errors
    /// See [`ModelError`]; an empty reply is no error.
    ///
    /// # Cancel safety
    /// Dropping the future gives up the call; it may have been billed all the same.
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError>;

    /// The room that its replies have, in tokens, where a setting says so; else that of each prompt. Models that think before they reply
    /// need more than prompts give.
    fn reply_tokens(&self) -> Option<u32> {
        None
    }

    /// Hears that whoever asked could make nothing of the replies of these calls: who keeps replies asks anew when
    /// the same is wanted another time. Wrappers hand it on; a model without a ledger has nothing to do.
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
    /// As the endpoint cuts the text; may be a part of a word.
    pub token: String,
    /// Natural logarithm of its probability, at most 0.
    pub logprob: f32,
}

/// The geometric mean of the tokens' probabilities, from 0 to 1: `exp(mean log p)`, the inverse of the
/// perplexity. `None` for no tokens.
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
