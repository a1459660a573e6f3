//! Defines what a question's tags are used for (PIKE-RAG §5.2.2).

use serde::{Deserialize, Serialize};

/// What a question's tags are used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TagUse {
    /// The question is looked up as it is.
    #[default]
    Off,
    /// The question is rewritten in the documents' words.
    Rewrite,
    /// Chunks that have the tags, or hold their words, are found as well.
    Keywords,
    /// The question is rewritten, and the hits of its tags are fused with its own.
    Both,
}

impl TagUse {
    /// Whether the question is rewritten in the documents' words.
    pub fn rewrites(self) -> bool {
        matches!(self, Self::Rewrite | Self::Both)
    }

    /// Calls that it takes, at most: one finds the tags, one rewrites the question.
    pub fn calls(self) -> u64 {
        match self {
            Self::Off => 0,
            Self::Keywords => 1,
            Self::Rewrite | Self::Both => 2,
        }
    }

    /// Whether the documents' words are searched for as well as the question.
    pub fn adds_keywords(self) -> bool {
        matches!(self, Self::Keywords | Self::Both)
    }
}
