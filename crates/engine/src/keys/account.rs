//! Charges calls to the key that they are made with, under its cap, as long as the key is valid.

use std::mem;
use std::sync::{Arc, MutexGuard, PoisonError};

use pikerag_knowledge::{ChargeEnd, Key, KeyCharge, KeyStore, ModelError, Reserved, StoreError};
use pikerag_models::{Charge, ChargeOutcome, Hold, Payer, Usd};
use tracing::warn;

use super::{Keys, KeysError, now};
use crate::engine::{Grant, Session};

/// A key that pays for calls. All processes that use its store share its cap.
struct KeyAccount {
    keys: Keys,
    key: Key,
}

impl Keys {
    /// The rights of a presented key.
    pub fn grant(&self, key: &Key) -> Grant {
        let account = KeyAccount { keys: self.clone(), key: key.clone() };
        Grant { visible: key.params.filter.clone(), payer: Some(Arc::new(account)) }
    }
}

impl KeyAccount {
    fn store(&self) -> &dyn KeyStore {
        self.keys.store()
    }
}

impl Payer for KeyAccount {
    fn check(&self) -> Result<(), ModelError> {
        let found = self.store().find(&self.key.digest, now()).map_err(unrecorded)?;
        match found.is_some_and(|key| !key.is_expired(now())) {
            true => Ok(()),
            false => Err(ModelError::KeyEnded),
        }
    }

    fn left(&self) -> Result<Option<Usd>, ModelError> {
        let Some(cap) = self.key.params.cap_usd else { return Ok(None) };
        let all = self.store().list().map_err(unrecorded)?;
        let own = all.iter().find(|line| line.key.id == self.key.id);
        let held = own.map(|line| line.spent.saturating_add(line.reserved));
        let left = Usd::new(cap).picodollars().saturating_sub(held.unwrap_or(u64::MAX));
        Ok(Some(Usd::from_picodollars(left)))
    }

    fn reserve(&self, charge: &Charge) -> Result<Hold, ModelError> {
        let own = KeyCharge {
            digest: self.key.digest.clone(),
            money: charge.most.picodollars(),
            base: charge.base.clone(),
            calls: charge.calls.clone(),
        };
        let over = |cap, held| {
            let held = Usd::from_picodollars(held);
            let spent = format!("this call can cost {} on top of {held}", charge.most);
            ModelError::OverBudget { cap: Usd::from_picodollars(cap).to_string(), spent }
        };
        // Money of ended calls, which an outage of the store kept reserved, becomes free first.
        self.keys.settle_again().map_err(unrecorded)?;
        match self.store().reserve(&own, now()).map_err(unrecorded)? {
            Reserved::Yes(number) => Ok(Hold::Held(number)),
            Reserved::Later { cap, held } => Ok(Hold::Later(over(cap, held))),
            Reserved::Over { cap, held } => Err(over(cap, held)),
            Reserved::NoKey => Err(ModelError::KeyEnded),
        }
    }

    fn close(&self, reservation: i64, outcome: ChargeOutcome) {
        let end = match outcome {
            ChargeOutcome::Cost(cost) => ChargeEnd::Cost(cost.picodollars()),
            ChargeOutcome::Nothing => ChargeEnd::Nothing,
            ChargeOutcome::Unknown => ChargeEnd::Unknown,
        };
        if let Err(error) = self.store().close(reservation, end) {
            warn!(key = self.key.id, %error, "a call is not settled yet: it counts with the highest cost that it can have");
            self.keys.lock_unsettled().push((reservation, end));
        }
    }
}

fn unrecorded(source: StoreError) -> ModelError {
    ModelError::Ledger { source: Box::new(source) }
}

impl Keys {
    /// Ends the reservations of calls that are over and that the store did not end at the time.
    fn settle_again(&self) -> Result<(), StoreError> {
        let mut unsettled = mem::take(&mut *self.lock_unsettled());
        while let Some((reservation, end)) = unsettled.pop() {
            if let Err(error) = self.store().close(reservation, end) {
                unsettled.push((reservation, end));
                self.lock_unsettled().append(&mut unsettled);
                return Err(error);
            }
        }
        Ok(())
    }

    fn lock_unsettled(&self) -> MutexGuard<'_, Vec<(i64, ChargeEnd)>> {
        self.0.unsettled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Settles reservations that ended processes left for calls of this session's base, if its
    /// ledger shows their price. The others continue to count with their highest cost.
    ///
    /// # Errors
    /// The store of keys cannot be read or written. If the base cannot be read, nothing is settled.
    pub async fn settle_left(&self, session: &Session) -> Result<usize, KeysError> {
        let (name, mut settled) = (session.ledger_name(), 0);
        let left = self.with_path(self.store().left_behind(now()))?;
        let mut left = left.into_iter().filter(|one| one.base == name && !one.calls.is_empty());
        let Some(first) = left.next() else { return Ok(0) };
        let Ok(base) = session.base_in_part().await else { return Ok(0) };
        for one in std::iter::once(first).chain(left) {
            let Ok(found) = base.find_all(&one.calls).await else { continue };
            let prices = found.iter().map(|call| session.price_of_call(call.as_ref()?));
            let Some(cost) = prices.sum::<Option<u64>>() else { continue };
            self.with_path(self.store().close(one.id, ChargeEnd::Cost(cost)))?;
            settled += 1;
        }
        Ok(settled)
    }
}
