//! The nodes, facts and tags that events name.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::graph::NodeKind;
use crate::id::ChunkId;

/// A distilled node that a method consulted.
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

/// A fact that a model read in a passage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FactRead {
    /// The passage's number in all reading rounds, from 1.
    pub passage: usize,
    /// The passage.
    pub chunk: ChunkId,
    /// Its title, with the headings above it.
    pub title: String,
    /// The fact in the model's words, which may be those of the passage.
    pub text: String,
    /// Whether the passage contains these words, or a sentence of the same meaning.
    #[serde(rename = "stands")]
    pub is_quoted: bool,
}

/// A tag of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MappedTag {
    /// The tag as the question has it.
    pub tag: String,
    /// The name of its class; empty if unknown.
    pub class: String,
    /// The documents' words for it: from tag pairs, or tags of chunks. May be empty.
    pub to: Vec<String>,
}
