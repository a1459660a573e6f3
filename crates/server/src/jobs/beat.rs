//! Renews the lease of a part while it runs.

use std::sync::Arc;
use std::time::Duration;

use pikerag_engine::knowledge::{Jobs as JobStore, Lease, Share, StoreError};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// The renewals in the time until a lease runs out.
const RENEWALS: u32 = 3;

/// Renews a lease until it is lost: another worker has taken the part, or it was stopped. In a shared
/// store, it is also lost when the store was out of reach until it ran out: another worker may have
/// the part. A folder may be busy for longer.
pub(super) async fn renew(
    store: Arc<dyn JobStore>,
    lease: Lease,
    (holds, share): (Duration, Share),
    lost: CancellationToken,
) {
    let mut renewed = Instant::now();
    loop {
        sleep(holds / RENEWALS).await;
        let began = Instant::now();
        match timeout(holds, store.renew_lease(lease, holds)).await {
            Ok(Ok(())) => renewed = began,
            Ok(Err(StoreError::LeaseLost { .. })) => break,
            Ok(Err(error)) => warn!(job = lease.job, %error, "a lease was not renewed"),
            Err(_) => warn!(job = lease.job, "a lease was not renewed in time"),
        }
        if share != Share::Whole && holds <= renewed.elapsed() {
            break;
        }
    }
    lost.cancel();
}
