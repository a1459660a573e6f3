//! The port to rerankers: models that read a query and a text together.

use async_trait::async_trait;

use super::models::ModelError;

/// A model that scores how well texts answer a query. It sees both at once, and so is more precise
/// than two vectors. It scores only the few texts that a search has found.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// The configured name; part of the ledger key.
    fn name(&self) -> &str;

    /// One finite score per text, in their order: the higher, the better it fits the query. The
    /// scale is the model's own (a probability, or a logit that may be negative), so scores of two
    /// models are not comparable. Without texts there are no scores, and no call.
    ///
    /// # Errors
    /// See [`ModelError`]. Never fewer scores than texts.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call; it may be billed nevertheless.
    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Relevance, ModelError>;
}

/// How well texts fit a query, and the cost of the scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relevance {
    /// One per text, in order; all finite.
    pub scores: Vec<f32>,
    /// The tokens that the endpoint counts, the query once for each text; `None` if it does not
    /// report them.
    pub prompt_tokens: Option<u64>,
    /// The searches that the endpoint bills; `None` if it does not report them.
    pub searches: Option<u64>,
}
