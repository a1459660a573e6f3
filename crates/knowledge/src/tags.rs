//! Which words do documents and their readers use for the same thing? Tags by class, and pairs of a
//! colloquial and a professional tag (PIKE-RAG §5.2.2, Fig. 7).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{ChunkId, TagClassId, TagId};

/// Who stands behind a class or a pair.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Generalised from the documents, or learned from samples.
    Found,
    /// A person: the command line or the settings. Indexing leaves it as it is.
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

/// A class of tags: what to look for in chunks and questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TagClass {
    /// Derived from the name and the cover that it was made with: renaming keeps it.
    pub id: TagClassId,
    /// A short name, such as `symptom`; a person may change it.
    pub name: String,
    /// What belongs to it, in a sentence.
    pub covers: String,
    /// Some of its tags.
    pub examples: Vec<TagExample>,
    /// Who made it.
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
    /// The tag as the chunk or the person has it.
    pub text: String,
    /// The chunk it was taken from: the example goes with it. None where a person gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub chunk: Option<ChunkId>,
}

/// A tag that chunks bear: one for all spellings that fold to the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tag {
    /// Derived from class and folded text.
    pub id: TagId,
    /// The class that it belongs to; tags of two classes are two, though they sound alike.
    pub class: TagClassId,
    /// As the chunk has it, or most chunks.
    pub text: String,
}

/// A tag and how many chunks bear it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TagCount {
    /// The tag, by its most frequent spelling.
    #[serde(flatten)]
    pub tag: Tag,
    /// Chunks that bear it.
    pub chunks: usize,
}

/// What people say, and what the documents call it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TagPair {
    /// The word of questions.
    pub colloquial: String,
    /// The word of the documents.
    pub professional: String,
    /// The name of the class that both belong to; empty where nobody said.
    pub class: String,
    /// Who paired them.
    pub origin: Origin,
    /// Samples that bear it out.
    pub samples: usize,
}
