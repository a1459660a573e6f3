//! What do all errors of a kind have in common? Whose fault they are, and what ended the work.

use pikerag_eval::EvalError;
use pikerag_knowledge::ModelError;
use pikerag_methods::SolveError;

use super::{EngineError, Needed};
use crate::settings::SettingsError;

impl EngineError {
    /// Whether the request itself is at fault, whatever the base holds: it names what no base could have, leaves out
    /// what is needed, or asks for what does not go together.
    pub fn is_misuse(&self) -> bool {
        matches!(
            self,
            Self::NoMethod(_)
                | Self::NoSearch(_)
                | Self::ClassOfOtherMethod { .. }
                | Self::TooMany { .. }
                | Self::Wordless(_)
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

    /// Whether somebody stopped it.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled | Self::Solve(SolveError::Cancelled))
    }

    /// Whether it came of a spent budget.
    pub fn is_over_budget(&self) -> bool {
        if let Self::CorpusIncomplete { over_budget, .. } = self {
            return *over_budget;
        }
        self.is_of_model(|error| matches!(error, ModelError::OverBudget { .. }))
    }

    /// Whether it came of a key that was revoked or has expired amid the work.
    pub fn is_key_ended(&self) -> bool {
        self.is_of_model(|error| matches!(error, ModelError::KeyEnded))
    }

    /// Whether an error of a model among the causes is such a one.
    fn is_of_model(&self, is_such: impl Fn(&ModelError) -> bool) -> bool {
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
