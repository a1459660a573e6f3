//! Counts the cost of calls per role and model, and keeps it under a cap.

mod caps;
mod money;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use pikerag_knowledge::{ModelError, Usage};
use tokio::sync::Notify;
use tracing::warn;

pub use self::caps::Cap;
use self::caps::Sum;
pub(crate) use self::money::Due;
pub use self::money::{Price, Prices, Usd};
use crate::shared_cap::{SharedCap, SharedReservation};

/// The spending of one role and model, or of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// The role; `embed` for embeddings, `rerank` for rerankers; empty in the total.
    pub role: String,
    /// The model; empty in the total.
    pub model: String,
    /// Calls that were answered, and those of `unanswered`.
    pub calls: u64,
    /// Calls of unknown outcome (abandoned or interrupted), counted at their highest possible cost.
    pub unanswered: u64,
    /// As endpoints count them; estimated for endpoints that do not count.
    pub usage: Usage,
    /// Money, as far as the prices are known.
    pub money: Usd,
}

/// Counts the cost of real calls, and keeps it under the cap. All models of a run share one meter.
#[derive(Debug, Default)]
pub struct Meter {
    terms: RwLock<Arc<Terms>>,
    book: Mutex<Book>,
    settled: Notify,
    /// Keeps the cap together with other processes.
    shared: RwLock<Option<Arc<SharedCap>>>,
}

/// Prices and cap.
#[derive(Debug, Default)]
struct Terms {
    prices: Prices,
    cap: Cap,
}

#[derive(Debug, Default)]
struct Book {
    spent: Sum,
    reserved: Sum,
    lines: BTreeMap<(&'static str, String), Spending>,
}

/// The highest possible cost of one call, until its cost is known. If it is dropped without being
/// settled after the call was sent, it counts as spent: the call may have been billed.
#[derive(Debug)]
pub(crate) struct Reservation {
    meter: Arc<Meter>,
    /// The terms at the time of the reservation, under which it is settled.
    terms: Arc<Terms>,
    role: &'static str,
    model: String,
    worst: Due,
    /// Dropped before, it is released.
    is_sent: bool,
    settled: bool,
    shared: Option<SharedReservation>,
}

impl Meter {
    /// A meter at zero: the spending of earlier runs does not count.
    pub fn new(prices: Prices, cap: Cap) -> Self {
        Self { terms: RwLock::new(Arc::new(Terms { prices, cap })), ..Self::default() }
    }

    /// Sets prices and cap for all calls from now on. Earlier spending keeps its old prices, and
    /// counts under the new cap.
    pub fn set(&self, prices: Prices, cap: Cap) {
        let terms = Arc::new(Terms { prices, cap });
        *self.terms.write().unwrap_or_else(PoisonError::into_inner) = terms;
        self.settled.notify_waiters();
    }

    /// From now on, the cap holds for this process and for all processes with this account
    /// together. Earlier spending of this process is not added to the account.
    pub fn share(&self, cap: Option<Arc<SharedCap>>) {
        *self.shared.write().unwrap_or_else(PoisonError::into_inner) = cap;
    }

    fn shared(&self) -> Option<Arc<SharedCap>> {
        self.shared.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The account of the shared cap; `None` without one.
    pub fn shared_account(&self) -> Option<String> {
        self.shared().map(|cap| cap.account().to_owned())
    }

    /// Reports the cost of ended calls to a shared cap.
    pub(crate) async fn report(&self) {
        if let Some(shared) = self.shared() {
            shared.report().await;
        }
    }

    fn terms(&self) -> Arc<Terms> {
        Arc::clone(&self.terms.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A separate meter for one of `parts` equal parts of the remaining cap; `None` if nothing is
    /// capped. Its counts are not added here: a model below both meters adds them (see
    /// [`Portion`](crate::budget::Portion)).
    ///
    /// If its caller has `left` this much, that is divided, too.
    pub fn part(&self, parts: usize, left: Option<Usd>) -> Option<Self> {
        let terms = self.terms();
        let Cap { money_usd, tokens, calls } = terms.cap;
        let money_usd = money_usd.map(Usd::new);
        if (money_usd, left, tokens, calls) == (None, None, None, None) {
            return None;
        }
        let held = {
            let book = self.book();
            book.spent.plus(book.reserved)
        };
        let parts = parts.max(1);
        let share = |cap: u64, held: u64| cap.saturating_sub(held) / parts as u64;
        // Parts are rounded down: together they never exceed the remaining cap.
        let ours = money_usd.map(|cap| cap.0.saturating_sub(held.money.0));
        let money = ours.into_iter().chain(left.map(|left| left.0)).min();
        let money = money.map(|money| Usd(money / parts as u128));
        let cap = Cap {
            money_usd: money.map(Usd::dollars),
            tokens: tokens.map(|cap| share(cap, held.tokens)),
            calls: calls.map(|cap| share(cap, held.calls)),
        };
        Some(Self::new(terms.prices.clone(), cap))
    }

    /// The spending by role and model.
    pub fn spending(&self) -> Vec<Spending> {
        self.book().lines.values().cloned().collect()
    }

    /// The total spending: the sum of [`Meter::spending`].
    pub fn total(&self) -> Spending {
        let mut total = Spending::default();
        for line in self.book().lines.values() {
            total.calls += line.calls;
            total.unanswered += line.unanswered;
            total.usage += line.usage;
            total.money.0 += line.money.0;
        }
        total
    }

    /// Reserves the highest possible cost of a call. If that fits only if running calls cost less
    /// than they can, it waits for one of them and tries again.
    ///
    /// # Errors
    /// [`ModelError::OverBudget`] if it cannot fit; [`ModelError::Unsupported`] for a cap on money
    /// without a price; [`ModelError::Ledger`] if a shared cap cannot be read.
    ///
    /// # Cancel safety
    /// Dropping the future reserves nothing.
    pub(crate) async fn reserve(
        self: &Arc<Self>,
        role: &'static str,
        model: &str,
        worst: impl Into<Due>,
    ) -> Result<Reservation, ModelError> {
        let worst = worst.into();
        loop {
            // Created before the check, so that no settlement in between is missed.
            let settled = self.settled.notified();
            let terms = self.terms();
            if terms.cap.money_usd.is_some() && !terms.prices.contains_key(model) {
                return Err(Self::needs_price(model));
            }
            let reserved = terms.sum(model, worst);
            if self.try_reserve(&terms.cap, reserved)? {
                let (meter, model) = (Arc::clone(self), model.to_owned());
                let (is_sent, settled, shared) = (false, false, None);
                let own =
                    Reservation { meter, terms, role, model, worst, is_sent, settled, shared };
                return own.shared_by(self.shared()).await;
            }
            settled.await;
        }
    }

    pub(crate) fn needs_price(model: &str) -> ModelError {
        let hint = "a cap on money needs its price per million tokens (0 if the model is \
                    free); name the price, or cap tokens or calls instead";
        ModelError::Unsupported { model: model.to_owned(), hint: hint.to_owned() }
    }

    /// The cost of a call, if the price of its model is known.
    pub(crate) fn price_of(&self, model: &str, due: Due) -> Option<Usd> {
        let terms = self.terms();
        terms.prices.contains_key(model).then(|| terms.sum(model, due).money)
    }

    fn try_reserve(&self, cap: &Cap, worst: Sum) -> Result<bool, ModelError> {
        let mut book = self.book();
        let spent = book.spent;
        if let Some(excess) = cap.excess(spent.plus(worst)) {
            return Err(excess.error(spent, worst));
        }
        if cap.excess(spent.plus(book.reserved).plus(worst)).is_some() {
            return Ok(false);
        }
        book.reserved = book.reserved.plus(worst);
        Ok(true)
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Terms {
    /// The capped quantities of one call.
    fn sum(&self, model: &str, due: Due) -> Sum {
        let Due { usage, searches } = due;
        let price = self.prices.get(model).copied().unwrap_or_default();
        let cost = |tokens, per_million: f64| {
            u128::from(tokens) * (per_million * 1e6).round() as u128 // $1 a million is $0.000001 each.
        };
        let (prompt, completion) = (usage.prompt_tokens, usage.completion_tokens);
        // A thousand tokens at $1 a million cost as much as a search at $1 a thousand.
        let searches = cost(searches.saturating_mul(1000), price.search);
        let tokens = cost(prompt, price.prompt) + cost(completion, price.completion);
        let money = Usd(tokens + searches);
        Sum { money, tokens: prompt.saturating_add(completion), calls: 1 }
    }
}

impl Reservation {
    /// Reserves the same in a shared cap, if there is one. From here on, the call counts as sent.
    async fn shared_by(mut self, shared: Option<Arc<SharedCap>>) -> Result<Self, ModelError> {
        if let Some(shared) = shared {
            let (cap, worst) = (self.terms.cap, self.terms.sum(&self.model, self.worst));
            let reserved = shared.reserve(worst.amounts(), cap.amounts()).await;
            self.shared = Some(reserved.map_err(|error| {
                error.into_error(|spent| cap.spent_with_others(spent.into(), worst))
            })?);
        }
        self.is_sent = true;
        Ok(self)
    }

    /// The cost of its call, as far as prices are known.
    pub(crate) fn price_of(&self, due: Due) -> Usd {
        self.terms.sum(&self.model, due).money
    }

    /// The meter that counts it.
    pub(crate) fn meter(&self) -> Arc<Meter> {
        Arc::clone(&self.meter)
    }

    /// Books the cost of an answered call.
    pub(crate) fn settle(mut self, due: impl Into<Due>) {
        let due = due.into();
        let (usage, worst) = (due.usage, self.worst.usage);
        if worst.prompt_tokens < usage.prompt_tokens
            || worst.completion_tokens < usage.completion_tokens
        {
            warn!(self.model, ?usage, ?worst, "a call used more tokens than its computed maximum");
        }
        self.book(Some(due), 0);
    }

    /// Frees the reservation of a refused call, which cost nothing.
    pub(crate) fn release(mut self) {
        self.book(None, 0);
    }

    fn book(&mut self, cost: Option<Due>, unanswered: u64) {
        self.settled = true;
        let mut book = self.meter.book();
        book.reserved = book.reserved.minus(self.terms.sum(&self.model, self.worst));
        if let Some(due) = cost {
            let sum = self.terms.sum(&self.model, due);
            book.spent = book.spent.plus(sum);
            let line = book.lines.entry((self.role, self.model.clone())).or_default();
            self.role.clone_into(&mut line.role);
            self.model.clone_into(&mut line.model);
            line.calls += 1;
            line.unanswered += unanswered;
            line.usage += due.usage;
            line.money.0 += sum.money.0;
        }
        drop(book);
        if let Some(shared) = self.shared.take() {
            let cost = cost.map(|due| self.terms.sum(&self.model, due)).unwrap_or_default();
            shared.close(cost.amounts());
        }
        self.meter.settled.notify_waiters();
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.settled {
            self.book(self.is_sent.then_some(self.worst), 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact() {
        let prices =
            Prices::from([("m".to_owned(), Price { prompt: 0.15, completion: 0.6, search: 2.0 })]);
        let meter = Meter::new(prices, Cap::default());
        let usage = Usage { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 };
        assert_eq!(meter.terms().sum("m", usage.into()).money.to_string(), "$0.75");
        let two = Due { usage, searches: 2 };
        assert_eq!(meter.terms().sum("m", two).money.to_string(), "$0.754");
        let one = Usage { prompt_tokens: 1, completion_tokens: 0 };
        assert_eq!(meter.terms().sum("m", one.into()).money, Usd(150_000));
        assert_eq!(Usd::new(0.000_001).to_string(), "$0.000001");
        assert_eq!(Usd::new(1234.5).to_string(), "$1234.50");
        assert_eq!(Usd::new(-1.0).to_string(), "$0.00");
        assert_eq!(Usd::new(f64::NAN), Usd::default());
    }

    #[tokio::test]
    async fn new_terms_hold_from_the_next_call_on() {
        let terms = |prompt, cap| {
            let price = Price { prompt, ..Price::default() };
            let cap = Cap { money_usd: Some(cap), ..Cap::default() };
            (Prices::from([("m".to_owned(), price)]), cap)
        };
        let (prices, cap) = terms(1.0, 1.0);
        let meter = Arc::new(Meter::new(prices, cap));
        let million = Usage { prompt_tokens: 1_000_000, completion_tokens: 0 };
        let first = meter.reserve("answer", "m", million).await.unwrap();
        // The second call waits for the first; both fit under the new cap.
        let waiting = meter.reserve("answer", "m", million);
        let raise = async {
            tokio::task::yield_now().await;
            let (prices, cap) = terms(2.0, 4.0);
            meter.set(prices, cap);
        };
        let (second, ()) = tokio::join!(waiting, raise);
        first.settle(million);
        second.unwrap().settle(million);
        assert_eq!(meter.total().money.to_string(), "$3.00", "each at the price of its time");
        assert!(meter.reserve("answer", "m", million).await.is_err());
    }
}
