//! What can be wrong with what somebody says of an answer?

use pikerag_knowledge::RunId;

/// Why it is not kept, or not found.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum FeedbackError {
    /// No verified answer has this identifier, or more than one begins so.
    #[error("there is no verified answer `{name}`, or more than one begins so")]
    NoVerified { name: String },
    /// The run gave no answer that could be right.
    #[error("the run {run} gave no answer")]
    NothingToAccept { run: RunId },
    /// Nobody says who verifies.
    #[error("nobody says who it is that verifies")]
    NoAuthor,
    /// A correction holds no word.
    #[error("the correction holds no word")]
    EmptyCorrection,
}

impl FeedbackError {
    /// As [`crate::EngineError::is_misuse`].
    pub(super) fn is_misuse(&self) -> bool {
        !matches!(self, Self::NoVerified { .. })
    }

    /// As [`crate::EngineError::code`].
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NoVerified { .. } => "no-such-verified-answer",
            Self::NothingToAccept { .. } => "nothing-to-accept",
            Self::NoAuthor => "no-author",
            Self::EmptyCorrection => "empty-correction",
        }
    }
}
