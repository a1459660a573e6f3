//! The port to the record of paid calls: each is made once, and read back ever after.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{StoreError, Usage};

/// One recorded call: a chat reply, or the vector of one text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Hash of the whole request, model included.
    pub key: String,
    /// What the call was for; `embed` for embeddings.
    pub role: String,
    /// The model's name as the endpoint was asked for it.
    pub model: String,
    /// The request as JSON.
    pub request: String,
    /// The reply as JSON.
    pub reply: String,
    /// Tokens used, as the endpoint counted them; estimated where it did not.
    pub usage: Usage,
}

/// The record of every paid call: written before anything uses the reply.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// The recorded call under each key, if any; by key in the order asked for.
    async fn find_all(&self, keys: &[String]) -> Result<Vec<Option<CallRecord>>, StoreError>;

    /// Keeps calls for good; a second record under the same key is ignored.
    async fn keep_all(&self, calls: Vec<CallRecord>) -> Result<(), StoreError>;

    /// Whether what was recorded under the bare name of a model is this endpoint's. So calls were recorded before
    /// endpoints were told apart; they go to the first endpoint that asks for them, and stay with it. A ledger
    /// that has no such records may say yes to all.
    async fn inherits(&self, _model: &str, _endpoint: &str) -> Result<bool, StoreError> {
        Ok(true)
    }

    /// The recorded call under a key, if any.
    async fn find(&self, key: &str) -> Result<Option<CallRecord>, StoreError> {
        Ok(self.find_all(&[key.to_owned()]).await?.pop().flatten())
    }

    /// Keeps one call for good.
    async fn keep(&self, call: &CallRecord) -> Result<(), StoreError> {
        self.keep_all(vec![call.clone()]).await
    }
}
