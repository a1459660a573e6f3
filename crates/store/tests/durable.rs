//! Tests the guarantees of a base in a folder beyond the ports: it outlives its process, and
//! several processes may use it at once.
#![cfg(test)]

use futures::future::join_all;
use pikerag_extract::{ChunkParams, document_graph};
use pikerag_knowledge::{
    CallOrigin, CallRecord, ChunkId, CorpusReader, CorpusWriter, FileRecord, Ledger, NameKey,
    NodeId, NodeVector, Progress, PutReport, SearchIndex, SearchWriter, StoreError, Usage, Vector,
    VectorSet, Which, nearest_chunks,
};
use pikerag_parse::{Limits, parse};
use pikerag_store::Base;
use tempfile::TempDir;

// After the process ends.

/// Nothing was refreshed before the end, but the next process finds everything.
#[tokio::test]
async fn the_indexes_catch_up_after_a_crash() {
    let (folder, base) = fresh();
    put(&base, "a.txt", "A crane.").await;
    base.refresh().await.unwrap();
    put(&base, "b.txt", "A heron.").await;
    base.delete_file("a.txt").await.unwrap();
    fill_vectors(&base, VectorSet::Chunks, "e").await;
    drop(base);
    let base = Base::open(folder.path()).unwrap();
    assert_eq!(matching(&base, "heron", 9).await, ["b.txt"]);
    assert_eq!(matching(&base, "crane", 9).await, Vec::<String>::new());
    assert_eq!(near(&base, &[at(1.0)], 9, -1.0).await[0].len(), 1);
    drop(base);
    // They are derived: if they are missing or damaged, they are rebuilt.
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else if path.extension().is_some_and(|ending| ending == "codes") {
            std::fs::write(path, "damaged").unwrap();
        }
    }
    let base = Base::open(folder.path()).unwrap();
    assert_eq!(matching(&base, "heron", 9).await, ["b.txt"]);
    assert_eq!(near(&base, &[at(1.0)], 9, -1.0).await[0].len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_calls_are_kept_at_once() {
    let (folder, base) = fresh();
    let mut tasks = Vec::new();
    for n in 0..64 {
        let base = base.clone();
        tasks.push(tokio::spawn(async move {
            let call = call(n, "first");
            base.keep_all(vec![call.clone()]).await.unwrap();
            // Every caller can read a record as soon as it is kept.
            assert_eq!(base.find_all(std::slice::from_ref(&call.key)).await.unwrap(), [Some(call)]);
        }));
    }
    join_all(tasks).await.into_iter().for_each(Result::unwrap);
    base.keep_all(vec![call(5, "second")]).await.unwrap();
    assert_eq!(base.find_all(&["key 5".to_owned()]).await.unwrap(), [Some(call(5, "first"))]);
    assert_eq!(base.find_all(&["key 64".to_owned()]).await.unwrap(), [None]);
    drop(base);
    let base = Base::open(folder.path()).unwrap();
    assert_eq!(base.find_all(&["key 63".to_owned()]).await.unwrap(), [Some(call(63, "first"))]);
    let summary = base.summary().await.unwrap();
    assert_eq!((summary.calls, summary.usage.prompt_tokens), (64, 64 * 3));
}

#[test]
fn files_that_are_no_base_stay_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("base.sqlite");
    let refused = |reason: &str| {
        let Err(error) = Base::open(folder.path()) else { panic!("opened: {reason}") };
        assert!(matches!(error, StoreError::NotOurs { .. }), "{error:?}");
        let error = error.to_string();
        assert!(error.contains(reason), "{error}");
    };
    refused("there is no knowledge base yet");
    assert!(!path.exists(), "opening creates no file");

    let letter = "Dear reader, this is no database at all, however long it may be.".repeat(99);
    std::fs::write(&path, &letter).unwrap();
    refused("it is not a database");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), letter);
    std::fs::remove_file(&path).unwrap();

    drop(Base::open_or_create(folder.path()).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    let layout: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    connection.pragma_update(None, "user_version", layout + 1).unwrap();
    drop(connection);
    let newer = layout + 1;
    refused(&format!(
        "it has layout {newer}, and this version of pikerag knows layouts up to {layout}"
    ));
}

/// A foreign database gets no tables of ours.
#[test]
fn a_foreign_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("base.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    for version in [0, 1] {
        connection.pragma_update(None, "user_version", version).unwrap();
        let Err(error) = Base::open(folder.path()) else { panic!("opened") };
        assert!(matches!(error, StoreError::NotOurs { .. }), "{error:?}");
    }
    drop(connection);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

#[tokio::test]
async fn an_export_depends_on_the_content_alone() {
    let files = [
        ("b.md", "# B\n\nSee [a](a.md).\n\n## Part\n\nMore."),
        ("a.md", "# A\n\nText."),
        ("c.csv", "name,born\nAda,1815\n"),
    ];
    let mut exports = Vec::new();
    for order in [[0, 1, 2], [2, 1, 0]] {
        let (folder, base) = fresh();
        for n in order {
            put(&base, files[n].0, files[n].1).await;
        }
        exports.push(export(&base));
        drop(base);
        exports.push(export(&Base::open(folder.path()).unwrap()));
    }
    assert!(exports.iter().all(|export| *export == exports[0]));
    let uris: Vec<&str> = exports[0]
        .iter()
        .filter(|line| line["node"] == "source")
        .map(|line| line["uri"].as_str().unwrap())
        .collect();
    assert_eq!(uris, ["a.md", "b.md", "c.csv"]);
    let count = |edge: &str| exports[0].iter().filter(|line| line["edge"] == edge).count();
    assert_eq!((count("refers_to"), count("next")), (1, 1));
    // Nodes first, then edges.
    assert!(exports[0].is_sorted_by_key(|line| line.get("edge").is_some()));
}

/// Each handle sees the other's commits at its next call.
#[tokio::test]
async fn two_handles_see_each_other() {
    let (folder, one) = fresh();
    let other = Base::open(folder.path()).unwrap();
    put(&one, "a.txt", "A crane.").await;
    assert_eq!(matching(&other, "crane", 9).await, ["a.txt"]);
    put(&other, "heron.txt", "A crane, too.").await;
    assert_eq!(matching(&one, "crane", 9).await.len(), 2);
    fill_vectors(&other, VectorSet::Chunks, "e").await;
    assert_eq!(near(&one, &[at(1.0)], 9, -1.0).await[0].len(), 2);
    let key = [NameKey::of_folded("heron")];
    assert_eq!(one.chunks_by_title(&key, 9).await.unwrap()[0].count, 1);
    one.delete_file("heron.txt").await.unwrap();
    assert_eq!(other.chunks_by_title(&key, 9).await.unwrap()[0].count, 0);
    assert_eq!(matching(&other, "crane", 9).await, ["a.txt"]);
    assert_eq!(near(&other, &[at(1.0)], 9, -1.0).await[0].len(), 1);
    one.keep_all(vec![call(1, "x")]).await.unwrap();
    assert_eq!(other.find_all(&["key 1".to_owned()]).await.unwrap(), [Some(call(1, "x"))]);
}

/// Both write at the same time, and nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_handles_write_at_once() {
    let (folder, one) = fresh();
    let other = Base::open(folder.path()).unwrap();
    let mut tasks = Vec::new();
    for n in 0..16 {
        let base = if n % 2 == 0 { one.clone() } else { other.clone() };
        tasks.push(tokio::spawn(async move {
            put(&base, &format!("{n}.txt"), "A crane.").await;
            base.keep_all(vec![call(n, "x")]).await.unwrap();
            matching(&base, "crane", 99).await
        }));
    }
    join_all(tasks).await.into_iter().for_each(|task| drop(task.unwrap()));
    for base in [one, other] {
        assert_eq!(matching(&base, "crane", 99).await.len(), 16);
        assert_eq!(base.summary().await.unwrap().calls, 16);
    }
}

/// Bases of layouts before 5 may hold two files with a document of the same identity.
#[tokio::test]
async fn a_document_replaces_another_files_document_of_its_identity() {
    let (_folder, base) = fresh();
    let line =
        |text: &str| format!("{{\"id\": \"x.md\", \"title\": \"T\", \"text\": \"{text}\"}}\n");
    put_as(&base, "r.jsonl#x.md", "r.jsonl", &line("The file speaks.")).await;
    put(&base, "r.jsonl", &line("The record speaks.")).await;
    let chunks: Vec<String> = export(&base)
        .iter()
        .filter(|line| line["node"] == "chunk")
        .map(|line| line["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(chunks, ["The record speaks."]);
    // It is read again: no bytes have this hash.
    assert_eq!(base.files(Which::Of(&["r.jsonl#x.md"])).await.unwrap()[0].hash, "");
}

#[tokio::test]
async fn the_root_and_the_mounts_are_stored() {
    let (_folder, base) = fresh();
    assert_eq!(base.root().await.unwrap(), None);
    assert_eq!(base.keep_root("..").await.unwrap(), "..");
    // The first root stays.
    assert_eq!(base.keep_root("/other").await.unwrap(), "..");
    let mounts = |folders: [&str; 2]| folders.map(str::to_owned).to_vec();
    base.add_mounts(mounts(["/b", "/a"])).await.unwrap();
    base.add_mounts(mounts(["/b", "/c"])).await.unwrap();
    assert_eq!(base.mounts().await.unwrap(), ["/a", "/b", "/c"]);
}

// The fixture.

fn fresh() -> (TempDir, Base) {
    let folder = tempfile::tempdir().unwrap();
    let base = Base::open_or_create(folder.path()).unwrap();
    (folder, base)
}

fn record(path: &str, text: &str) -> FileRecord {
    let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    FileRecord { path: path.to_owned(), hash, recipe: "r".to_owned() }
}

async fn put(base: &Base, path: &str, text: &str) -> PutReport {
    put_as(base, path, path, text).await
}

/// The file `path` with the documents that `text` would have as the file `parsed_as`.
async fn put_as(base: &Base, path: &str, parsed_as: &str, text: &str) -> PutReport {
    let limits = Limits::default();
    let parsed = parse(parsed_as, text.as_bytes(), &limits, &pikerag_parse::NoTools).unwrap();
    let graph = |document| document_graph(parsed_as, document, ChunkParams::default());
    let graphs = parsed.documents.into_iter().map(graph).collect();
    base.put_file(&record(path, text), graphs).await.unwrap()
}

fn with(node: impl Into<NodeId>, vector: Vector) -> NodeVector {
    NodeVector { node: node.into(), vector }
}

/// A unit vector with this cosine to the first axis.
fn at(cosine: f32) -> Vector {
    vec![cosine, (1.0 - cosine * cosine).sqrt()]
}

async fn fill_vectors(base: &Base, set: VectorSet, embedder: &str) {
    let missing = base.without_vector(set, embedder, None, 99).await.unwrap();
    let vectors = missing.into_iter().map(|it| with(it.node, at(1.0))).collect();
    base.put_vectors(set, embedder, vectors).await.unwrap();
}

async fn near(base: &Base, queries: &[Vector], k: usize, min_score: f32) -> Vec<Vec<ChunkId>> {
    let lists = nearest_chunks(base, queries, k, min_score).await.unwrap();
    lists.into_iter().map(|list| list.into_iter().map(|hit| hit.item).collect()).collect()
}

/// The URIs of the chunks that match words.
async fn matching(base: &Base, words: &str, k: usize) -> Vec<String> {
    let hits = base.matching_chunks(words, k).await.unwrap();
    let ids: Vec<ChunkId> = hits.into_iter().map(|hit| hit.item).collect();
    base.chunks(&ids).await.unwrap().into_iter().map(|chunk| chunk.uri).collect()
}

fn call(n: u64, reply: &str) -> CallRecord {
    CallRecord {
        key: format!("key {n}"),
        role: "answer".to_owned(),
        model: "m".to_owned(),
        request: "{}".to_owned(),
        reply: reply.to_owned(),
        usage: Usage { prompt_tokens: 3, completion_tokens: n },
        unusable: false,
        origin: CallOrigin::default(),
    }
}

fn export(base: &Base) -> Vec<pikerag_store::ExportLine> {
    let mut lines = Vec::new();
    base.export(|line| {
        lines.push(line);
        Ok(())
    })
    .unwrap();
    lines
}
