//! Gives reads, writes and held states separate places, so that none waits for the places of
//! another.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use pikerag_knowledge::StoreError;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::Context;

/// Reads that run at a time, for each processor; they wait for a disk, and for nobody.
pub(super) const READS_PER_PROCESSOR: usize = 4;
static READS: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    Semaphore::new(READS_PER_PROCESSOR * processors)
});
/// Writes that run at a time: all but one of them wait for the writer, perhaps another process's.
pub(super) const MOST_WRITES: usize = 32;
static WRITES: Semaphore = Semaphore::const_new(MOST_WRITES);
/// States that are held at a time in this process, over all bases: each has a connection, which has
/// two descriptors.
pub(super) const STATES: usize = 160;
/// The fewest states that [`hold_at_most`] allows.
pub(super) const FEWEST_STATES: usize = 4;
static HELD: Semaphore = Semaphore::const_new(STATES);
static HELD_AT_MOST: AtomicUsize = AtomicUsize::new(STATES);

/// Limits the states that questions and searches of this process hold at a time, from 4 to 160.
/// Returns the limit that now holds; a call never raises an earlier limit.
pub fn hold_at_most(states: usize) -> usize {
    let states = states.max(FEWEST_STATES);
    let before = HELD_AT_MOST.fetch_min(states, Ordering::AcqRel);
    HELD.forget_permits(before.saturating_sub(states));
    before.min(states)
}

/// States that are held now, of all bases.
pub(super) fn n_held() -> usize {
    HELD_AT_MOST.load(Ordering::Acquire).saturating_sub(HELD.available_permits())
}

/// The place of a held state.
pub(super) type Place = SemaphorePermit<'static>;

/// Waits for the place of a state.
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

/// Holds the place as long as the work runs, whether or not a caller still waits for it.
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
