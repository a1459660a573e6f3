//! Tests that workers of several processes take the jobs of a database one after the other, and that
//! a worker without its lease writes nothing.

use std::num::NonZeroUsize;
use std::time::Duration;

use pikerag_knowledge::{
    CallOrigin, CallRecord, CorpusWriter, FileMark, FileRecord, JobKind, JobPriority, JobRecord,
    JobState, Jobs, Lease, LeaseAfter, Ledger, Share, StopLeases, StoreError, Taking, Usage, Which,
};
use pikerag_postgres::Base;

use super::server::{Fresh, documents};

pub(super) fn job() -> JobRecord {
    JobRecord {
        id: 0,
        kind: JobKind::Index,
        state: JobState::Waiting,
        key: None,
        cap_usd: None,
        setup: String::new(),
        bill: None,
        priority: JobPriority::Usual,
        worker: None,
        retry_refused: false,
        attempts: 0,
        reason: None,
        added: 0,
        started: None,
        ended: None,
        due: 0,
        outcome: None,
    }
}

fn taking(holds: Duration) -> Taking {
    let share = Share::Files(NonZeroUsize::MIN);
    Taking { worker: "worker".to_owned(), holds, share }
}

async fn put(base: &Base, path: &str) -> Result<(), StoreError> {
    let text = "The crane lifts nine tons.";
    let hash = blake3::hash(path.as_bytes()).to_hex().to_string();
    let file = FileRecord { path: path.to_owned(), hash, recipe: "r".to_owned() };
    base.put_file(&file, documents(path, text)).await.map(drop)
}

async fn done(base: &Base, lease: Lease, file: &str) {
    let marks = (vec![file.to_owned()], FileMark::Done);
    let end = |job: &mut JobRecord, _| job.state = JobState::Done;
    base.change_job(lease, marks, LeaseAfter::Released, Box::new(end)).await.unwrap();
}

fn call(key: &str) -> CallRecord {
    CallRecord {
        key: key.to_owned(),
        role: "atomize".to_owned(),
        model: "m".to_owned(),
        request: "{}".to_owned(),
        reply: "{}".to_owned(),
        usage: Usage::default(),
        unusable: false,
        origin: CallOrigin::default(),
    }
}

/// Files, results and deletions are refused; paid replies are kept.
#[tokio::test]
async fn a_worker_without_its_lease_writes_nothing() {
    let Some(fresh) = Fresh::new().await else { return };
    let other = fresh.other().await;
    let base = &fresh.base;
    base.add_job(job(), vec!["a.md".to_owned()]).await.unwrap();
    let lost = base.take_job(taking(Duration::ZERO)).await.unwrap().unwrap().lease;
    put(&base.leased(lost), "a.md").await.unwrap();
    let again = other.take_job(taking(Duration::from_mins(1))).await.unwrap().unwrap().lease;
    let refused = put(&base.leased(lost), "b.md").await;
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    let refused = base.leased(lost).delete_file("a.md").await;
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    base.leased(lost).keep_all(vec![call("paid")]).await.unwrap();
    assert!(other.latest("paid").await.unwrap().is_some());
    put(&other.leased(again), "c.md").await.unwrap();
    // A deletion stops the worker.
    let hold = base.stop_jobs(vec!["a.md".to_owned()], StopLeases::Readers, taking(Duration::ZERO));
    assert!(hold.await.unwrap().is_some());
    assert!(put(&other.leased(again), "d.md").await.is_err());
    let files = base.files(Which::All).await.unwrap();
    let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(names, ["a.md", "c.md"]);
    fresh.remove().await;
}

/// A call may be in flight elsewhere when its text is forgotten.
#[tokio::test]
async fn a_stopped_worker_keeps_no_reply_about_forgotten_text() {
    let Some(fresh) = Fresh::new().await else { return };
    let other = fresh.other().await;
    other.add_job(job(), vec!["a.md".to_owned()]).await.unwrap();
    let lease = other.take_job(taking(Duration::from_mins(1))).await.unwrap().unwrap().lease;
    let worker = other.leased(lease).for_a_question().await.unwrap();
    put(&worker, "a.md").await.unwrap();
    worker.keep_all(vec![call("before")]).await.unwrap();
    let files = vec!["a.md".to_owned()];
    let hold = fresh.base.stop_jobs(files.clone(), StopLeases::All, taking(Duration::ZERO));
    assert!(hold.await.unwrap().is_some());
    fresh.base.forget_files(&files, 7).await.unwrap();
    worker.keep_all(vec![call("late")]).await.unwrap();
    assert!(fresh.base.latest("before").await.unwrap().is_some());
    assert!(fresh.base.latest("late").await.unwrap().is_none());
    assert!(put(&worker, "a.md").await.is_err());
    fresh.remove().await;
}

/// A write that has begun under a lease is over before another worker has the lease.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn workers_take_each_file_once() {
    let Some(fresh) = Fresh::new().await else { return };
    let names: Vec<String> = (0..40).map(|n| format!("{n:02}.md")).collect();
    fresh.base.add_job(job(), names.clone()).await.unwrap();
    let mut workers = Vec::new();
    for _ in 0..4 {
        let base = fresh.other().await;
        workers.push(tokio::spawn(async move {
            let mut read = Vec::new();
            while let Some(taken) = base.take_job(taking(Duration::from_mins(1))).await.unwrap() {
                let [file] = taken.files.as_slice() else { break };
                put(&base.leased(taken.lease), &file.file).await.unwrap();
                let marks = (vec![file.file.clone()], FileMark::Done);
                let keep = |job: &mut JobRecord, _| job.state = JobState::Running;
                base.change_job(taken.lease, marks, LeaseAfter::Released, Box::new(keep))
                    .await
                    .unwrap();
                read.push(file.file.clone());
            }
            read
        }));
    }
    let mut read = Vec::new();
    for worker in workers {
        read.extend(worker.await.unwrap());
    }
    read.sort();
    assert_eq!(read, names);
    fresh.remove().await;
}

/// A base with many jobs does not delay the others. The expected order is computed by definition:
/// the base that was served longest ago comes first.
#[tokio::test]
async fn bases_take_turns() {
    let mut bases = Vec::new();
    for jobs in [5_usize, 1, 3] {
        let Some(fresh) = Fresh::new().await else { return };
        for _ in 0..jobs {
            fresh.base.add_job(job(), vec!["a.md".to_owned()]).await.unwrap();
        }
        bases.push((fresh, jobs));
    }
    let mut order = Vec::new();
    loop {
        let names = bases[0].0.database.bases_with_jobs("main").await.unwrap();
        let mine = |(name, _): &(String, Option<String>)| {
            bases.iter().position(|(base, _)| base.location.base() == name)
        };
        let Some(next) = names.iter().find_map(mine) else { break };
        let base = &bases[next].0.base;
        let taken = base.take_job(taking(Duration::from_mins(1))).await.unwrap().unwrap();
        done(base, taken.lease, "a.md").await;
        order.push(next);
        // Times are in milliseconds.
        tokio::time::sleep(Duration::from_millis(3)).await;
    }
    let mut left: Vec<(usize, usize, usize)> =
        bases.iter().enumerate().map(|(n, (_, jobs))| (0, n, *jobs)).collect();
    let mut expected = Vec::new();
    for turn in 1.. {
        let next = left.iter_mut().filter(|(_, _, jobs)| 0 < *jobs).min();
        let Some((served, base, jobs)) = next else { break };
        (*served, *jobs) = (turn, *jobs - 1);
        expected.push(*base);
    }
    assert_eq!(order, expected);
    assert_eq!(order, [0, 1, 2, 0, 2, 0, 2, 0, 0]);
    for (base, _) in bases {
        base.remove().await;
    }
}
