//! Defines why a call to a model fails, by what the caller can do next.

use std::time::Duration;

use crate::ports::{Cause, StoreError};

/// Why a model call failed: one variant per decision open to the caller.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum ModelError {
    /// Ask again later: rate limit, timeout, HTTP 5xx, a broken connection.
    #[error("{model} is busy or does not answer")]
    Busy {
        model: String,
        /// The endpoint's requested pause, if it sent one.
        retry_after: Option<Duration>,
        source: Cause,
    },
    /// Stop asking for now: there is no connection, or call after call failed. The next run tries
    /// again.
    #[error("{model} is out of reach")]
    Unreachable { model: String, source: Cause },
    /// Never repeat this request; others may succeed: a prompt longer than the window, or one that
    /// a filter stopped.
    #[error("{model} refused the request")]
    Refused { model: String, source: Cause },
    /// Stop asking until the settings are changed: bad key, unknown model, empty account, wrong
    /// address.
    #[error("{model} refuses every request")]
    Denied { model: String, source: Cause },
    /// Stop asking until the cause is removed: a model of this machine has no file, no program to
    /// serve it or no memory, or its server keeps ending.
    #[error("{model} cannot be started")]
    NotStarted { model: String, source: Cause },
    /// The reply violates the protocol: no choices, vectors of the wrong length.
    #[error("{model} sent a reply that breaks the protocol")]
    Broken { model: String, source: Cause },
    /// The cap was reached; the next run continues from here.
    #[error("the budget of {cap} is spent ({spent} so far)")]
    OverBudget {
        /// The cap, for a person.
        cap: String,
        /// The sum spent, for a person.
        spent: String,
    },
    /// The key of the request was revoked or has expired: no further call is made with it.
    #[error("the key of this request is revoked or has expired")]
    KeyEnded,
    /// Replaying only, and this request was never recorded.
    #[error("replaying without network, and this `{role}` request to {model} was never recorded")]
    NotRecorded {
        /// The purpose of the call.
        role: String,
        model: String,
    },
    /// The endpoint does not support this; `hint` names the setting that helps.
    #[error("{model} cannot do this: {hint}")]
    Unsupported { model: String, hint: String },
    /// The endpoint gives no log-probabilities, and the request needs them.
    #[error(
        "{model} gives no log-probabilities; a model that does is wanted (vLLM, llama.cpp, OpenAI's models \
         without reasoning)"
    )]
    NoLogprobs { model: String },
    /// The ledger could not be read or written: no call is made that could not be recorded.
    #[error("the call ledger failed")]
    Ledger { source: Box<StoreError> },
}

impl ModelError {
    /// The kind of error in one word; stable for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Busy { .. } => "busy",
            Self::Unreachable { .. } => "unreachable",
            Self::Refused { .. } => "refused",
            Self::Denied { .. } => "denied",
            Self::NotStarted { .. } => "not-started",
            Self::Broken { .. } => "broken",
            Self::OverBudget { .. } => "over-budget",
            Self::KeyEnded => "key-ended",
            Self::NotRecorded { .. } => "not-recorded",
            Self::Unsupported { .. } => "unsupported",
            Self::NoLogprobs { .. } => "no-logprobs",
            Self::Ledger { .. } => "ledger",
        }
    }

    /// Whether every other call of this size to the same model would fail too, so that a loop over
    /// many items must stop. [`ModelError::NoLogprobs`] concerns only the calls that need them.
    pub fn concerns_every_call(&self) -> bool {
        match self {
            Self::OverBudget { .. }
            | Self::KeyEnded
            | Self::Unreachable { .. }
            | Self::Denied { .. }
            | Self::NotStarted { .. }
            | Self::NotRecorded { .. }
            | Self::Unsupported { .. }
            | Self::NoLogprobs { .. }
            | Self::Ledger { .. } => true,
            Self::Busy { .. } | Self::Refused { .. } | Self::Broken { .. } => false,
        }
    }
}
