//! Who makes a call, where several could? Whoever claims it in the ledger; the others wait for its reply, or take over
//! when the claim is given up or no longer believed.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use pikerag_knowledge::{Claim, Ledger, StoreError};
use tokio::time::sleep;

/// How often a claim is renewed while its call is under way; a ledger believes it at least twice as long.
const RENEW: Duration = Duration::from_secs(15);
/// The first and the longest wait before looking again for another's reply.
const LOOK: Duration = Duration::from_millis(25);
const LOOK_AT_MOST: Duration = Duration::from_millis(400);

/// Claims that are held; dropping it releases those whose replies were not kept.
pub(super) struct Held<'a> {
    ledger: &'a dyn Ledger,
    holder: u64,
    keys: Vec<String>,
}

/// Claims these calls: which of them are ours to make, in order, and whether all others are on record.
///
/// # Cancel safety
/// Dropping the future gives up what it has claimed by then, or would have.
pub(super) async fn claim<'a>(
    ledger: &'a dyn Ledger,
    keys: &[String],
) -> Result<(Held<'a>, bool), StoreError> {
    // A holder of its own for each: the standard library seeds it from the system, and each time otherwise.
    let holder = RandomState::new().hash_one(std::process::id());
    let mut held = Held { ledger, holder, keys: keys.to_vec() };
    let claims = ledger.claim_all(holder, keys).await?;
    let is_waited_for = claims.contains(&Claim::Theirs);
    let mut claims = claims.into_iter();
    held.keys.retain(|_| claims.next() == Some(Claim::Ours));
    Ok((held, !is_waited_for))
}

impl Held<'_> {
    /// The calls that are ours to make.
    pub(super) fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Does the work under these claims, which are renewed meanwhile.
    pub(super) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = sleep(RENEW) => {
                    if let Err(error) = self.ledger.claim_all(self.holder, &self.keys).await {
                        tracing::warn!(%error, "a claim is not renewed; another process may make its call too");
                    }
                }
            }
        }
    }

    /// Releases all of them at once: their calls have failed.
    pub(super) async fn give_up(mut self) -> Result<(), StoreError> {
        self.ledger.release(self.holder, &std::mem::take(&mut self.keys));
        self.ledger.claim_all(self.holder, &[]).await.map(drop)
    }

    /// Their replies are kept, and the claims with that ended.
    pub(super) fn kept(mut self) {
        self.keys.clear();
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if !self.keys.is_empty() {
            self.ledger.release(self.holder, &self.keys);
        }
    }
}

/// Waits a little longer each time.
#[derive(Default)]
pub(super) struct Patience(u32);

impl Patience {
    pub(super) async fn wait(&mut self) {
        sleep(LOOK.saturating_mul(1 << self.0.min(5)).min(LOOK_AT_MOST)).await;
        self.0 += 1;
    }
}
