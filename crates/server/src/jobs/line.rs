//! Holds the jobs of one base in this process: the parts that it works on, and their files.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pikerag_engine::knowledge::{JobBill, Lease};
use tokio::sync::{Notify, RwLock};
use tokio_util::sync::CancellationToken;

/// The jobs of one base.
pub(crate) struct Line {
    pub(super) base: String,
    /// Notified when a job arrives.
    pub(super) wake: Notify,
    /// Held while it is decided which files a job reads and which files no job may read.
    pub(super) order: tokio::sync::Mutex<()>,
    /// Cancelled when the base has another name or is deleted: no job begins here any more.
    pub(super) closed: CancellationToken,
    /// Read while a part runs, and written while none may.
    pub(super) gate: Arc<RwLock<()>>,
    /// The parts that this process works on, by fence.
    at_work: Mutex<HashMap<u64, AtWork>>,
    /// Whether a part ran since the remaining work was last counted.
    is_uncounted: AtomicBool,
    folders: Mutex<HashMap<u64, Vec<PathBuf>>>,
    /// The bill of each offer that was reported to the terminal.
    offers: Mutex<HashMap<u64, JobBill>>,
}

/// A part that runs.
pub(super) struct AtWork {
    pub(super) job: u64,
    /// The files that it reads; `None` (any file) unless the job names its files.
    pub(super) files: Option<Vec<String>>,
    pub(super) stop: CancellationToken,
}

impl Line {
    pub(super) fn new(base: &str) -> Self {
        Self {
            base: base.to_owned(),
            wake: Notify::new(),
            order: tokio::sync::Mutex::default(),
            closed: CancellationToken::new(),
            gate: Arc::default(),
            at_work: Mutex::default(),
            is_uncounted: AtomicBool::new(true),
            folders: Mutex::default(),
            offers: Mutex::default(),
        }
    }

    /// The folders of jobs of watched folders, by number.
    pub(super) fn folders<T>(&self, with: impl FnOnce(&mut HashMap<u64, Vec<PathBuf>>) -> T) -> T {
        with(&mut self.folders.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether an offer with this bill was not reported to the terminal yet.
    pub(super) fn is_new_offer(&self, id: u64, bill: JobBill) -> bool {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        offers.insert(id, bill) != Some(bill)
    }

    pub(super) fn begin_work(&self, lease: Lease, part: AtWork) {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner).insert(lease.fence, part);
    }

    pub(super) fn end_work(&self, lease: Lease) {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner).remove(&lease.fence);
        self.is_uncounted.store(true, Ordering::Relaxed);
    }

    /// Whether this process works on a job.
    pub(super) fn works_on(&self, job: u64) -> bool {
        let at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        at_work.values().any(|part| part.job == job)
    }

    /// Whether the remaining work must be counted; it counts as counted from now on.
    pub(super) fn take_uncounted(&self) -> bool {
        self.is_uncounted.swap(false, Ordering::Relaxed)
    }

    /// Stops the parts that read one of these files. Returns whether any was stopped.
    pub(super) fn stop_those_at(&self, files: &[String], everywhere: bool) -> bool {
        let at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_stopped = false;
        for part in at_work.values() {
            let reads =
                part.files.as_ref().is_none_or(|own| files.iter().any(|file| own.contains(file)));
            if everywhere || reads {
                part.stop.cancel();
                is_stopped = true;
            }
        }
        is_stopped
    }
}
