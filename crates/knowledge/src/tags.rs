//! Defines tags by class, and synonym pairs of a colloquial and a professional tag (PIKE-RAG
//! §5.2.2, Fig. 7).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{ChunkId, TagClassId, TagId};

/// The author of a class or a pair.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Generalised from the documents, or learned from samples.
    Found,
    /// A person: through the command line or the settings. Indexing does not change it.
    Declared,
}

impl Origin {
    /// Its name in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Declared => "declared",
        }
    }
}

/// A class of tags to search for in chunks and questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TagClass {
    /// Derived from its first name and cover: renaming keeps it.
    pub id: TagClassId,
    /// A short name, such as `symptom`; a person may change it.
    pub name: String,
    /// Its definition, in a sentence.
    pub covers: String,
    /// Some of its tags.
    pub examples: Vec<TagExample>,
    /// Its author.
    pub origin: Origin,
}

impl TagClass {
    /// A class with its identity.
    pub fn new(name: &str, covers: &str, examples: Vec<TagExample>, origin: Origin) -> Self {
        let id = TagClassId::of(name, covers);
        Self { id, name: name.to_owned(), covers: covers.to_owned(), examples, origin }
    }
}

/// An example of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TagExample {
    /// The tag as the chunk or the person spells it.
    pub text: String,
    /// The chunk of the example, which is removed with it. `None` if a person gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub chunk: Option<ChunkId>,
}

/// A tag of chunks: one for all spellings that fold to the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tag {
    /// Derived from class and folded text.
    pub id: TagId,
    /// The class that it belongs to; equal tags of two classes are different.
    pub class: TagClassId,
    /// Its spelling in the chunk, or in most chunks.
    pub text: String,
}

/// A tag with the number of its chunks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TagCount {
    /// The tag, by its most frequent spelling.
    #[serde(flatten)]
    pub tag: Tag,
    /// The number of chunks.
    pub chunks: usize,
}

/// A colloquial word and the documents' word for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TagPair {
    /// The word of questions.
    pub colloquial: String,
    /// The word of the documents.
    pub professional: String,
    /// The name of the class of both; empty if unknown.
    pub class: String,
    /// Its author.
    pub origin: Origin,
    /// The number of supporting samples.
    pub samples: usize,
}
