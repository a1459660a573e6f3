//! Tests that a store keeps jobs with their files, and finds them by state.

use pikerag_knowledge::{
    FileMark, JobBill, JobFile, JobKind, JobPriority, JobQuery, JobRecord, JobState, Millis,
};

use crate::{Shelf, Store};

pub async fn jobs_are_kept_with_their_files_and_found_by_state(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let mut first = job(JobState::Waiting, 0);
    first.id = base.add_job(first.clone(), names(&["b.md", "a.md", "a.md"])).await.unwrap();
    let mut later = job(JobState::Waiting, 50);
    later.id = base.add_job(later.clone(), Vec::new()).await.unwrap();
    let mut offered = job(JobState::Offered, 0);
    offered.id = base.add_job(offered.clone(), Vec::new()).await.unwrap();
    assert!(first.id < later.id && later.id < offered.id);
    let found = async |query| base.jobs(query).await.unwrap();
    assert_eq!(found(JobQuery::Latest(2)).await, [offered.clone(), later.clone()]);
    assert_eq!(found(JobQuery::One(first.id)).await, [first.clone()]);
    assert_eq!(found(JobQuery::One(99)).await, []);
    assert_eq!(found(JobQuery::Next(10)).await, [first.clone()]);
    // The outcome is stored unchanged.
    first.state = JobState::Done;
    first.outcome = Some("all of it".into());
    assert!(base.put_job(first.clone()).await.unwrap());
    assert!(!base.put_job(JobRecord { id: 99, ..first.clone() }).await.unwrap());
    assert_eq!(found(JobQuery::One(first.id)).await, [first]);
    assert_eq!(found(JobQuery::Unfinished).await, [later.clone(), offered.clone()]);
    // None is due: the next one is returned.
    assert_eq!(found(JobQuery::Next(10)).await, [later.clone()]);
    let soon = JobRecord { id: offered.id, ..job(JobState::Waiting, 20) };
    assert!(base.put_job(soon.clone()).await.unwrap());
    assert_eq!(found(JobQuery::Next(10)).await, [soon]);
    assert_eq!(found(JobQuery::Next(60)).await, [later]);
}

pub async fn files_of_a_job_are_marked_and_withdrawn(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let mut ids = Vec::new();
    for state in [JobState::Running, JobState::SetAside, JobState::Done] {
        ids.push(base.add_job(job(state, 0), names(&["a.md", "b.md"])).await.unwrap());
    }
    let file = |file: &str, attempts, is_done| JobFile { file: file.to_owned(), attempts, is_done };
    let both = names(&["a.md", "b.md"]);
    base.mark_job_files(ids[0], both.clone(), FileMark::Begun).await.unwrap();
    base.mark_job_files(ids[0], names(&["b.md", "no.md"]), FileMark::Begun).await.unwrap();
    assert_eq!(
        base.job_files(ids[0]).await.unwrap(),
        [file("a.md", 1, false), file("b.md", 2, false)]
    );
    base.mark_job_files(ids[0], names(&["a.md"]), FileMark::Done).await.unwrap();
    base.mark_job_files(ids[0], names(&["b.md"]), FileMark::PutBack).await.unwrap();
    assert_eq!(
        base.job_files(ids[0]).await.unwrap(),
        [file("a.md", 0, true), file("b.md", 0, false)]
    );
    let to_read = |file: &str, state| (file.to_owned(), state);
    assert_eq!(
        base.files_to_read().await.unwrap(),
        [
            to_read("b.md", JobState::Running),
            to_read("a.md", JobState::SetAside),
            to_read("b.md", JobState::SetAside)
        ]
    );
    base.withdraw_files(Some(ids[0]), names(&["a.md"])).await.unwrap();
    base.withdraw_files(None, names(&["b.md"])).await.unwrap();
    assert_eq!(base.job_files(ids[0]).await.unwrap(), []);
    assert_eq!(base.job_files(ids[1]).await.unwrap(), [file("a.md", 0, false)]);
    // A finished job lists the files that it has read.
    assert_eq!(base.job_files(ids[2]).await.unwrap().len(), 2);
}

pub async fn old_jobs_are_pruned_and_unfinished_ones_stay(shelf: &Shelf<impl Store>) {
    let base = &shelf.store;
    let states = [JobState::Offered, JobState::Done, JobState::Failed, JobState::Incomplete];
    for state in states {
        base.add_job(job(state, 0), names(&["a.md"])).await.unwrap();
    }
    assert_eq!(base.prune_jobs(1).await.unwrap(), 2);
    let left = base.jobs(JobQuery::Latest(9)).await.unwrap();
    let left: Vec<JobState> = left.into_iter().map(|job| job.state).collect();
    assert_eq!(left, [JobState::Incomplete, JobState::Offered]);
    assert_eq!(base.job_files(2).await.unwrap(), []);
    // A number is never reused.
    assert_eq!(base.prune_jobs(0).await.unwrap(), 1);
    assert_eq!(base.add_job(job(JobState::Waiting, 0), Vec::new()).await.unwrap(), 5);
}

pub(super) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

pub(super) fn job(state: JobState, due: Millis) -> JobRecord {
    JobRecord {
        id: 0,
        kind: JobKind::Index,
        state,
        key: Some("ada".to_owned()),
        cap_usd: Some(1.5),
        setup: "s".to_owned(),
        bill: Some(JobBill { calls: 2, tokens: 300, usd: None, texts: 1 }),
        priority: JobPriority::Usual,
        worker: None,
        retry_refused: false,
        attempts: 1,
        reason: Some("it was cut off".to_owned()),
        added: 5,
        started: None,
        ended: None,
        due,
        outcome: None,
    }
}
