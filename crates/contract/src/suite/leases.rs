//! Tests that a part of a job belongs to one worker, until its lease is released, stopped or runs
//! out.

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pikerag_knowledge::{
    FileMark, JobKind, JobPart, JobPriority, JobQuery, JobRecord, JobState, Lease, LeaseAfter,
    PartsLeft, Share, StopLeases, StoreError, TakenJob, Taking,
};

use super::jobs::{job, names};
use crate::{Shelf, Store};

/// Long enough for any test.
const LONG: Duration = Duration::from_hours(1);

pub async fn a_job_belongs_to_one_worker(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let id = added(base, job(JobState::Waiting, 0), &["b.md", "a.md"]).await;
    let taken = take(base, "one", Share::Whole).await.unwrap();
    assert_eq!((taken.job.id, taken.part, taken.is_left), (id, JobPart::Whole, false));
    assert_eq!(files_of(&taken), ["a.md", "b.md"]);
    assert_eq!(take(base, "two", Share::Whole).await, None);
    assert_eq!(take(base, "two", files(3)).await, None);
    base.renew_lease(taken.lease, LONG).await.unwrap();
    // Nobody else changes it.
    assert!(is_lost(&base.put_job(taken.job.clone()).await));
    let done = names(&["a.md"]);
    let (record, left) = change(base, taken.lease, (done, FileMark::Done), LeaseAfter::Held).await;
    assert_eq!((record.state, left.files, left.leases), (JobState::Running, 1, 0));
    let (_, left) = change(base, taken.lease, none(), LeaseAfter::Released).await;
    assert_eq!(left.files, 1);
    assert!(is_lost(&base.renew_lease(taken.lease, LONG).await));
    // It is running, and nobody has it: its process ended.
    let again = take(base, "two", Share::Whole).await.unwrap();
    assert!(again.is_left && taken.lease.fence < again.lease.fence);
    assert_eq!(files_of(&again), ["b.md"]);
    base.release_lease(again.lease).await.unwrap();
    base.release_lease(again.lease).await.unwrap();
    let record = JobRecord { state: JobState::Done, ..again.job };
    assert!(base.put_job(record).await.unwrap());
    assert_eq!(take(base, "two", Share::Whole).await, None);
}

pub async fn files_of_a_job_are_shared_by_workers(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let id = added(base, job(JobState::Waiting, 0), &["a.md", "b.md", "c.md", "d.md"]).await;
    base.mark_job_files(id, names(&["a.md"]), FileMark::Begun).await.unwrap();
    let one = take(base, "one", files(2)).await.unwrap();
    let two = take(base, "two", files(2)).await.unwrap();
    // The file that ended a process comes last, and alone.
    assert_eq!((files_of(&one), files_of(&two)), (names(&["b.md", "c.md"]), names(&["d.md"])));
    let three = take(base, "three", files(2)).await.unwrap();
    assert_eq!((files_of(&three), three.part), (names(&["a.md"]), JobPart::Files));
    assert_eq!(take(base, "four", files(2)).await, None);
    // A lease marks its own files only.
    let others = (names(&["d.md", "b.md", "c.md"]), FileMark::Done);
    let (_, left) = change(base, one.lease, others, LeaseAfter::Released).await;
    assert_eq!(left, PartsLeft { files: 2, leases: 2, has_next: false });
    let own = (names(&["d.md"]), FileMark::Done);
    change(base, two.lease, own, LeaseAfter::Released).await;
    // The rest of the base waits for the last file.
    assert_eq!(take(base, "one", files(2)).await, None);
    let own = (names(&["a.md"]), FileMark::Done);
    let (_, left) = change(base, three.lease, own, LeaseAfter::Released).await;
    assert_eq!(left, PartsLeft::default());
    let rest = take(base, "one", files(2)).await.unwrap();
    assert_eq!((rest.part, rest.job.id, rest.is_left), (JobPart::Rest, id, false));
    let next = added(base, job(JobState::Waiting, 0), &["e.md"]).await;
    assert_eq!(take(base, "two", files(2)).await, None);
    let (_, left) = change(base, rest.lease, none(), LeaseAfter::Held).await;
    assert!(left.has_next);
    end(base, rest.lease).await;
    assert_eq!(take(base, "two", files(2)).await.unwrap().job.id, next);
}

pub async fn a_lease_that_ran_out_is_taken_again(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    added(base, job(JobState::Waiting, 0), &["a.md", "b.md", "c.md"]).await;
    let taking = Taking { holds: Duration::ZERO, ..taking("one", files(2)) };
    let lost = base.take_job(taking).await.unwrap().unwrap();
    // Until then, its worker may still change it.
    let begun = (names(&["a.md"]), FileMark::Begun);
    change(base, lost.lease, begun, LeaseAfter::Held).await;
    let again = take(base, "two", files(1)).await.unwrap();
    assert!(again.is_left && lost.lease.fence < again.lease.fence);
    let attempts: Vec<u32> = again.files.iter().map(|file| file.attempts).collect();
    assert_eq!((files_of(&again), attempts), (names(&["a.md", "b.md"]), vec![1, 0]));
    assert!(is_lost(&base.renew_lease(lost.lease, LONG).await));
    let done = (names(&["a.md"]), FileMark::Done);
    let changed = base.change_job(lost.lease, done, LeaseAfter::Held, Box::new(|_, _| ())).await;
    assert!(is_lost(&changed));
    base.release_lease(lost.lease).await.unwrap();
    base.renew_lease(again.lease, LONG).await.unwrap();
    assert_eq!(files_of(&take(base, "one", files(2)).await.unwrap()), ["c.md"]);
}

pub async fn jobs_are_taken_by_priority_and_age(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let of = |kind, priority| JobRecord { kind, priority, ..job(JobState::Waiting, 0) };
    let all = added(base, of(JobKind::Complete, JobPriority::Last), &[]).await;
    let usual = added(base, of(JobKind::Index, JobPriority::Usual), &["a.md"]).await;
    let soon = added(base, of(JobKind::Index, JobPriority::Soon), &["b.md"]).await;
    added(base, job(JobState::Offered, 0), &["c.md"]).await;
    let later = base.clock().await.unwrap() + 3_600_000;
    added(base, job(JobState::Waiting, later), &["d.md"]).await;
    let theirs = JobRecord { worker: Some("nobody".to_owned()), ..job(JobState::Waiting, 0) };
    added(base, theirs, &["e.md"]).await;
    let mut order = Vec::new();
    while let Some(taken) = take(base, "one", files(1)).await {
        order.push((taken.job.id, taken.part));
        match taken.part {
            // Its rest is left to the next job.
            JobPart::Files => {
                let read = (files_of(&taken), FileMark::Done);
                base.change_job(taken.lease, read, LeaseAfter::Released, Box::new(ended))
                    .await
                    .unwrap();
            }
            _ => end(base, taken.lease).await,
        }
    }
    let files = JobPart::Files;
    assert_eq!(order, [(soon, files), (usual, files), (all, JobPart::Whole)]);
}

pub async fn stopped_jobs_are_put_back_and_held(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let id = added(base, job(JobState::Waiting, 0), &["a.md", "b.md", "c.md"]).await;
    let holder = || taking("deleter", files(1));
    let stop = async |file: &str, stopped| {
        base.stop_jobs(names(&[file]), stopped, holder()).await.unwrap()
    };
    // Nobody reads it yet.
    assert_eq!(stop("x.md", StopLeases::All).await, None);
    let one = take(base, "one", files(2)).await.unwrap();
    let two = take(base, "two", files(2)).await.unwrap();
    change(base, one.lease, (names(&["a.md", "b.md"]), FileMark::Begun), LeaseAfter::Held).await;
    let hold = stop("a.md", StopLeases::Readers).await.unwrap();
    assert!(is_lost(&base.renew_lease(one.lease, LONG).await));
    base.renew_lease(two.lease, LONG).await.unwrap();
    assert_eq!(take(base, "one", files(2)).await, None);
    base.renew_lease(hold, LONG).await.unwrap();
    base.release_lease(hold).await.unwrap();
    let again = take(base, "one", files(2)).await.unwrap();
    assert_eq!((files_of(&again), again.files[0].attempts), (names(&["b.md"]), 0));
    let hold = stop("x.md", StopLeases::All).await.unwrap();
    assert!(is_lost(&base.renew_lease(again.lease, LONG).await));
    assert!(is_lost(&base.renew_lease(two.lease, LONG).await));
    base.release_lease(hold).await.unwrap();
    // As if the attempt had not begun.
    let record = base.jobs(JobQuery::One(id)).await.unwrap().pop().unwrap();
    assert_eq!((record.state, record.attempts), (JobState::Waiting, 1));
    assert_eq!(files_of(&take(base, "one", files(9)).await.unwrap()), ["b.md", "c.md"]);
}

async fn added(base: &impl Store, job: JobRecord, files: &[&str]) -> u64 {
    base.add_job(job, names(files)).await.unwrap()
}

fn files(most: usize) -> Share {
    Share::Files(NonZeroUsize::new(most).unwrap())
}

fn taking(worker: &str, share: Share) -> Taking {
    Taking { worker: worker.to_owned(), holds: LONG, share }
}

async fn take(base: &impl Store, worker: &str, share: Share) -> Option<TakenJob> {
    base.take_job(taking(worker, share)).await.unwrap()
}

fn files_of(taken: &TakenJob) -> Vec<String> {
    taken.files.iter().map(|file| file.file.clone()).collect()
}

fn none() -> (Vec<String>, FileMark) {
    (Vec::new(), FileMark::Done)
}

/// Changes a job to running, with one more attempt; returns it and the rest of the work.
async fn change(
    base: &impl Store,
    lease: Lease,
    marks: (Vec<String>, FileMark),
    after: LeaseAfter,
) -> (JobRecord, PartsLeft) {
    let left = Arc::new(OnceLock::new());
    let seen = Arc::clone(&left);
    let change = move |job: &mut JobRecord, left| {
        if job.state == JobState::Waiting {
            (job.state, job.attempts) = (JobState::Running, job.attempts + 1);
        }
        seen.set(left).unwrap();
    };
    let record = base.change_job(lease, marks, after, Box::new(change)).await.unwrap();
    assert_eq!(base.jobs(JobQuery::One(lease.job)).await.unwrap(), std::slice::from_ref(&record));
    (record, *left.get().unwrap())
}

fn ended(job: &mut JobRecord, _: PartsLeft) {
    job.state = JobState::Done;
}

async fn end(base: &impl Store, lease: Lease) {
    base.change_job(lease, none(), LeaseAfter::Released, Box::new(ended)).await.unwrap();
}

fn is_lost<T>(done: &Result<T, StoreError>) -> bool {
    matches!(done, Err(StoreError::LeaseLost { .. }))
}
