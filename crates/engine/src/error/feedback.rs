//! Defines the errors of feedback on answers.

use pikerag_knowledge::RunId;

/// The reason why feedback is not kept or not found.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "a field means what its variant's message says of it")]
pub enum FeedbackError {
    /// No verified answer has this identifier, or several begin with it.
    #[error("there is no verified answer `{name}`, or several begin with it")]
    NoVerified { name: String },
    /// The run gave no answer that could be accepted.
    #[error("the run {run} gave no answer")]
    NothingToAccept { run: RunId },
    /// The author of the feedback is not named.
    #[error("the author of the feedback is not named")]
    NoAuthor,
    /// A correction contains no word.
    #[error("the correction contains no word")]
    EmptyCorrection,
}

impl FeedbackError {
    /// The same as [`crate::EngineError::is_misuse`].
    pub(super) fn is_misuse(&self) -> bool {
        !matches!(self, Self::NoVerified { .. })
    }

    /// The same as [`crate::EngineError::code`].
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NoVerified { .. } => "no-such-verified-answer",
            Self::NothingToAccept { .. } => "nothing-to-accept",
            Self::NoAuthor => "no-author",
            Self::EmptyCorrection => "empty-correction",
        }
    }
}
