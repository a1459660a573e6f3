//! The port to the record of paid calls: each is made once, and read back ever after.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{CallOrigin, StoreError, Usage};

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
    /// Whether nobody could make anything of the reply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unusable: bool,
    /// What the request was made of. It is written with the call and not read back.
    #[serde(skip)]
    pub origin: CallOrigin,
}

/// Whether a call may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is ours to make.
    Ours,
    /// Somebody else is making it.
    Theirs,
    /// It has been made.
    Recorded,
}

/// The record of every paid call: written before anything uses the reply.
///
/// A request has one key, and mostly one reply. Where that could not be used, the next one stands under `KEY#1`, and
/// so on: each stays, so that what was made of it can be told again.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// The recorded call under each key, if any; by key in the order asked for.
    async fn find_all(&self, keys: &[String]) -> Result<Vec<Option<CallRecord>>, StoreError>;

    /// The last of the calls under a request's key and those that follow it.
    async fn latest(&self, key: &str) -> Result<Option<CallRecord>, StoreError>;

    /// Keeps calls for good, and ends the claims on them; a second record under the same key is ignored.
    async fn keep_all(&self, calls: Vec<CallRecord>) -> Result<(), StoreError>;

    /// Notes that the replies of these calls could not be used.
    async fn mark_unusable(&self, keys: &[String]) -> Result<(), StoreError>;

    /// Claims calls for `holder`, in order; those that it holds already for longer. A claim ends with its call's
    /// record, when it is released, when its process is gone, or when it was not renewed for a minute.
    ///
    /// # Cancel safety
    /// A claim may be made after its future was dropped. Whoever drops it releases the calls, and those that were
    /// released before they are claimed are not claimed.
    async fn claim_all(&self, holder: u64, keys: &[String]) -> Result<Vec<Claim>, StoreError>;

    /// Gives claims up, at the latest when any is made next. It waits for nothing, so that one who is dropped can
    /// do it.
    fn release(&self, holder: u64, keys: &[String]);

    /// Whether what was recorded under the bare name of a model is this endpoint's. So calls were recorded before
    /// endpoints were told apart; they go to the first endpoint that asks for them, and stay with it. A ledger
    /// that has no such records may say yes to all.
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
