//! What is a request about?

/// A kind of request, by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The reply to a conversation.
    Chat,
    /// A vector for each text.
    Vectors,
    /// A score for each document.
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
