//! Keeps shared limits in memory, by Tokio's clock. All of its users are in one process.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use pikerag_knowledge::{
    Amounts, CapReply, CapRequest, RateRequest, SharedLimits, StoreError, TakeRequest, Taken,
};
use tokio::time::Instant;

const NANOS_OF_A_MINUTE: u128 = 60_000_000_000;

/// Limits and caps in memory: the same rules as in a database.
#[derive(Debug)]
pub struct MemoryLimits {
    began: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    models: HashMap<String, Model>,
    accounts: HashMap<String, BTreeMap<String, Hold>>,
}

/// The limits of one model. Times are nanoseconds since the beginning.
#[derive(Debug, Default)]
struct Model {
    requests: Rate,
    tokens: Rate,
    paused_until: u128,
    seats: BTreeMap<String, Holder>,
}

/// A token bucket: the time at which it is full again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    full_at: u128,
}

#[derive(Debug)]
struct Holder {
    turn: u64,
    seats: u32,
    is_waiting: bool,
    until: u128,
}

#[derive(Debug)]
struct Hold {
    turn: u64,
    spent: Amounts,
    held: Amounts,
    until: u128,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        Self { began: Instant::now(), state: Mutex::default() }
    }
}

impl MemoryLimits {
    fn now(&self) -> u128 {
        self.began.elapsed().as_nanos()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SharedLimits for MemoryLimits {
    async fn take(&self, request: &TakeRequest) -> Result<Taken, StoreError> {
        let now = self.now();
        let mut state = self.state();
        Ok(state.models.entry(request.model.clone()).or_default().take(request, now))
    }

    async fn pause(&self, model: &str, wait: Duration) -> Result<(), StoreError> {
        let until = self.now().saturating_add(wait.as_nanos());
        let mut state = self.state();
        let model = state.models.entry(model.to_owned()).or_default();
        model.paused_until = model.paused_until.max(until);
        Ok(())
    }

    async fn reserve(&self, request: &CapRequest) -> Result<CapReply, StoreError> {
        let now = self.now();
        let mut state = self.state();
        Ok(reserve(state.accounts.entry(request.account.clone()).or_default(), request, now))
    }
}

impl Model {
    fn take(&mut self, request: &TakeRequest, now: u128) -> Taken {
        if self.seats.get(&request.holder).is_some_and(|own| request.turn <= own.turn) {
            return Taken::default();
        }
        let pause = self.paused_until.saturating_sub(now);
        let others = self.seats.iter().filter(|(holder, _)| **holder != request.holder);
        let others: Vec<&Holder> =
            others.map(|(_, seats)| seats).filter(|seats| now < seats.until).collect();
        let mut seats = request.running;
        if pause == 0 {
            let held: u32 = others.iter().map(|other| other.seats).sum();
            let mut allowed = request.in_flight.saturating_sub(held);
            let active = others.iter().filter(|other| 0 < other.seats || other.is_waiting);
            let share = request.in_flight.div_ceil(active.count() as u32 + 1);
            if others.iter().any(|other| other.is_waiting && other.seats < share) {
                allowed = allowed.min(share);
            }
            seats = seats.max((request.running + request.seats).min(allowed));
        }
        let is_waiting = 0 < request.seats && seats == request.running;
        let until = now + request.lease.as_nanos();
        let own = Holder { turn: request.turn, seats, is_waiting, until };
        self.seats.insert(request.holder.clone(), own);
        let pause = nanos(pause);
        let mut taken = Taken { seats, pause, ..Taken::default() };
        if pause.is_zero() && (request.running < seats || !request.only_with_seat) {
            if let Some(rate) = &request.requests {
                (taken.requests, taken.delay) = self.requests.book(rate, now);
            }
            if let Some(rate) = &request.tokens {
                let (tokens, delay) = self.tokens.book(rate, now);
                (taken.tokens, taken.delay) = (tokens, taken.delay.max(delay));
            }
        }
        taken
    }
}

impl Rate {
    /// The amount that was taken, and when it may be used.
    pub(super) fn book(&mut self, request: &RateRequest, now: u128) -> (u64, Duration) {
        let per_minute = u128::from(request.per_minute.get());
        let time = |amount: u64| (u128::from(amount) * NANOS_OF_A_MINUTE).div_ceil(per_minute);
        let whole = time(request.burst.get().into());
        self.full_at = self.full_at.max(now) + time(request.booked);
        let delay = match request.booked {
            0 => 0,
            _ => self.full_at.saturating_sub(now + whole),
        };
        let surplus = (now + whole).saturating_sub(self.full_at) * per_minute / NANOS_OF_A_MINUTE;
        let ahead = request.ahead.min(u64::try_from(surplus).unwrap_or(u64::MAX));
        self.full_at += time(ahead);
        (request.booked + ahead, nanos(delay))
    }
}

fn reserve(holds: &mut BTreeMap<String, Hold>, request: &CapRequest, now: u128) -> CapReply {
    let (mut spent, mut running) = (request.spent, request.held);
    for (_, other) in holds.iter().filter(|(holder, _)| **holder != request.holder) {
        spent = spent.plus(other.spent);
        let counted = if other.until <= now { &mut spent } else { &mut running };
        *counted = counted.plus(other.held);
    }
    if holds.get(&request.holder).is_some_and(|own| request.turn <= own.turn) {
        return CapReply::Later { spent };
    }
    let (mut held, wanted) = (request.held, request.wanted);
    let reply = match request.caps.admit(spent.plus(wanted)) {
        false => CapReply::Over { spent },
        true if !request.caps.admit(spent.plus(running).plus(wanted)) => CapReply::Later { spent },
        true => {
            held = held.plus(wanted);
            CapReply::Reserved
        }
    };
    let until = now + request.lease.as_nanos();
    let own = Hold { turn: request.turn, spent: request.spent, held, until };
    holds.insert(request.holder.clone(), own);
    reply
}

fn nanos(nanos: u128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Its brute-force twin: between any two uses, the amounts stay below the rate times the
        /// time, plus the burst. And nothing waits longer than that needs.
        #[test]
        fn amounts_in_any_span_keep_to_the_rate(
            per_minute in 1_u32..100_000,
            share in 1_u32..20,
            calls in prop::collection::vec((0_u64..3_000_000_000, 0_u64..200, 0_u64..50), 1..60),
        ) {
            let burst = NonZeroU32::new(per_minute / share).unwrap_or(NonZeroU32::MIN);
            let per_minute = NonZeroU32::new(per_minute).unwrap();
            let (mut rate, mut now, mut uses) = (Rate::default(), 0, Vec::new());
            for (wait, booked, ahead) in calls {
                now += u128::from(wait);
                let booked = booked.min(burst.get().into());
                let request = RateRequest { per_minute, burst, booked, ahead };
                let (taken, delay) = rate.book(&request, now);
                prop_assert!(booked <= taken && taken <= booked + ahead);
                prop_assert!(delay.is_zero() || taken == booked);
                if taken != 0 {
                    uses.push((now + delay.as_nanos(), taken));
                }
            }
            // Each amount is at most one unit above the exact one, by rounding.
            let allowed = |span: u128| {
                u128::from(burst.get())
                    + (span * u128::from(per_minute.get())).div_ceil(NANOS_OF_A_MINUTE)
            };
            for (first, (from, _)) in uses.iter().enumerate() {
                let mut sum = 0;
                for (to, amount) in uses.iter().skip(first) {
                    sum += u128::from(*amount);
                    prop_assert!(sum <= allowed(to.saturating_sub(*from)), "{sum} between {from} and {to}");
                }
            }
        }
    }
}
