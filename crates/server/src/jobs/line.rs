//! Holds the jobs of one base in order: which is at work, and on which files.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pikerag_engine::knowledge::JobBill;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The jobs of one base.
pub(super) struct Line {
    pub(super) base: String,
    /// Told when a job came.
    pub(super) wake: Notify,
    /// Held while it is decided which files a job reads, and which none may read any more.
    pub(super) order: tokio::sync::Mutex<()>,
    /// Held while a job is at work, and while nothing may be.
    pub(super) gate: Arc<tokio::sync::Mutex<()>>,
    at_work: Mutex<Option<AtWork>>,
    folders: Mutex<HashMap<u64, Vec<PathBuf>>>,
    /// The bill of each offer that the terminal was told of.
    offers: Mutex<HashMap<u64, JobBill>>,
}

/// The job that is at work.
pub(super) struct AtWork {
    /// Files that it reads; of other jobs than those of named files, `None`: any.
    pub(super) files: Option<Vec<String>>,
    pub(super) stop: CancellationToken,
}

impl Line {
    pub(super) fn new(base: &str) -> Self {
        Self {
            base: base.to_owned(),
            wake: Notify::new(),
            order: tokio::sync::Mutex::default(),
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

    /// Whether the terminal was not told yet of an offer with this bill.
    pub(super) fn is_new_offer(&self, id: u64, bill: JobBill) -> bool {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        offers.insert(id, bill) != Some(bill)
    }

    pub(super) fn set_at_work(&self, job: Option<AtWork>) {
        *self.at_work.lock().unwrap_or_else(PoisonError::into_inner) = job;
    }

    /// Stops the job that is at work on any of these files; whether there is one.
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
