//! Tests that a base is the same after copies between a SQLite file and a database.

use pikerag_contract::{Operation, apply, histories};
use pikerag_knowledge::{
    CallOrigin, CallRecord, ChunkId, CorpusWriter, Filter, Ledger, Scored, SearchIndex,
    SearchWriter, Usage, Which,
};
use pikerag_postgres::{Base, export_file, import};
use pikerag_store::{Base as FileBase, ExportLine};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::server::{connected, location};

/// Many operations, always the same.
fn history() -> Vec<Operation> {
    let mut runner = TestRunner::deterministic();
    (0..12).flat_map(|_| histories().new_tree(&mut runner).unwrap().current()).collect()
}

fn call() -> CallRecord {
    CallRecord {
        key: "k".to_owned(),
        role: "answer".to_owned(),
        model: "m".to_owned(),
        request: "{}".to_owned(),
        reply: "a\0b \u{f8fe}".to_owned(),
        usage: Usage { prompt_tokens: 3, completion_tokens: 1 },
        unusable: false,
        origin: CallOrigin::default(),
    }
}

fn lines_of_file(base: &FileBase) -> Vec<ExportLine> {
    let mut lines = Vec::new();
    base.export(|line| {
        lines.push(line);
        Ok(())
    })
    .unwrap();
    lines
}

/// Exports block their thread, which must not be one of the runtime's.
async fn lines_of(base: &Base) -> Vec<ExportLine> {
    let base = base.clone();
    let exported = tokio::task::spawn_blocking(move || {
        let mut lines = Vec::new();
        base.export(&mut |line| {
            lines.push(line);
            Ok(())
        })
        .unwrap();
        lines
    });
    exported.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_base_is_the_same_after_a_copy_to_a_database_and_back() {
    let Some(location) = location() else { return };
    let folder = tempfile::tempdir().unwrap();
    let first = FileBase::open_or_create(&folder.path().join("first")).unwrap();
    apply(&first, &history()).await;
    first.keep_all(vec![call()]).await.unwrap();
    let files = first.files(Which::All).await.unwrap();
    assert!(!files.is_empty());
    let (path, hash) = (&files[0].path, &files[0].hash);
    assert!(first.keep_original(hash, vec![0, 1, 2]).await.unwrap());
    let lines = lines_of_file(&first);

    let database = connected(&location).await;
    let copied = import(&database, &location, first.folder()).await.unwrap();
    assert_eq!((copied.files, copied.calls), (files.len(), 1));
    assert!(import(&database, &location, first.folder()).await.is_err());
    let base = Base::open(&database, &location).await.unwrap();
    assert_eq!(lines_of(&base).await, lines);
    assert_eq!(base.files(Which::All).await.unwrap(), files);
    assert_eq!(base.find_all(&["k".to_owned()]).await.unwrap(), [Some(call())]);
    assert_eq!(base.original(hash).await.unwrap(), Some(vec![0, 1, 2]));
    let found = base.matching_chunks("crane harbour", 99).await.unwrap();
    let chunks = |found: &[Scored<ChunkId>]| {
        let mut chunks: Vec<u64> = found.iter().map(|hit| hit.item.0).collect();
        chunks.sort_unstable();
        chunks
    };
    let wanted = first.matching_chunks("crane harbour", 99).await.unwrap();
    assert_eq!(chunks(&found), chunks(&wanted));
    base.refresh().await.unwrap();

    // A copy contains all of the base, whatever a filter shows.
    let none = Filter { conditions: vec!["folder=nowhere".parse().unwrap()] };
    let filtered = base.seen_through(&Filter::default(), &none).await.unwrap();
    let to = folder.path().join("copy.sqlite");
    let copied = export_file(&filtered, &to).await.unwrap();
    drop(filtered);
    assert_eq!((copied.files, copied.calls), (files.len(), 1));
    assert!(base.backup(&to).await.is_err());
    let second = folder.path().join("second");
    FileBase::restore(&to, &second).unwrap();
    let second = FileBase::open(&second).unwrap();
    assert_eq!(lines_of_file(&second), lines);
    assert_eq!(second.files(Which::Of(&[path.as_str()])).await.unwrap(), files[..1]);
    assert_eq!(second.find_all(&["k".to_owned()]).await.unwrap(), [Some(call())]);
    assert_eq!(second.original(hash).await.unwrap(), Some(vec![0, 1, 2]));
    assert!(database.remove(location.base()).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_without_a_base_is_refused_and_leaves_none() {
    let Some(location) = location() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.sqlite");
    std::fs::write(&file, "no database").unwrap();
    let database = connected(&location).await;
    assert!(import(&database, &location, &file).await.is_err());
    assert!(Base::open(&database, &location).await.is_err());
}
