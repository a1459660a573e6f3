//! Tests that all handles of a base share its uploads, its signs of runs, and the list of bases that
//! servers made.

use std::time::Duration;

use pikerag_knowledge::{Jobs, RunId, RunQuery, RunRecord, RunState, RunStore};
use pikerag_postgres::{Base, BaseRemoval, BasesInPostgres, Location};
use pikerag_store::{BegunUpload, DroppedParts, FinishedUpload, StoredUploads};
use tokio_postgres::NoTls;

use super::leases::job;
use super::server::{Fresh, connected, location};

/// Begins an upload that must belong to the sender.
async fn begin(base: &Base, name: &str, from: u64, sender: &str) -> i64 {
    match base.begin_upload(name, "part", from, sender).await.unwrap() {
        BegunUpload::Ours(number) => number,
        other => panic!("{other:?}"),
    }
}

/// Stores a whole file.
async fn store(base: &Base, name: &str, bytes: &[u8]) -> FinishedUpload {
    let number = begin(base, name, 0, "store").await;
    assert!(base.add_to_upload(number, "store", 0, bytes.to_vec()).await.unwrap());
    let finished = base.finish_upload(number, "store").await.unwrap();
    base.discard_upload(number, "store").await.unwrap();
    finished
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_belongs_to_one_sender_and_continues_at_another() {
    let Some(fresh) = Fresh::new().await else { return };
    let (one, other) = (&fresh.base, Base::open(&fresh.database, &fresh.location).await.unwrap());
    let number = begin(one, "a/ü#.md", 0, "ada").await;
    assert!(one.add_to_upload(number, "ada", 0, b"Ada, ".to_vec()).await.unwrap());
    assert_eq!(
        other.begin_upload("a/ü#.md", "part", 5, "eve").await.unwrap(),
        BegunUpload::UnderWay
    );
    assert!(!other.add_to_upload(number, "eve", 5, b"x".to_vec()).await.unwrap());
    assert!(!one.add_to_upload(number, "ada", 4, b"x".to_vec()).await.unwrap());
    assert_eq!(other.drop_upload_parts(DroppedParts::OlderThan(Duration::ZERO)).await.unwrap(), 0);
    one.release_upload(number, "ada").await.unwrap();
    assert_eq!(other.upload_held("a/ü#.md", "part").await.unwrap(), 5);
    let wrong = other.begin_upload("a/ü#.md", "part", 4, "eve").await.unwrap();
    assert_eq!(wrong, BegunUpload::OutOfOrder { held: 5 });
    assert_eq!(begin(&other, "a/ü#.md", 5, "eve").await, number);
    assert!(other.add_to_upload(number, "eve", 5, b"again".to_vec()).await.unwrap());
    assert_eq!(other.uploads().await.unwrap(), []);
    assert_eq!(other.finish_upload(number, "ada").await.unwrap(), FinishedUpload::NotOurs);
    assert_eq!(other.finish_upload(number, "eve").await.unwrap(), FinishedUpload::Complete);
    let held = one.upload("a/ü#.md").await.unwrap().unwrap();
    assert_eq!((held.number, held.bytes), (number, 10));
    let piece = async |from: u64| one.upload_piece(number, from).await.unwrap();
    assert_eq!(piece(0).await.unwrap(), b"Ada, ");
    assert_eq!(piece(2).await.unwrap(), b"a, ");
    assert_eq!(piece(5).await.unwrap(), b"again");
    assert_eq!(piece(10).await.unwrap(), b"");
    // A later version has another number, so no reader joins both.
    assert_eq!(store(&other, "a/ü#.md", b"new").await, FinishedUpload::Complete);
    assert_eq!(piece(0).await, None);
    assert_eq!(one.uploads().await.unwrap().len(), 1);
    fresh.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_belongs_to_a_file_or_a_folder() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    let long = "ü".repeat(100);
    let deep = [long.as_str(); 16].join("/");
    for name in ["law/old/a.md", "lawful.md", "law%.md", deep.as_str()] {
        assert_eq!(store(base, name, b"x").await, FinishedUpload::Complete, "{name}");
    }
    for (name, is_taken) in [
        ("law", true),
        ("law/old", true),
        ("law/old/a.md/b/c", true),
        ("law/old/a.md", false),
        ("law/new", false),
        ("la", false),
    ] {
        assert_eq!(base.is_upload_name_taken(name).await.unwrap(), is_taken, "{name}");
    }
    assert_eq!(store(base, "law", b"x").await, FinishedUpload::NameTaken);
    assert!(base.remove_upload("law/old/a.md").await.unwrap());
    assert!(!base.remove_upload("law/old/a.md").await.unwrap());
    assert_eq!(store(base, "law", b"").await, FinishedUpload::Complete);
    let empty = base.upload("law").await.unwrap().unwrap();
    assert_eq!(base.upload_piece(empty.number, 0).await.unwrap().unwrap(), b"");
    let number = begin(base, "part.md", 0, "ada").await;
    base.release_upload(number, "ada").await.unwrap();
    assert_eq!(base.drop_upload_parts(DroppedParts::Of("law")).await.unwrap(), 0);
    assert_eq!(base.upload_parts().await.unwrap().len(), 1);
    assert_eq!(base.drop_upload_parts(DroppedParts::Of("part.md")).await.unwrap(), 1);
    assert_eq!(base.upload_parts().await.unwrap(), []);
    fresh.remove().await;
}

/// Runs a statement, which the program has no reason for.
async fn run(location: &Location, sql: &str) {
    let (client, connection) = tokio_postgres::connect(location.database(), NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_without_a_sign_has_ended() {
    let Some(fresh) = Fresh::new().await else { return };
    let base = &fresh.base;
    let run_of = |id: &str| RunRecord { id: RunId(id.to_owned()), ..RunRecord::default() };
    let (lost, going) = (run_of("aaaaaaaa"), run_of("bbbbbbbb"));
    for record in [&lost, &going] {
        base.keep_run(record.clone(), Vec::new()).await.unwrap();
    }
    assert_eq!(base.silent_runs().await.unwrap().len(), 0);
    let number = fresh.database.find(fresh.location.base()).await.unwrap().unwrap();
    let older = format!(
        "UPDATE pikerag.runs SET beat = beat - interval '61 seconds' WHERE base = {number}"
    );
    run(&fresh.location, &older).await;
    base.beat_run(&going.id).await.unwrap();
    assert_eq!(base.silent_runs().await.unwrap(), [lost.id.clone()].into());
    assert_eq!(base.end_silent_runs("it ended").await.unwrap(), 1);
    let state = async |id: &RunId| base.runs(RunQuery::Named(&id.0)).await.unwrap()[0].clone();
    let ended = state(&lost.id).await;
    assert_eq!((ended.state, ended.error.as_deref()), (RunState::Failed, Some("it ended")));
    assert!(ended.ended.is_some());
    assert_eq!(state(&going.id).await.state, RunState::Running);
    // It was only out of reach.
    let answered = RunRecord { state: RunState::Answered, ..lost.clone() };
    base.keep_run(answered, Vec::new()).await.unwrap();
    assert_eq!(state(&lost.id).await.state, RunState::Answered);
    fresh.remove().await;
}

/// A server ends connections at a restart or a failover.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notifications_come_again_after_a_lost_connection() {
    let Some(fresh) = Fresh::new().await else { return };
    // Other tests of this database have listeners, too, which also connect again.
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE query = 'LISTEN pikerag_runs' AND pid <> pg_backend_pid()";
    let mut changes = fresh.database.run_changes();
    let mut notified = async || {
        let notified = async {
            while !changes.has_changed().unwrap() {
                run(&fresh.location, "NOTIFY pikerag_runs").await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), notified).await.unwrap();
        // Notifications on their way must not count for the next connection.
        tokio::time::sleep(Duration::from_millis(200)).await;
        changes.mark_unchanged();
    };
    notified().await;
    run(&fresh.location, end).await;
    notified().await;
    fresh.remove().await;
}

/// Its methods block, so they are called on a thread that may block.
#[test]
fn made_bases_are_shared_and_their_names_are_never_used_again() {
    let Some(own) = location() else { return };
    let (one, other) = (BasesInPostgres::open(&own).unwrap(), BasesInPostgres::open(&own).unwrap());
    let made = |name: &str| format!("{}-{name}", own.base());
    let names = |bases: &BasesInPostgres| -> Vec<String> {
        bases.list().unwrap().into_iter().map(|(name, _)| name).collect()
    };
    let before = other.version().unwrap();
    let address = one.make("law", &made("law-1")).unwrap().unwrap();
    assert!(before < other.version().unwrap());
    assert_eq!(other.list().unwrap(), [("law".to_owned(), address.clone())]);
    assert_eq!(Location::parse(&address).unwrap().base(), made("law-1"));
    assert_eq!(other.make("law", &made("law-2")).unwrap(), None);
    assert!(other.make("tea", &made("tea-1")).unwrap().is_some());
    assert!(!other.rename(&made("tea-1"), "law").unwrap());
    assert!(other.rename(&made("law-1"), "acts").unwrap());
    assert_eq!(names(&one), ["acts", "tea"]);
    // Other servers' bases are no bases of this one.
    let elsewhere = BasesInPostgres::open(&own.of_base("elsewhere-of-tests")).unwrap();
    assert_eq!(elsewhere.remove(&made("law-1")).unwrap(), BaseRemoval::Missing);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let written = runtime.block_on(async {
        let database = connected(&own).await;
        let base = Base::open(&database, &own.of_base(&made("law-1"))).await.unwrap();
        base.keep_root("/law").await.unwrap();
        base.add_job(job(), vec!["a.md".to_owned()]).await.unwrap();
        // Workers check keys by the name that requests use.
        let with_jobs = database.bases_with_jobs(own.base()).await.unwrap();
        let law = (made("law-1"), Some("acts".to_owned()));
        assert!(with_jobs.contains(&law), "{with_jobs:?}");
        let gone = made("law-1");
        let removed = tokio::task::spawn_blocking(move || {
            let removed = one.remove(&gone).unwrap();
            (one, removed)
        });
        let (one, removed) = removed.await.unwrap();
        assert_eq!(removed, BaseRemoval::Removed);
        assert_eq!(names(&one), ["tea"]);
        // Its rows go soon; then nothing more is written for it.
        while base.root().await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        base.keep_run(RunRecord::default(), Vec::new()).await
    });
    assert!(written.is_err(), "a row of a removed base was written");
    assert_eq!(other.remove(&format!("{}-tea-1", own.base())).unwrap(), BaseRemoval::Removed);
}
