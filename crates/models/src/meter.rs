//! Counts the cost of calls per role and model, and keeps it under a cap.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use pikerag_knowledge::{ModelError, Usage};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tracing::warn;

/// The price of a million tokens, or of a thousand searches, in dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// A million tokens of prompt, or of texts to embed or to rank.
    pub prompt: f64,
    /// A million tokens of reply; embedding has no such price.
    #[serde(default)]
    pub completion: f64,
    /// A thousand searches of a reranker that is billed by search.
    #[serde(default)]
    pub search: f64,
}

/// The billed quantities of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) usage: Usage,
    /// Of a reranker; 0 for other models.
    pub(crate) searches: u64,
}

impl From<Usage> for Due {
    fn from(usage: Usage) -> Self {
        Self { usage, searches: 0 }
    }
}

/// Prices by model. A missing model has no known price.
pub type Prices = BTreeMap<String, Price>;

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

/// Money in picodollars (10⁻¹² dollars): a token at a microcent has 10,000 of them, and sums are
/// exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd(pub(crate) u128);

impl Usd {
    /// This many dollars; zero for a negative value, or one that is not a number.
    pub fn new(dollars: f64) -> Self {
        Self((dollars * 1e12).round() as u128)
    }

    /// This many picodollars.
    pub fn from_picodollars(picodollars: u64) -> Self {
        Self(picodollars.into())
    }

    /// In picodollars; at most the largest number that fits.
    pub fn picodollars(self) -> u64 {
        u64::try_from(self.0).unwrap_or(u64::MAX)
    }

    /// In dollars, for display: sums are kept in picodollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl fmt::Display for Usd {
    /// To a millionth of a dollar, and at least to the cent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("${:.6}", self.dollars());
        let zeros = text.len() - text.trim_end_matches('0').len();
        f.write_str(text.get(..text.len() - zeros.min(4)).unwrap_or(&text))
    }
}

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

/// The three quantities that are capped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    money: Usd,
    tokens: u64,
    calls: u64,
}

enum Excess {
    Money(Usd),
    Tokens(u64),
    Calls(u64),
}

/// The highest possible cost of one call, until its cost is known. If it is dropped without being
/// settled it counts as spent: the call may have been billed.
#[derive(Debug)]
pub(crate) struct Reservation {
    meter: Arc<Meter>,
    /// The terms at the time of the reservation, under which it is settled.
    terms: Arc<Terms>,
    role: &'static str,
    model: String,
    worst: Due,
    settled: bool,
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
    /// without a price.
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
                return Ok(Reservation { meter, terms, role, model, worst, settled: false });
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
        let over = |cap: String, worst: String, spent: String| {
            let spent = format!("this call can cost {worst} on top of {spent}");
            Err(ModelError::OverBudget { cap, spent })
        };
        match cap.excess(spent.plus(worst)) {
            Some(Excess::Money(cap)) => {
                return over(cap.to_string(), worst.money.to_string(), spent.money.to_string());
            }
            Some(Excess::Tokens(cap)) => {
                let text = |n: u64| format!("{n} tokens");
                return over(text(cap), text(worst.tokens), text(spent.tokens));
            }
            Some(Excess::Calls(cap)) => {
                let text = |n: u64| format!("{n} {}", if n == 1 { "call" } else { "calls" });
                return over(text(cap), text(worst.calls), text(spent.calls));
            }
            None => {}
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

impl Cap {
    /// The first cap that `sum` exceeds, money before tokens before calls.
    fn excess(&self, sum: Sum) -> Option<Excess> {
        if let Some(cap) = self.money_usd.map(Usd::new).filter(|cap| *cap < sum.money) {
            return Some(Excess::Money(cap));
        }
        if let Some(cap) = self.tokens.filter(|cap| *cap < sum.tokens) {
            return Some(Excess::Tokens(cap));
        }
        self.calls.filter(|cap| *cap < sum.calls).map(Excess::Calls)
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
    /// The cost of its call, as far as prices are known.
    pub(crate) fn price_of(&self, due: Due) -> Usd {
        self.terms.sum(&self.model, due).money
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
        self.meter.settled.notify_waiters();
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.settled {
            self.book(Some(self.worst), 1);
        }
    }
}

impl Sum {
    fn plus(self, other: Self) -> Self {
        Self {
            money: Usd(self.money.0.saturating_add(other.money.0)),
            tokens: self.tokens.saturating_add(other.tokens),
            calls: self.calls.saturating_add(other.calls),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            money: Usd(self.money.0.saturating_sub(other.money.0)),
            tokens: self.tokens.saturating_sub(other.tokens),
            calls: self.calls.saturating_sub(other.calls),
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
