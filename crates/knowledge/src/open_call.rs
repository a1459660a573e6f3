//! Describes a model call that has no reply yet, and what is shown of its reply.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ports::Role;

/// A model call that has no reply yet. A call that is read from the ledger is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OpenCall {
    /// The purpose of the call.
    pub role: Role,
    /// The model, by its name in the settings.
    pub model: String,
    /// The number of passages in the prompt.
    pub passages: u64,
    /// About how many tokens the prompt has.
    pub prompt_tokens: u64,
    /// Milliseconds since the call began. Waits in line and for a busy endpoint count.
    pub waited_ms: u64,
    /// About how many milliseconds the whole call takes; null without earlier calls of this role
    /// and model.
    #[schema(required)]
    pub expected_ms: Option<u64>,
}

/// The part of a final answer that a model writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DraftPart {
    /// Its reasons, which most replies give first.
    Reasons,
    /// The answer itself.
    Answer,
}
