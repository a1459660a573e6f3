//! The port to the ledger of paid calls: each call is made once, and read from there afterwards.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{CallOrigin, StoreError, Usage};

/// One recorded call: a chat reply, or the vector of one text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Hash of the whole request, model included.
    pub key: String,
    /// The purpose of the call; `embed` for embeddings.
    pub role: String,
    /// The model's name as sent to the endpoint.
    pub model: String,
    /// The request as JSON.
    pub request: String,
    /// The reply as JSON.
    pub reply: String,
    /// Tokens used, as the endpoint counted them; estimated if it did not.
    pub usage: Usage,
    /// Whether the reply could not be used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unusable: bool,
    /// The sources of the request. They are written with the call and not read back.
    #[serde(skip)]
    pub origin: CallOrigin,
}

/// The result of a claim on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The caller may make it.
    Ours,
    /// Another caller is making it.
    Theirs,
    /// It has been made.
    Recorded,
}

/// The record of every paid call: written before anything uses the reply.
///
/// A request has one key, and mostly one reply. If that could not be used, the next one is under
/// `KEY#1`, and so on: each stays, so that results that were made from it can be explained.
///
/// # Errors
/// The ledger cannot be read or written.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// The recorded call under each key, if any; in the order of the keys.
    async fn find_all(&self, keys: &[String]) -> Result<Vec<Option<CallRecord>>, StoreError>;

    /// The last of the calls under a request's key and its `#` successors.
    async fn latest(&self, key: &str) -> Result<Option<CallRecord>, StoreError>;

    /// Stores calls, and ends the claims on them; a second record under the same key is ignored.
    async fn keep_all(&self, calls: Vec<CallRecord>) -> Result<(), StoreError>;

    /// Records that the replies of these calls could not be used.
    async fn mark_unusable(&self, keys: &[String]) -> Result<(), StoreError>;

    /// Claims calls for `holder`, or renews claims that it holds: one result per key, in order. A
    /// claim ends with its call's record, when it is released, when its process ends, or if it is
    /// not renewed for a minute.
    ///
    /// # Cancel safety
    /// A claim may be made after its future was dropped. A caller that drops the future must
    /// release the calls; calls that are released before they are claimed are not claimed.
    async fn claim_all(&self, holder: u64, keys: &[String]) -> Result<Vec<Claim>, StoreError>;

    /// Releases claims, at the latest when the next claim is made. It does not wait, so that it can
    /// be called from `drop`.
    fn release(&self, holder: u64, keys: &[String]);

    /// Whether calls recorded under a model's bare name belong to this endpoint. Calls were
    /// recorded so before endpoints were separated. They belong to the first endpoint that asks for
    /// them, and stay with it. A ledger without such records may return true.
    async fn inherits(&self, _model: &str, _endpoint: &str) -> Result<bool, StoreError> {
        Ok(true)
    }
}

impl dyn Ledger + '_ {
    /// The recorded call under a key, if any.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub async fn find(&self, key: &str) -> Result<Option<CallRecord>, StoreError> {
        Ok(self.find_all(&[key.to_owned()]).await?.pop().flatten())
    }
}
