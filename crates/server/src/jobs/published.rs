//! Publishes the states of jobs to the requests that follow them.

use std::sync::PoisonError;

use pikerag_engine::knowledge::{JobQuery, JobRecord, Jobs as JobStore, StoreError};
use tokio::sync::watch;
use tracing::warn;

use super::{Job, Jobs};

impl Jobs {
    /// Publishes a job to its followers until it is over.
    pub(super) fn follow(&self, job: &Job) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (job.base.clone(), job.id);
        live.entry(key).or_insert_with(|| watch::channel(job.clone()).0);
    }

    /// Changes the published state of a job.
    pub(super) fn show(&self, base: &str, id: u64, change: impl FnOnce(&mut Job)) {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(job) = live.get(&(base.to_owned(), id)) {
            job.send_modify(change);
        }
    }

    /// Changes the published progress of a job, if it is another one.
    pub(super) fn show_progress(
        &self,
        base: &str,
        id: u64,
        stage: &str,
        (done, total): (usize, usize),
    ) {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(job) = live.get(&(base.to_owned(), id)) else { return };
        job.send_if_modified(|job| {
            let is_new = (job.stage.as_str(), job.done, job.total) != (stage, done, total);
            stage.clone_into(&mut job.stage);
            (job.done, job.total) = (done, total);
            is_new
        });
    }

    /// Stores a job that no worker has taken, and publishes it.
    pub(super) async fn keep(&self, base: &str, store: &dyn JobStore, record: &JobRecord) {
        match store.put_job(record.clone()).await {
            // Its worker publishes it.
            Err(StoreError::LeaseLost { .. }) => return,
            Err(error) => {
                warn!(base, job = record.id, %error, "the state of a job was not stored");
            }
            Ok(_) => {}
        }
        self.publish(base, record);
    }

    /// Publishes a job as the store has it.
    pub(super) async fn reread(&self, base: &str, store: &dyn JobStore, id: u64) {
        match store.jobs(JobQuery::One(id)).await {
            Ok(found) => found.iter().for_each(|record| self.publish(base, record)),
            Err(error) => warn!(base, job = id, %error, "the state of a job could not be read"),
        }
    }

    /// Publishes a job to its followers.
    pub(super) fn publish(&self, base: &str, record: &JobRecord) {
        let job = Job::of(base, record);
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (base.to_owned(), record.id);
        match live.get(&key) {
            Some(held) => held.send_modify(|held| {
                let (stage, done, total) = (std::mem::take(&mut held.stage), held.done, held.total);
                *held =
                    Job { stage, done, total, bill: job.bill.clone().or(held.bill.take()), ..job };
            }),
            None => drop(live.insert(key.clone(), watch::channel(job).0)),
        }
        if record.state.is_over() {
            live.remove(&key);
        }
    }

    /// Whether the published state of a job is that of its record.
    pub(super) fn is_shown(&self, base: &str, record: &JobRecord) -> bool {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.get(&(base.to_owned(), record.id)).is_some_and(|job| {
            let job = job.borrow();
            (job.state, job.attempts) == (record.state, record.attempts)
                && job.reason == record.reason
        })
    }

    /// The jobs of a base that are published.
    pub(super) fn live_of(&self, base: &str) -> Vec<u64> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.keys().filter(|(of, _)| of == base).map(|(_, id)| *id).collect()
    }

    /// Whether somebody follows a job.
    pub(super) fn is_watched(&self, base: &str, id: u64) -> bool {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.get(&(base.to_owned(), id)).is_some_and(|job| 0 < job.receiver_count())
    }

    /// Ends the publication of a job that is gone.
    pub(super) fn forget(&self, base: &str, id: u64) {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&(base.to_owned(), id));
    }
}
