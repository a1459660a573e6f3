//! The nodes, facts and tags that events name.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::graph::NodeKind;
use crate::id::ChunkId;

/// A distilled node that a method looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Consulted {
    /// Entity, community report or summary.
    pub kind: NodeKind,
    /// Its identifier, as the export has it.
    pub id: String,
    /// Its name or title, or its first words.
    pub title: String,
    /// How well it fits, on the search's own scale.
    pub score: f64,
}

/// A fact as a model read it off a passage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FactRead {
    /// The number that the passage has through all looks, from 1.
    pub passage: usize,
    /// The passage.
    pub chunk: ChunkId,
    /// Its title, with the headings above it.
    pub title: String,
    /// The fact in the model's words, which may be those of the passage.
    pub text: String,
    /// Whether these words, or a sentence that says as much, stand in the passage.
    pub stands: bool,
}

/// A tag of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MappedTag {
    /// The tag as the question has it.
    pub tag: String,
    /// The name of its class; empty where nobody said.
    pub class: String,
    /// What the documents call it: words of tag pairs, or of tags that chunks bear. May be empty.
    pub to: Vec<String>,
}
