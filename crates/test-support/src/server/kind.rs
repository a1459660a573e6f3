//! Classifies requests by path.

/// A kind of request, by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A chat completion.
    Chat,
    /// Embeddings: a vector for each text.
    Vectors,
    /// Reranking: a score for each document.
    Order,
}

impl Kind {
    pub(super) fn of(path: &str) -> Self {
        match path.rsplit('/').next() {
            Some("embeddings") => Self::Vectors,
            Some("rerank") => Self::Order,
            _ => Self::Chat,
        }
    }
}
