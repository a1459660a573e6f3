//! Defines the caps of a meter, and the quantities that they limit.

use pikerag_knowledge::{AmountCaps, Amounts, ModelError};
use serde::{Deserialize, Serialize};

use super::money::Usd;

/// The highest permitted spending; a missing entry means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cap {
    /// US dollars; needs the price of every model that is called.
    pub money_usd: Option<f64>,
    /// Tokens of prompts and replies together.
    pub tokens: Option<u64>,
    /// Calls that were answered, or may have been billed.
    pub calls: Option<u64>,
}

/// The three quantities that are capped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) money: Usd,
    pub(super) tokens: u64,
    pub(super) calls: u64,
}

/// A cap that a call exceeds.
pub(super) enum Excess {
    Money(Usd),
    Tokens(u64),
    Calls(u64),
}

impl Cap {
    /// The first cap that `sum` exceeds, money before tokens before calls.
    pub(super) fn excess(&self, sum: Sum) -> Option<Excess> {
        if let Some(cap) = self.money_usd.map(Usd::new).filter(|cap| *cap < sum.money) {
            return Some(Excess::Money(cap));
        }
        if let Some(cap) = self.tokens.filter(|cap| *cap < sum.tokens) {
            return Some(Excess::Tokens(cap));
        }
        self.calls.filter(|cap| *cap < sum.calls).map(Excess::Calls)
    }

    /// The error of a call that can cost `worst`, if all processes together have spent `spent` and
    /// running calls may hold the rest.
    pub(super) fn spent_with_others(&self, spent: Sum, worst: Sum) -> ModelError {
        let first = || match (self.money_usd, self.tokens) {
            (Some(dollars), _) => Excess::Money(Usd::new(dollars)),
            (None, Some(tokens)) => Excess::Tokens(tokens),
            (None, None) => Excess::Calls(self.calls.unwrap_or_default()),
        };
        self.excess(spent.plus(worst)).unwrap_or_else(first).error(spent, worst)
    }

    /// The caps as processes share them.
    pub(super) fn amounts(&self) -> AmountCaps {
        let money = self.money_usd.map(|dollars| Usd::new(dollars).picodollars());
        AmountCaps { money, tokens: self.tokens, calls: self.calls }
    }
}

impl Excess {
    /// The error of a call that can cost `worst`.
    pub(super) fn error(self, spent: Sum, worst: Sum) -> ModelError {
        let (cap, worst, spent) = match self {
            Self::Money(cap) => (cap.to_string(), worst.money.to_string(), spent.money.to_string()),
            Self::Tokens(cap) => {
                let text = |n: u64| format!("{n} tokens");
                (text(cap), text(worst.tokens), text(spent.tokens))
            }
            Self::Calls(cap) => {
                let text = |n: u64| format!("{n} {}", if n == 1 { "call" } else { "calls" });
                (text(cap), text(worst.calls), text(spent.calls))
            }
        };
        ModelError::OverBudget {
            cap,
            spent: format!("this call can cost {worst} on top of {spent}"),
        }
    }
}

impl From<Amounts> for Sum {
    fn from(Amounts { money, tokens, calls }: Amounts) -> Self {
        Self { money: Usd::from_picodollars(money), tokens, calls }
    }
}

impl Sum {
    pub(super) fn amounts(self) -> Amounts {
        let Self { money, tokens, calls } = self;
        Amounts { money: money.picodollars(), tokens, calls }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            money: Usd(self.money.0.saturating_add(other.money.0)),
            tokens: self.tokens.saturating_add(other.tokens),
            calls: self.calls.saturating_add(other.calls),
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            money: Usd(self.money.0.saturating_sub(other.money.0)),
            tokens: self.tokens.saturating_sub(other.tokens),
            calls: self.calls.saturating_sub(other.calls),
        }
    }
}
