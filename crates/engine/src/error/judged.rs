//! Classifies errors: a fault of the request, a cancellation, a spent budget or an ended key.

use pikerag_eval::EvalError;
use pikerag_knowledge::ModelError;
use pikerag_methods::SolveError;

use super::{EngineError, Needed};
use crate::settings::SettingsError;

impl EngineError {
    /// Whether the request itself is at fault, whatever the base contains: it names something that
    /// no base could have, omits something needed, or combines what does not fit.
    pub fn is_misuse(&self) -> bool {
        matches!(
            self,
            Self::NoMethod(_)
                | Self::NoSearch(_)
                | Self::ClassOfOtherMethod { .. }
                | Self::TooMany { .. }
                | Self::NoWords(_)
                | Self::NoDecision { .. }
                | Self::NamedTwice { .. }
                | Self::BadParameter { .. }
                | Self::CorporaDoNotFit { .. }
                | Self::Needs(Needed::RunFolder | Needed::DataFolder)
                | Self::Settings(SettingsError::NoneInFlight)
                | Self::Eval(
                    EvalError::NoSuchFormat { .. }
                        | EvalError::NoSuchPreset { .. }
                        | EvalError::BadMethod { .. }
                )
        ) || matches!(self, Self::Feedback(error) if error.is_misuse())
    }

    /// Whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Solve(SolveError::Cancelled))
    }

    /// Whether the cause is a spent budget.
    pub fn is_over_budget(&self) -> bool {
        if let Self::CorpusIncomplete { over_budget, .. } = self {
            return *over_budget;
        }
        self.has_model_cause(|error| matches!(error, ModelError::OverBudget { .. }))
    }

    /// Whether the cause is a key that was revoked or expired during the work.
    pub fn is_key_ended(&self) -> bool {
        self.has_model_cause(|error| matches!(error, ModelError::KeyEnded))
    }

    /// Whether a model's error among the causes satisfies `is_such`.
    fn has_model_cause(&self, is_such: impl Fn(&ModelError) -> bool) -> bool {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(self);
        while let Some(error) = cause {
            if error.downcast_ref::<ModelError>().is_some_and(&is_such) {
                return true;
            }
            cause = error.source();
        }
        false
    }
}
