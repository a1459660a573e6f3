//! Keeps the spending of several processes under one cap, with reservations in a store.
//!
//! A call that fits into what the process has reserved and not spent needs no request to the store.
//! A process that ends between two requests leaves its last reservations, which then count as spent.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pikerag_knowledge::{
    AmountCaps, Amounts, CapReply, CapRequest, ModelError, SharedLimits, StoreError,
};
use tokio::time::{Instant, sleep};
use tracing::warn;

use crate::process::process_name;

/// How long a call is believed to run if its process reports nothing.
const LEASE: Duration = Duration::from_mins(15);
/// How long a call waits for amounts that other running calls hold.
const PATIENCE: Duration = Duration::from_mins(2);
/// The first and the longest wait before amounts are requested again.
const POLL: Duration = Duration::from_millis(50);
const LONGEST_POLL: Duration = Duration::from_secs(1);
/// How long a call waits for a store that cannot be reached, and how often it is tried.
const AWAY: Duration = Duration::from_secs(30);
const AGAIN: Duration = Duration::from_millis(500);
/// The longest time for which a process keeps what its ended calls did not spend.
const UNREPORTED: Duration = Duration::from_secs(1);

/// An account that several processes share.
pub struct SharedCap {
    limits: Arc<dyn SharedLimits>,
    account: String,
    holder: String,
    /// Held during a request to the store, because the reservation is not certain until its reply.
    asking: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    turn: u64,
    /// The cost of all ended calls of this process.
    spent: Amounts,
    /// The highest possible cost of its running calls.
    open: Amounts,
    /// Spent and reserved by this process, as the store has it; nothing if that is not certain.
    recorded: Amounts,
    /// When the store last replied.
    asked: Option<Instant>,
}

/// Why an amount is not reserved.
#[derive(Debug)]
pub(crate) enum NotReserved {
    /// The cap is spent, or running calls hold the rest of it.
    Over {
        /// Spent by all processes.
        spent: Amounts,
    },
    /// The store cannot be asked.
    Store(StoreError),
}

/// The reservation of a call. Dropped without its cost, it counts as spent.
#[derive(Debug)]
pub(crate) struct SharedReservation {
    cap: Arc<SharedCap>,
    worst: Amounts,
    is_closed: bool,
}

impl SharedCap {
    /// The account of this name, at which nothing was spent by this process yet.
    pub fn new(limits: Arc<dyn SharedLimits>, account: impl Into<String>) -> Self {
        Self {
            limits,
            account: account.into(),
            holder: process_name(),
            asking: tokio::sync::Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// The name of the account.
    pub fn account(&self) -> &str {
        &self.account
    }

    /// Reserves the highest possible cost of a call, and waits while other calls hold it.
    ///
    /// # Cancel safety
    /// Dropping the future reserves nothing here. The store corrects its reservation with the next
    /// request of this process.
    pub(crate) async fn reserve(
        self: &Arc<Self>,
        worst: Amounts,
        caps: AmountCaps,
    ) -> Result<SharedReservation, NotReserved> {
        let (began, mut poll, mut away_since) = (Instant::now(), POLL, None);
        loop {
            match self.try_reserve(worst, caps).await {
                Ok(CapReply::Reserved) => {
                    return Ok(SharedReservation {
                        cap: Arc::clone(self),
                        worst,
                        is_closed: false,
                    });
                }
                Ok(CapReply::Over { spent }) => return Err(NotReserved::Over { spent }),
                Ok(CapReply::Later { spent }) if PATIENCE < began.elapsed() => {
                    return Err(NotReserved::Over { spent });
                }
                Ok(CapReply::Later { .. }) => {
                    away_since = None;
                    sleep(poll).await;
                    poll = poll.saturating_mul(2).min(LONGEST_POLL);
                }
                Err(error) => {
                    let since: Instant = *away_since.get_or_insert_with(Instant::now);
                    if AWAY <= since.elapsed() {
                        return Err(NotReserved::Store(error));
                    }
                    sleep(AGAIN).await;
                }
            }
        }
    }

    /// Reports what ended calls have cost, at the latest with the last running call. An error
    /// changes nothing: the highest possible cost then stays reserved.
    pub(crate) async fn report(&self) {
        let is_due = |state: &State| {
            let is_old = state.asked.is_none_or(|asked| UNREPORTED <= asked.elapsed());
            let is_known = state.recorded == state.spent.plus(state.open);
            !is_known && (is_old || state.open == Amounts::default())
        };
        if !is_due(&self.state()) {
            return;
        }
        let _alone = self.asking.lock().await;
        if !is_due(&self.state()) {
            return;
        }
        if let Err(error) = self.ask(Amounts::default(), AmountCaps::default()).await {
            warn!(%error, self.account, "the cost of calls could not be reported to a shared cap");
        }
    }

    async fn try_reserve(&self, worst: Amounts, caps: AmountCaps) -> Result<CapReply, StoreError> {
        let _alone = self.asking.lock().await;
        {
            let mut state = self.state();
            let all = state.spent.plus(state.open).plus(worst);
            let recorded = AmountCaps {
                money: caps.money.map(|_| state.recorded.money),
                tokens: caps.tokens.map(|_| state.recorded.tokens),
                calls: caps.calls.map(|_| state.recorded.calls),
            };
            if state.asked.is_some() && recorded.admit(all) {
                state.open = state.open.plus(worst);
                return Ok(CapReply::Reserved);
            }
        }
        let reply = self.ask(worst, caps).await?;
        if reply == CapReply::Reserved {
            let mut state = self.state();
            state.open = state.open.plus(worst);
        }
        Ok(reply)
    }

    /// The caller holds `asking`.
    async fn ask(&self, wanted: Amounts, caps: AmountCaps) -> Result<CapReply, StoreError> {
        let request = {
            let mut state = self.state();
            state.turn += 1;
            state.recorded = Amounts::default();
            CapRequest {
                account: self.account.clone(),
                holder: self.holder.clone(),
                turn: state.turn,
                spent: state.spent,
                held: state.open,
                wanted,
                caps,
                lease: LEASE,
            }
        };
        let reply = self.limits.reserve(&request).await?;
        let mut state = self.state();
        state.recorded = request.spent.plus(request.held);
        if reply == CapReply::Reserved {
            state.recorded = state.recorded.plus(wanted);
        }
        state.asked = Some(Instant::now());
        Ok(reply)
    }

    /// Every change leaves the state consistent, also if a holder panics.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedReservation {
    /// Books the cost of an ended call; zero if it cost nothing.
    pub(crate) fn close(mut self, cost: Amounts) {
        self.book(cost);
    }

    fn book(&mut self, cost: Amounts) {
        self.is_closed = true;
        let mut state = self.cap.state();
        state.open = state.open.minus(self.worst);
        state.spent = state.spent.plus(cost);
    }
}

impl Drop for SharedReservation {
    fn drop(&mut self) {
        if !self.is_closed {
            self.book(self.worst);
        }
    }
}

impl NotReserved {
    /// The error for the caller; `over` words a spent cap.
    pub(crate) fn into_error(self, over: impl FnOnce(Amounts) -> ModelError) -> ModelError {
        match self {
            Self::Over { spent } => over(spent),
            Self::Store(source) => ModelError::Ledger { source: Box::new(source) },
        }
    }
}

impl fmt::Debug for SharedCap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        formatter
            .debug_struct("SharedCap")
            .field("account", &self.account)
            .field("state", &state)
            .finish_non_exhaustive()
    }
}
