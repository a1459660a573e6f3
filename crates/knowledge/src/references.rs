//! Which document refers to which? Edges between sources, derived from links and from names that one
//! document mentions and another one goes by (PIKE-RAG §3.1, layer `I`).

use serde::{Deserialize, Serialize};

use crate::id::{ChunkId, SourceId};

/// One document refers to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reference {
    /// The document that refers.
    pub from: SourceId,
    /// The document that it refers to; another one.
    pub to: SourceId,
    /// The first chunk, in reading order, that does so in the surest way.
    pub chunk: ChunkId,
    /// By a link, by the file's name, by an identifier or by the title.
    pub how: ReferenceKind,
}

/// How a document refers to another, the surest way first; and what a document goes by.
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
    /// A number it goes by: of a standard, a statute, a series of papers.
    Identifier,
    /// Its title.
    Title,
}

impl ReferenceKind {
    /// All of them, the surest first.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in exports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
