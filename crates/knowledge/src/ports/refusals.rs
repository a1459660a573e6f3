//! The port to refusals of models. Rules make a replacement, and each refusal is kept with its
//! reason until it is retried.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::error::StoreError;
use super::stage::Stage;
use crate::id::NodeId;

/// Why there is no model reply.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCause {
    /// It refused the request: too long, or stopped by a filter.
    Refused,
    /// Neither of its two replies could be read.
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

/// A failed request to a model; rules made a replacement for its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The stage that asked.
    pub stage: Stage,
    /// The subject of the request: mostly a chunk.
    pub node: NodeId,
    /// Its name for people.
    pub label: String,
    /// Why there is no result.
    pub cause: RefusalCause,
    /// The error of the model or its endpoint.
    pub reason: String,
}

/// The number of a stage's refusals for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusalCount {
    /// The stage that asked.
    pub stage: String,
    /// Why there is no result.
    pub cause: RefusalCause,
    /// The number of refused items.
    pub count: usize,
    /// One of them, by its name for people.
    pub label: String,
    /// The reason for that one.
    pub reason: String,
}

/// Writes refusals for indexing. Each call is one transaction.
///
/// # Errors
/// The base cannot be read or written.
///
/// # Cancel safety
/// A write that has begun goes on if its future is dropped.
#[async_trait]
pub trait RefusalWriter: Send + Sync {
    /// Stores refusals in place of earlier ones of the same items, and removes those of items that
    /// were `answered` since.
    async fn put_refusals(
        &self,
        refused: Vec<Refusal>,
        answered: Vec<(Stage, NodeId)>,
    ) -> Result<(), StoreError>;

    /// All current refusals with a replacement, by stage and node.
    async fn refusals(&self) -> Result<Vec<Refusal>, StoreError>;

    /// Makes all refused items pending again, without their replacements. Returns their number.
    async fn retry_refused(&self) -> Result<usize, StoreError>;
}
