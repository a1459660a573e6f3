//! Names uploads, so that several of one file name are kept apart.

use std::str::FromStr;

use pikerag_knowledge::Millis;
use serde::Serialize;
use utoipa::ToSchema;

use super::UploadError;
use crate::random::random_hex;

/// The longest identifier of an upload, in characters, and the random bytes of an identifier that
/// pikerag makes.
const LONGEST: usize = 64;
const BYTES: usize = 16;

/// Distinguishes the pieces of one sender from those of others under the same name. The sender
/// chooses it, or it is random.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadId(String);

/// An incomplete file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PartLine {
    /// The name under which it is sent.
    pub file: String,
    /// The bytes that have arrived.
    pub bytes: u64,
    /// The time of the last piece, in milliseconds since 1970.
    #[schema(value_type = u64)]
    pub changed: Millis,
}

impl UploadId {
    /// A random identifier.
    ///
    /// # Errors
    /// [`UploadError::NoRandom`].
    pub fn random() -> Result<Self, UploadError> {
        random_hex::<BYTES>().map(Self).map_err(|_| UploadError::NoRandom)
    }

    /// The identifier as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for UploadId {
    type Err = UploadError;

    fn from_str(id: &str) -> Result<Self, UploadError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match (1..=LONGEST).contains(&id.len()) && id.chars().all(is_plain) {
            true => Ok(Self(id.to_owned())),
            false => Err(UploadError::BadId { id: id.to_owned() }),
        }
    }
}
