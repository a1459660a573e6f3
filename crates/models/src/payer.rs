//! Charges calls to a payer: reserves the highest possible cost of a call before it is sent, and
//! settles it when it is answered.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use pikerag_knowledge::{CallRef, ChatModel, ChatReply, ChatRequest, ModelError, StoreError};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use crate::meter::Usd;

/// How long a call waits for the money that other running calls hold.
const PATIENCE: Duration = Duration::from_mins(2);
/// The first and the longest wait before money is requested again.
const POLL: Duration = Duration::from_millis(25);
const LONGEST_POLL: Duration = Duration::from_millis(400);

tokio::task_local! {
    /// The keys under which the ledger will record the current call.
    static RECORDED_AS: Vec<String>;
}

/// Makes a call that the ledger will record under these keys.
pub(crate) async fn recorded_as<T>(keys: Vec<String>, call: impl Future<Output = T>) -> T {
    RECORDED_AS.scope(keys, call).await
}

/// A call before it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Its highest possible cost; zero if no price is known.
    pub most: Usd,
    /// The name of the base whose ledger records it; empty without one.
    pub base: String,
    /// The keys of the records.
    pub calls: Vec<String>,
}

/// The reply to a request for a reservation.
#[derive(Debug)]
pub enum Hold {
    /// The money is reserved under this number.
    Held(i64),
    /// Other running calls hold it, and may give it back; the error is for callers that do not
    /// wait.
    Later(ModelError),
}

/// The end of a call for which money was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeOutcome {
    /// It had this cost.
    Cost(Usd),
    /// It was not made, or refused without a bill.
    Nothing,
    /// The outcome is unknown, so it counts at its highest possible cost.
    Unknown,
}

/// Pays for the calls of one caller, and decides whether that caller may still make any. Its
/// functions may block.
pub trait Payer: Send + Sync {
    /// Whether the caller may make a call now.
    ///
    /// # Errors
    /// [`ModelError::KeyEnded`], or the state cannot be read.
    fn check(&self) -> Result<(), ModelError>;

    /// The remaining money; `None` without a cap.
    ///
    /// # Errors
    /// The state cannot be read.
    fn left(&self) -> Result<Option<Usd>, ModelError>;

    /// Reserves the highest possible cost of a call.
    ///
    /// # Errors
    /// [`ModelError::OverBudget`], [`ModelError::KeyEnded`], or it cannot be recorded: the call
    /// must not be made.
    fn reserve(&self, charge: &Charge) -> Result<Hold, ModelError>;

    /// Ends a reservation.
    fn close(&self, reservation: i64, outcome: ChargeOutcome);
}

/// A reservation. Dropped before the call was sent, it is given back; dropped afterwards, it counts
/// as spent.
pub(crate) struct Charged {
    payer: Arc<dyn Payer>,
    reservation: Option<i64>,
    is_sent: bool,
}

impl Charged {
    /// Reserves the money for a call, and waits while other calls hold it.
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
        let (began, mut wait) = (Instant::now(), POLL);
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
            wait = wait.saturating_mul(2).min(LONGEST_POLL);
        }
    }

    /// Marks the call as sent: from here on it may be billed.
    pub(crate) fn sent(mut self) -> Self {
        self.is_sent = true;
        self
    }

    /// Settles the reservation of a finished call.
    ///
    /// # Cancel safety
    /// Dropping the future does not stop the settlement.
    pub(crate) async fn close(mut self, outcome: ChargeOutcome) {
        let Some(reservation) = self.reservation.take() else { return };
        let payer = Arc::clone(&self.payer);
        // If the thread panicked, the reservation is unchanged and still counts.
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

/// The error if the cost of a call cannot be recorded: then the call must not be made.
fn unrecorded(source: pikerag_knowledge::ports::Cause) -> ModelError {
    let what = "recording the cost of a call".to_owned();
    ModelError::Ledger { source: Box::new(StoreError::Failed { what, source }) }
}

/// A chat model that checks before each call, including replayed ones, whether the caller may make
/// it.
pub struct OnAccount {
    inner: Arc<dyn ChatModel>,
    payer: Arc<dyn Payer>,
}

impl OnAccount {
    /// The calls of `inner` for the caller of `payer`.
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
