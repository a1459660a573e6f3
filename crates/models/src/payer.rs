//! Charges calls to whoever pays for them: the most that a call can cost is reserved before it is sent, and settled when it
//! is answered.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pikerag_knowledge::{CallRef, ChatModel, ChatReply, ChatRequest, ModelError, StoreError};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use crate::meter::Usd;

/// How long a call waits for the money that other calls under way hold.
const PATIENCE: Duration = Duration::from_mins(2);
/// The first and the longest wait before money is asked for again.
const LOOK: Duration = Duration::from_millis(25);
const LOOK_AT_MOST: Duration = Duration::from_millis(400);

tokio::task_local! {
    /// The keys under which the ledger will record the call that is being made.
    static RECORDED_AS: Vec<String>;
}

/// Makes a call that the ledger will record under these keys.
pub(crate) async fn recorded_as<T>(keys: Vec<String>, call: impl Future<Output = T>) -> T {
    RECORDED_AS.scope(keys, call).await
}

/// A call that is about to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The most that it can cost; nothing where no price is known.
    pub most: Usd,
    /// Names the base whose ledger records it; empty where none does.
    pub base: String,
    /// The keys of the records.
    pub calls: Vec<String>,
}

/// An answer to the wish to reserve money.
#[derive(Debug)]
pub enum Hold {
    /// It is reserved under this number.
    Held(i64),
    /// Other calls under way hold it, and may give it back; the error is for a caller that does not wait.
    Later(ModelError),
}

/// How a call ended for which money was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeOutcome {
    /// It cost this.
    Cost(Usd),
    /// It was not made, or turned down without a bill.
    Nothing,
    /// Nobody knows, so it counts at the most.
    Unknown,
}

/// Pays for the calls of one caller, and says whether that caller may still make any. Its functions may block.
pub trait Payer: Send + Sync {
    /// Whether the caller may make a call now.
    ///
    /// # Errors
    /// [`ModelError::KeyEnded`], or nobody can tell.
    fn check(&self) -> Result<(), ModelError>;

    /// What is left to spend; `None` without a cap.
    ///
    /// # Errors
    /// Nobody can tell.
    fn left(&self) -> Result<Option<Usd>, ModelError>;

    /// Reserves the most that a call can cost.
    ///
    /// # Errors
    /// [`ModelError::OverBudget`], [`ModelError::KeyEnded`], or it cannot be recorded: the call must not be made.
    fn reserve(&self, charge: &Charge) -> Result<Hold, ModelError>;

    /// Ends a reservation.
    fn close(&self, reservation: i64, outcome: ChargeOutcome);
}

/// Money that is reserved. Dropped before the call was sent, it is given back; dropped afterwards, it counts as spent.
pub(crate) struct Charged {
    payer: Arc<dyn Payer>,
    reservation: Option<i64>,
    is_sent: bool,
}

impl Charged {
    /// Reserves the money for a call, and waits where other calls hold it.
    ///
    /// # Cancel safety
    /// Dropping the future reserves nothing.
    pub(crate) async fn reserve(
        payer: &Arc<dyn Payer>,
        most: Usd,
        base: Option<&str>,
    ) -> Result<Self, ModelError> {
        let calls = RECORDED_AS.try_with(Clone::clone).unwrap_or_default();
        let charge = Charge { most, base: base.unwrap_or_default().to_owned(), calls };
        let (began, mut wait) = (Instant::now(), LOOK);
        loop {
            let (payer, charge) = (Arc::clone(payer), charge.clone());
            let attempt = spawn_blocking(move || {
                Ok(match payer.reserve(&charge)? {
                    Hold::Held(number) => {
                        Ok(Self { payer, reservation: Some(number), is_sent: false })
                    }
                    Hold::Later(over) => Err(over),
                })
            });
            match attempt.await.map_err(|error| unrecorded(error.into()))?? {
                Ok(charged) => return Ok(charged),
                Err(over) if PATIENCE < began.elapsed() => return Err(over),
                Err(_) => sleep(wait).await,
            }
            wait = wait.saturating_mul(2).min(LOOK_AT_MOST);
        }
    }

    /// The call goes out now: from here on it may be billed.
    pub(crate) fn sent(mut self) -> Self {
        self.is_sent = true;
        self
    }

    /// The call is over.
    ///
    /// # Cancel safety
    /// Dropping the future settles all the same.
    pub(crate) async fn close(mut self, outcome: ChargeOutcome) {
        let Some(reservation) = self.reservation.take() else { return };
        let payer = Arc::clone(&self.payer);
        // A thread that panicked has left the reservation as it was: it keeps counting.
        let _ = spawn_blocking(move || payer.close(reservation, outcome)).await;
    }
}

impl Drop for Charged {
    fn drop(&mut self) {
        let Some(reservation) = self.reservation.take() else { return };
        let outcome = if self.is_sent { ChargeOutcome::Unknown } else { ChargeOutcome::Nothing };
        self.payer.close(reservation, outcome);
    }
}

/// Money that cannot be put on record is not spent.
fn unrecorded(source: pikerag_knowledge::ports::Cause) -> ModelError {
    let what = "recording what a call costs".to_owned();
    ModelError::Ledger { source: Box::new(StoreError::Failed { what, source }) }
}

/// A chat model that asks before each call whether the caller may still make one, also where the ledger answers.
pub struct OnAccount {
    inner: Arc<dyn ChatModel>,
    payer: Arc<dyn Payer>,
}

impl OnAccount {
    /// The calls of `inner` for a caller whom `payer` knows.
    pub fn new(inner: Arc<dyn ChatModel>, payer: Arc<dyn Payer>) -> Self {
        Self { inner, payer }
    }
}

#[async_trait]
impl ChatModel for OnAccount {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply_tokens(&self) -> Option<u32> {
        self.inner.reply_tokens()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        self.payer.check()?;
        self.inner.complete(request).await
    }

    async fn discard(&self, calls: &[CallRef]) -> Result<(), ModelError> {
        self.inner.discard(calls).await
    }
}

#[cfg(test)]
mod tests;
