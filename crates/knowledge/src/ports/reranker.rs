//! The port to a model that reads a query and a text together.

use async_trait::async_trait;

use super::models::ModelError;

/// A model that says how well texts answer a query, behind any protocol. It sees both at once, and so more than two
/// vectors tell; it is asked about few texts, those that a search has found.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// The configured name; part of the ledger key.
    fn name(&self) -> &str;

    /// One finite score per text, in their order: the higher, the better it fits the query. The scale is the model's
    /// own (a probability, or a logit that may be negative), so scores of two models do not compare. No texts, no
    /// scores, and no call.
    ///
    /// # Errors
    /// See [`ModelError`]. Never fewer scores than texts.
    ///
    /// # Cancel safety
    /// Dropping the future gives up the call; it may have been billed all the same.
    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Relevance, ModelError>;
}

/// How well texts fit a query, and what it cost to know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relevance {
    /// One per text, in order; all finite.
    pub scores: Vec<f32>,
    /// The tokens that the endpoint counts, the query once for each text; none where it does not say.
    pub prompt_tokens: Option<u64>,
    /// The searches that the endpoint bills, where it bills so; none where it does not say.
    pub searches: Option<u64>,
}
