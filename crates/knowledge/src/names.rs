//! Defines names under which chunks are found, folded so that spelling does not matter.

use serde::{Deserialize, Serialize};

use crate::id::content_id;

/// A name: the hash of its folded form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NameKey(pub u64);

impl NameKey {
    /// The key of a name that is folded already (lower case, single spaces, no punctuation).
    pub fn of_folded(folded: &str) -> Self {
        Self(content_id("name", &[folded.as_bytes()]))
    }
}

/// How a chunk uses a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NameUse {
    /// The chunk is about it: title, alias, heading, file name.
    Bears {
        /// The key of the folded name.
        key: NameKey,
        /// How certainly the name means this chunk, in hundredths: 100 for a full title.
        weight: u8,
    },
    /// The chunk's text mentions it.
    Mentions(NameKey),
    /// The chunk has a link to it.
    Links(NameKey),
}
