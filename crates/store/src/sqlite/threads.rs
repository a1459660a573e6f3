//! Gives reads, writes and held states separate places, so that none waits for the places of
//! another.

use std::cell::Cell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use pikerag_knowledge::StoreError;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};
use tokio::task::coop::consume_budget;
use tracing::{Instrument, Span};

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
/// Questions and searches that have a thread of their own at a time.
pub(super) const MOST_THREADS: usize = 128;
static THREADS: Semaphore = Semaphore::const_new(MOST_THREADS);

thread_local! {
    /// Whether this thread belongs to one question, so that it may read by itself.
    static IS_OWN: Cell<bool> = const { Cell::new(false) };
}

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

/// Runs a future on a thread of its own, where it reads bases without a change of threads: a
/// question reads hundreds of times, and each change of threads takes as long as a short read. At
/// most 128 futures run so at a time in this process, and further ones wait. A future that already
/// runs so goes on where it is.
///
/// Each future has one of the runtime's threads for blocking work, and waits for others of them when
/// it writes. A runtime needs more of them than futures that run so at a time.
///
/// # Errors
/// The future panicked.
///
/// # Cancel safety
/// The future is dropped soon after this one is: when it next waits, at the latest after 128 reads.
pub async fn on_one_thread<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> Result<T, StoreError> {
    const WHAT: &str = "running a question on a thread of its own";
    if IS_OWN.get() {
        return Ok(future.await);
    }
    let place = THREADS.acquire().await.context(WHAT)?;
    let (caller, gone) = oneshot::channel::<()>();
    let (runtime, future) = (Handle::current(), future.instrument(Span::current()));
    let run = async {
        tokio::select! {
            biased;
            // Nothing is sent: this ends when the caller is dropped.
            _ = gone => None,
            done = future => Some(done),
        }
    };
    let done = tokio::task::spawn_blocking(move || {
        let _place = place;
        // The pool uses the thread again for other work, also after a panic.
        let _own = Own::begin();
        runtime.block_on(run)
    });
    let done = done.await.context(WHAT)?;
    drop(caller);
    done.ok_or_else(|| StoreError::Missing { what: WHAT.to_owned() })
}

/// Marks this thread as one question's, until dropped.
struct Own;

impl Own {
    fn begin() -> Self {
        IS_OWN.set(true);
        Self
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        IS_OWN.set(false);
    }
}

/// Reads a base on another thread, in a future of [`on_one_thread`] on this one.
pub(super) async fn reading<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    if IS_OWN.get() {
        let _place = READS.acquire().await.context(what)?;
        return work();
    }
    on_a_thread(&READS, what, work).await
}

/// As [`reading`], for a held state: it has a place already.
pub(super) async fn reading_held<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    if IS_OWN.get() {
        // Else a question that only reads would not notice that its caller has gone.
        consume_budget().await;
        return work();
    }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    #[tokio::test]
    async fn a_question_reads_on_its_own_thread_and_writes_on_others() {
        let own = || async { Ok::<_, StoreError>(thread::current().id()) };
        let threads = on_one_thread(async move {
            let id = || Ok(thread::current().id());
            let nested = on_one_thread(own()).await??;
            Ok::<_, StoreError>((
                thread::current().id(),
                nested,
                reading("reading", id).await?,
                writing("writing", id).await?,
            ))
        });
        let (one, nested, read, written) = threads.await.unwrap().unwrap();
        assert_eq!((one, one), (nested, read));
        assert_ne!(one, written);
        // The threads of the pool are free for others afterwards.
        let reads = (0..4).map(|_| reading("reading", || Ok(IS_OWN.get())));
        for is_own in futures::future::join_all(reads).await {
            assert!(!is_own.unwrap());
        }
    }

    /// Reports that it was dropped.
    struct Guard(Option<oneshot::Sender<()>>);

    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.take().unwrap().send(()).unwrap();
        }
    }

    #[tokio::test]
    async fn a_question_ends_with_its_caller() {
        let (began, begun) = oneshot::channel();
        let (ended, end) = oneshot::channel();
        let guard = Guard(Some(ended));
        let question = on_one_thread(async move {
            let _guard = guard;
            began.send(()).unwrap();
            std::future::pending::<()>().await;
        });
        tokio::select! {
            _ = question => panic!("it never ends by itself"),
            begun = begun => begun.unwrap(),
        }
        end.await.unwrap();
        let failed = on_one_thread(async { panic!("a question") }).await;
        assert!(failed.is_err());
    }
    #[tokio::test]
    async fn a_question_that_only_reads_ends_with_its_caller() {
        let (began, begun) = oneshot::channel();
        let (ended, end) = oneshot::channel();
        let (guard, has_read_all) = (Guard(Some(ended)), Arc::new(AtomicBool::new(false)));
        let read_all = Arc::clone(&has_read_all);
        let question = on_one_thread(async move {
            let _guard = guard;
            began.send(()).unwrap();
            let start = Instant::now();
            while start.elapsed() < Duration::from_secs(20) {
                reading_held("reading", || Ok(())).await.unwrap();
            }
            read_all.store(true, Ordering::Release);
        });
        tokio::select! {
            _ = question => panic!("it ended before its caller"),
            begun = begun => begun.unwrap(),
        }
        end.await.unwrap();
        assert!(!has_read_all.load(Ordering::Acquire));
    }
}
