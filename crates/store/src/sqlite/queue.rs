//! Queues records of the ledger for the next transaction.

use std::collections::HashMap;
use std::sync::Mutex;

use pikerag_knowledge::CallRecord;

/// Records for the next transaction. The first thread that gets the writer writes all of them, so a
/// hundred calls in flight cost a few disk syncs, not a hundred.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) pending: Mutex<Pending>,
    pub(super) flushing: Mutex<()>,
    /// Records that are found before they are written, or that cannot be written. Nothing is paid
    /// twice while this process runs.
    pub(super) unwritten: Mutex<HashMap<String, CallRecord>>,
    /// Released claims: (holder, key).
    pub(super) released: Mutex<Vec<(u64, String)>>,
}

/// A record, and the number of forget operations when its question began: see
/// [`Base::for_a_question`](super::Base::for_a_question).
pub(super) struct Queued {
    pub(super) call: CallRecord,
    pub(super) began_at: Option<i64>,
}

/// Records that are not written yet.
#[derive(Default)]
pub(super) struct Pending {
    pub(super) records: Vec<Queued>,
    /// Records taken in so far; a caller's record is safe once `written` has passed its number.
    pub(super) taken: u64,
    pub(super) written: u64,
}
