//! Defines references between documents, derived from links and from names of one document that
//! another mentions (PIKE-RAG §3.1, layer `I`).

use serde::{Deserialize, Serialize};

use crate::id::{ChunkId, SourceId};

/// One document refers to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reference {
    /// The document that refers.
    pub from: SourceId,
    /// The document that it refers to; never the same one.
    pub to: SourceId,
    /// The first chunk, in reading order, with the most reliable kind of reference.
    pub chunk: ChunkId,
    /// The kind of reference.
    pub how: ReferenceKind,
}

/// The kinds of reference between documents, the most reliable first; also the kinds of a
/// document's names.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum ReferenceKind {
    /// A link to its address.
    Link,
    /// Its file's name.
    File,
    /// Its number: of a standard, a statute, a series of papers.
    Identifier,
    /// Its title.
    Title,
}

impl ReferenceKind {
    /// All kinds, the most reliable first.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in exports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
