//! Queues records of the ledger for the next transaction.

use std::collections::HashMap;
use std::sync::Mutex;

use pikerag_knowledge::CallRecord;

/// Records that wait for the next transaction. Whoever gets the writer first takes them all along,
/// so a hundred calls in flight cost a few syncs to disk, not a hundred.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) waiting: Mutex<Waiting>,
    pub(super) flushing: Mutex<()>,
    /// Records that are found before they are written, or where they cannot be: nothing is paid twice while this process
    /// runs.
    pub(super) unwritten: Mutex<HashMap<String, CallRecord>>,
    /// Claims that were given up: (holder, key).
    pub(super) released: Mutex<Vec<(u64, String)>>,
}

/// A record, and when the question began that it is of: see [`Base::for_a_question`](super::Base::for_a_question).
pub(super) struct Queued {
    pub(super) call: CallRecord,
    pub(super) began_at: Option<i64>,
}

/// Records that are not written yet.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) records: Vec<Queued>,
    /// Records taken in so far; a caller's record is safe once `written` has passed its number.
    pub(super) taken: u64,
    pub(super) written: u64,
}
