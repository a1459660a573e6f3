//! What did models not give, so that rules stand in for them? Kept with the reason, until somebody wants it asked
//! again.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::error::StoreError;
use super::stage::Stage;
use crate::id::NodeId;

/// Why there is nothing of a model's own.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCause {
    /// It refused the request: too long, or stopped by a filter.
    Refused,
    /// Its replies could not be read, the second neither.
    Unreadable,
}

impl RefusalCause {
    /// Its name in the base.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Something that a model was asked about in vain; rules stand in for what it did not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The stage that asked.
    pub stage: Stage,
    /// What it asked about: mostly a chunk.
    pub node: NodeId,
    /// How people know it.
    pub label: String,
    /// Why there is nothing.
    pub cause: RefusalCause,
    /// What the model or its endpoint said.
    pub reason: String,
}

/// How much a stage was refused, for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusalCount {
    /// The stage that asked.
    pub stage: String,
    /// Why there is nothing.
    pub cause: RefusalCause,
    /// Pieces that it asked about in vain.
    pub count: usize,
    /// One of them, as people know it.
    pub label: String,
    /// Why that one was refused.
    pub reason: String,
}

/// What indexing writes of refusals. Each call is one transaction.
#[async_trait]
pub trait RefusalWriter: Send + Sync {
    /// Notes refusals in place of earlier ones of the same, and forgets those of what was `answered` since.
    async fn put_refusals(
        &self,
        refused: Vec<Refusal>,
        answered: Vec<(Stage, NodeId)>,
    ) -> Result<(), StoreError>;

    /// All that rules stand in for now, by stage and node.
    async fn refusals(&self) -> Result<Vec<Refusal>, StoreError>;

    /// Lets all that was refused wait for its stage again, without what stands in for it; how many pieces.
    async fn retry_refused(&self) -> Result<usize, StoreError>;
}
