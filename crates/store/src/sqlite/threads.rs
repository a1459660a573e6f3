//! Keeps reads, writes and states that questions hold apart: none of them waits for the places of another.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use pikerag_knowledge::StoreError;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::Context;

/// Reads that are on a thread at a time: they wait for a disk, and for nobody.
static READS: LazyLock<Semaphore> = LazyLock::new(|| {
    Semaphore::new(4 * std::thread::available_parallelism().map_or(2, usize::from))
});
/// Writes that are on a thread at a time: all but one of them wait for the writer, perhaps another process's.
static WRITES: Semaphore = Semaphore::const_new(32);
/// States that are held at a time in this process, over all bases: each has a connection, which has two descriptors.
const STATES: usize = 160;
static HELD: Semaphore = Semaphore::const_new(STATES);
static HELD_AT_MOST: AtomicUsize = AtomicUsize::new(STATES);

/// Lets questions and searches of this process hold so many states of bases at a time, from 4 to 160; how many it is then. A
/// bound that was set before is not raised.
pub fn hold_at_most(states: usize) -> usize {
    let states = states.max(4);
    let before = HELD_AT_MOST.fetch_min(states, Ordering::AcqRel);
    HELD.forget_permits(before.saturating_sub(states));
    before.min(states)
}

/// States that are held now, of all bases.
pub(super) fn n_held() -> usize {
    HELD_AT_MOST.load(Ordering::Acquire).saturating_sub(HELD.available_permits())
}

/// The place of a state that is held.
pub(super) type Place = SemaphorePermit<'static>;

/// Waits for the place of a state that is to be held.
pub(super) async fn place() -> Result<Place, StoreError> {
    HELD.acquire().await.context("waiting for a state of the base")
}

pub(super) async fn reading<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    on_a_thread(&READS, what, work).await
}

pub(super) async fn writing<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    on_a_thread(&WRITES, what, work).await
}

/// The place is held as long as the work goes on, whether or not somebody still waits for it.
async fn on_a_thread<T: Send + 'static>(
    places: &'static Semaphore,
    what: &'static str,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let place = places.acquire().await.context(what)?;
    let done = tokio::task::spawn_blocking(move || {
        let _place = place;
        work()
    });
    done.await.context(what)?
}
