//! Holds the jobs of one base in order: the running job and the files that it reads.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pikerag_engine::knowledge::JobBill;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The queue of one base.
pub(super) struct Line {
    pub(super) base: String,
    /// Notified when a job arrives.
    pub(super) wake: Notify,
    /// Held while it is decided which files a job reads and which files no job may read.
    pub(super) order: tokio::sync::Mutex<()>,
    /// Cancelled when the base has another name or is deleted: no job begins here any more.
    pub(super) closed: CancellationToken,
    /// Held while a job runs, and while none may.
    pub(super) gate: Arc<tokio::sync::Mutex<()>>,
    at_work: Mutex<Option<AtWork>>,
    folders: Mutex<HashMap<u64, Vec<PathBuf>>>,
    /// The bill of each offer that was reported to the terminal.
    offers: Mutex<HashMap<u64, JobBill>>,
}

/// The running job.
pub(super) struct AtWork {
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

    pub(super) fn set_at_work(&self, job: Option<AtWork>) {
        *self.at_work.lock().unwrap_or_else(PoisonError::into_inner) = job;
    }

    /// Stops the running job if it reads one of these files. Returns whether it was stopped.
    pub(super) fn stop_those_at(&self, files: &[String], everywhere: bool) -> bool {
        let at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(job) = &*at_work else { return false };
        let reads =
            job.files.as_ref().is_none_or(|own| files.iter().any(|file| own.contains(file)));
        if everywhere || reads {
            job.stop.cancel();
        }
        everywhere || reads
    }
}
