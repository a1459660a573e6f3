//! Lets one of several processes make a call: the one that claims it in the ledger. The others wait
//! for its reply, or take over if the claim is given up or expires.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use pikerag_knowledge::{Claim, Ledger, StoreError};
use tokio::time::sleep;

/// How often a claim is renewed while its call runs; a claim is valid for at least twice as long.
const RENEW: Duration = Duration::from_secs(15);
/// The first and the longest wait before checking again for another process's reply.
const POLL: Duration = Duration::from_millis(25);
const LONGEST_POLL: Duration = Duration::from_millis(400);

/// The claims that we hold; dropping them releases those whose replies were not kept.
pub(super) struct Held<'a> {
    ledger: &'a dyn Ledger,
    holder: u64,
    keys: Vec<String>,
}

/// Claims these calls; returns those that we must make, in order, and whether all others are on
/// record.
///
/// # Cancel safety
/// Dropping the future releases all claims, including those still being made.
pub(super) async fn claim<'a>(
    ledger: &'a dyn Ledger,
    keys: &[String],
) -> Result<(Held<'a>, bool), StoreError> {
    // A holder of its own for each call: the standard library seeds it from the system, differently
    // each time.
    let holder = RandomState::new().hash_one(std::process::id());
    let mut held = Held { ledger, holder, keys: keys.to_vec() };
    let claims = ledger.claim_all(holder, keys).await?;
    let is_waited_for = claims.contains(&Claim::Theirs);
    let mut claims = claims.into_iter();
    held.keys.retain(|_| claims.next() == Some(Claim::Ours));
    Ok((held, !is_waited_for))
}

impl Held<'_> {
    /// The calls that we must make.
    pub(super) fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Runs the work under these claims, and renews them meanwhile.
    pub(super) async fn during<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = sleep(RENEW) => {
                    if let Err(error) = self.ledger.claim_all(self.holder, &self.keys).await {
                        tracing::warn!(%error, "a claim could not be renewed; another process may make the same call");
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

    /// Their replies are kept, which ended the claims.
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
pub(super) struct PollDelay(u32);

impl PollDelay {
    pub(super) async fn wait(&mut self) {
        sleep(POLL.saturating_mul(1 << self.0.min(5)).min(LONGEST_POLL)).await;
        self.0 += 1;
    }
}
