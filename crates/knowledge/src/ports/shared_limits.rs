//! Declares the port to limits and caps that several processes keep together.

use std::num::NonZeroU32;
use std::time::Duration;

use async_trait::async_trait;

use super::{Picodollars, StoreError};

/// A request for amounts of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateRequest {
    /// The rate of all processes together.
    pub per_minute: NonZeroU32,
    /// The content of a full bucket.
    pub burst: NonZeroU32,
    /// Booked in any case, and usable after [`Taken::delay`]; at most the burst.
    pub booked: u64,
    /// Taken in addition, as far as the bucket has it now.
    pub ahead: u64,
}

/// A request of one process for calls to one model of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeRequest {
    /// Identifies the model, its endpoint and the account; the same in all processes.
    pub model: String,
    /// Identifies the process.
    pub holder: String,
    /// Grows with each request of the holder: one that arrives after a later one changes nothing.
    pub turn: u64,
    /// The calls that run in the process, whose seats it keeps.
    pub running: u32,
    /// The further seats that it needs.
    pub seats: u32,
    /// The calls that may run at one time in all processes together.
    pub in_flight: u32,
    /// The seats go to others after this time, unless another request renews them.
    pub lease: Duration,
    /// Whether amounts are booked only if a further seat is free.
    pub only_with_seat: bool,
    /// `None`: no limit of requests.
    pub requests: Option<RateRequest>,
    /// `None`: no limit of tokens.
    pub tokens: Option<RateRequest>,
}

/// The reply to a [`TakeRequest`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The seats that the process holds now, those of running calls included.
    pub seats: u32,
    /// The requests that were taken.
    pub requests: u64,
    /// The tokens that were taken.
    pub tokens: u64,
    /// The taken amounts may be used after this time.
    pub delay: Duration,
    /// The rest of the pause that the endpoint asked for. Nothing is taken during a pause.
    pub pause: Duration,
}

/// The three quantities that caps limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// The cost.
    pub money: Picodollars,
    /// Tokens of prompts and replies.
    pub tokens: u64,
    /// Calls.
    pub calls: u64,
}

/// The caps of an account; a missing entry means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AmountCaps {
    /// The highest cost.
    pub money: Option<Picodollars>,
    /// The highest number of tokens.
    pub tokens: Option<u64>,
    /// The highest number of calls.
    pub calls: Option<u64>,
}

/// What one process has spent and reserves of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapRequest {
    /// The name of the account, which all of its processes use.
    pub account: String,
    /// Identifies the process.
    pub holder: String,
    /// As [`TakeRequest::turn`].
    pub turn: u64,
    /// The cost of all ended calls of the process.
    pub spent: Amounts,
    /// The highest possible cost of its running calls.
    pub held: Amounts,
    /// The highest possible cost of a further call; zero if the process reports only.
    pub wanted: Amounts,
    /// The caps, as the settings of the process have them.
    pub caps: AmountCaps,
    /// After this time without a request, running calls count as spent at their highest possible
    /// cost.
    pub lease: Duration,
}

/// The reply to a [`CapRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapReply {
    /// The further call is reserved.
    Reserved,
    /// Running calls hold the amounts, and some of them may be released.
    Later {
        /// Spent by all processes.
        spent: Amounts,
    },
    /// The further call exceeds a cap.
    Over {
        /// Spent by all processes.
        spent: Amounts,
    },
}

/// Limits and caps that several processes keep together. The clock of the store counts.
///
/// # Errors
/// The store cannot be read or written: the call must not be made.
///
/// # Cancel safety
/// A dropped request may take effect or not. The next request of the holder corrects its seats and
/// reservations; amounts of rates that a dropped request took are lost.
#[async_trait]
pub trait SharedLimits: Send + Sync {
    /// Books amounts of rates, and keeps or takes seats. In any time span, the processes together
    /// get at most the rate times the span, plus the burst.
    async fn take(&self, request: &TakeRequest) -> Result<Taken, StoreError>;

    /// From now on no process calls the model for this time. The longest pause counts.
    async fn pause(&self, model: &str, wait: Duration) -> Result<(), StoreError>;

    /// Reports spending, and reserves the highest possible cost of a further call. What all
    /// processes have spent and reserved never exceeds a cap, unless it was lowered.
    async fn reserve(&self, request: &CapRequest) -> Result<CapReply, StoreError>;
}

impl Amounts {
    /// The sum; at most the largest numbers.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            money: self.money.saturating_add(other.money),
            tokens: self.tokens.saturating_add(other.tokens),
            calls: self.calls.saturating_add(other.calls),
        }
    }

    /// The difference; at least zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            money: self.money.saturating_sub(other.money),
            tokens: self.tokens.saturating_sub(other.tokens),
            calls: self.calls.saturating_sub(other.calls),
        }
    }
}

impl AmountCaps {
    /// Whether the amounts fit under all caps.
    pub fn admit(&self, amounts: Amounts) -> bool {
        let fits = |cap: Option<u64>, amount: u64| cap.is_none_or(|cap| amount <= cap);
        fits(self.money, amounts.money)
            && fits(self.tokens, amounts.tokens)
            && fits(self.calls, amounts.calls)
    }
}
