//! Defines how verified answers are used.

use serde::{Deserialize, Serialize};

/// How verified answers are used.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum VerifiedUse {
    /// One to the same question is taken or shown beside the answer; in `pike`, one to a similar question gives its
    /// class.
    #[default]
    Used,
    /// They are ignored.
    Ignored,
}

impl VerifiedUse {
    /// What holds for a run that names no use: it is from a version whose methods, `pike` excepted, ignored
    /// verified answers.
    pub(crate) fn unnamed() -> Self {
        Self::Ignored
    }

    /// Whether a run need not name it.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_unnamed(&self) -> bool {
        *self == Self::unnamed()
    }
}
