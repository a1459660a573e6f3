//! Names the models that searches use.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A model that searches use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchModel {
    /// It makes the vectors of passages and questions.
    Embedder,
    /// It orders the hits of a search again.
    Reranker,
}

impl SearchModel {
    /// The name of its table in the settings file.
    pub(crate) fn table(self) -> &'static str {
        match self {
            Self::Embedder => "embed",
            Self::Reranker => "rerank",
        }
    }
}
