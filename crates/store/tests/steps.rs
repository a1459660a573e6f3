//! Tests that the vectors that a search finds follow the database step by step, in one process and
//! in several.
#![cfg(test)]

use std::path::Path;
use std::time::SystemTime;

use pikerag_extract::{ChunkParams, document_graph};
use pikerag_knowledge::{
    ChunkId, CorpusWriter, FileRecord, Filter, NodeVector, Progress, SearchWriter, Snapshots,
    TextToEmbed, VectorSet, nearest_chunks,
};
use pikerag_parse::{Limits, NoTools, parse};
use pikerag_store::{Base, Health, Repair};

async fn put(base: &Base, n: usize) {
    let path = format!("{n}.txt");
    let text = format!("Page {n} tells of crane {n}.");
    let parsed = parse(&path, text.as_bytes(), &Limits::default(), &NoTools).unwrap();
    let graphs = parsed
        .documents
        .into_iter()
        .map(|document| document_graph(&path, document, ChunkParams::default()))
        .collect();
    let file = FileRecord { path, hash: n.to_string(), recipe: "r".to_owned() };
    base.put_file(&file, graphs).await.unwrap();
}

/// Stores vectors for all chunks that have none: points on the circle, computed from the text.
async fn embed(base: &Base, embedder: &str) {
    let waiting = base.without_vector(VectorSet::Chunks, embedder, None, usize::MAX).await.unwrap();
    let vector = |text: &str| {
        let angle = text.bytes().map(f32::from).sum::<f32>() / 700.0;
        vec![angle.cos(), angle.sin()]
    };
    let made = |TextToEmbed { node, text }| NodeVector { node, vector: vector(&text) };
    let vectors = waiting.into_iter().map(made).collect();
    base.put_vectors(VectorSet::Chunks, embedder, vectors).await.unwrap();
}

async fn found(base: &Base) -> Vec<(ChunkId, f32)> {
    let lists = nearest_chunks(base, &[vec![1.0, 0.0]], 7, -1.0).await.unwrap();
    lists.into_iter().flatten().map(|hit| (hit.item, hit.score)).collect()
}

fn saved(folder: &Path) -> SystemTime {
    std::fs::metadata(folder.join("chunks.codes")).unwrap().modified().unwrap()
}

/// The results of a base without codes, which computes them from all vectors.
async fn found_after_rebuild(folder: &Path) -> Vec<(ChunkId, f32)> {
    let copy = tempfile::tempdir().unwrap();
    for file in ["base.sqlite", "base.sqlite-wal"] {
        let _ = std::fs::copy(folder.join(file), copy.path().join(file));
    }
    found(&Base::open(copy.path()).unwrap()).await
}

#[tokio::test]
async fn each_step_equals_a_rebuild() {
    let folder = tempfile::tempdir().unwrap();
    let base = Base::open_or_create(folder.path()).unwrap();
    let reader = Base::open(folder.path()).unwrap();
    for round in 0..12 {
        for n in 0..6 {
            put(&base, round * 5 + n).await;
        }
        embed(&base, "e").await;
        if round % 3 == 2 {
            base.delete_file(&format!("{}.txt", round * 5 - 4)).await.unwrap();
        }
        if round == 7 {
            // Another embedder: every vector is computed again.
            embed(&base, "f").await;
        }
        let expected = found_after_rebuild(folder.path()).await;
        assert_eq!(found(&base).await, expected, "round {round}");
        assert_eq!(found(&reader).await, expected, "round {round}, by another process");
        if round % 4 == 3 {
            base.refresh().await.unwrap();
            assert_eq!(found(&Base::open(folder.path()).unwrap()).await, expected);
        }
    }
}

/// A few new vectors beside many do not rewrite all of them, and the next process finds them.
#[tokio::test]
async fn a_small_step_does_not_rewrite_the_saved_codes() {
    let folder = tempfile::tempdir().unwrap();
    let base = Base::open_or_create(folder.path()).unwrap();
    for n in 0..40 {
        put(&base, n).await;
    }
    embed(&base, "e").await;
    base.refresh().await.unwrap();
    let before = saved(folder.path());
    put(&base, 40).await;
    embed(&base, "e").await;
    base.refresh().await.unwrap();
    assert_eq!(saved(folder.path()), before);
    let other = Base::open(folder.path()).unwrap();
    assert_eq!(found(&other).await, found_after_rebuild(folder.path()).await);
    assert_eq!(saved(folder.path()), before);
    for n in 41..60 {
        put(&base, n).await;
    }
    embed(&base, "e").await;
    base.refresh().await.unwrap();
    assert_ne!(saved(folder.path()), before);
    assert_eq!(found(&other).await, found_after_rebuild(folder.path()).await);
}

/// An embedder of another length is interrupted. The vectors of both are found in this process, in
/// the next one, and after the rest has come.
#[tokio::test]
async fn two_embedders_of_two_lengths_lose_no_vector() {
    let folder = tempfile::tempdir().unwrap();
    let base = Base::open_or_create(folder.path()).unwrap();
    for n in 0..40 {
        put(&base, n).await;
    }
    embed(&base, "e").await;
    base.refresh().await.unwrap();
    let [found_flat, found_deep] = [vec![1.0, 0.0], vec![1.0, 0.0, 0.0]].map(|query| {
        async move |base: &Base| {
            nearest_chunks(base, std::slice::from_ref(&query), 99, -1.0).await.unwrap()[0].len()
        }
    });
    let deepen = async |base: &Base, most: usize| {
        let waiting = base.without_vector(VectorSet::Chunks, "f", None, most).await.unwrap();
        let vector = |it: TextToEmbed| NodeVector { node: it.node, vector: vec![0.6, 0.0, 0.8] };
        let vectors = waiting.into_iter().map(vector).collect();
        base.put_vectors(VectorSet::Chunks, "f", vectors).await.unwrap();
        base.refresh().await.unwrap();
    };
    deepen(&base, 12).await;
    assert_eq!((found_flat(&base).await, found_deep(&base).await), (28, 12));
    drop(base);
    let base = Base::open(folder.path()).unwrap();
    assert_eq!((found_flat(&base).await, found_deep(&base).await), (28, 12));
    // Also if the codes are computed from all vectors, the shorter or the longer first.
    std::fs::remove_file(folder.path().join("chunks.codes")).unwrap();
    let base = Base::open(folder.path()).unwrap();
    assert_eq!((found_flat(&base).await, found_deep(&base).await), (28, 12));
    deepen(&base, 5).await;
    let findings = base.check(Repair::No).await.unwrap();
    assert!(findings.iter().all(|it| it.health != Health::Damaged), "{findings:#?}");
    deepen(&base, 99).await;
    assert_eq!((found_flat(&base).await, found_deep(&base).await), (0, 40));
    assert!(folder.path().join("chunks.codes").exists(), "one length is left, and is saved");
    let base = Base::open(folder.path()).unwrap();
    assert_eq!((found_flat(&base).await, found_deep(&base).await), (0, 40));
}

/// A question that began long ago computes its codes again, and does not replace the newer file.
#[tokio::test]
async fn an_older_snapshot_does_not_replace_newer_codes() {
    let folder = tempfile::tempdir().unwrap();
    let base = Base::open_or_create(folder.path()).unwrap();
    for n in 0..4 {
        put(&base, n).await;
    }
    embed(&base, "e").await;
    base.refresh().await.unwrap();
    let reader = Base::open(folder.path()).unwrap();
    let before = reader.snapshot(&Filter::default(), &Filter::default()).await.unwrap();
    for n in 4..9 {
        put(&base, n).await;
    }
    embed(&base, "e").await;
    base.refresh().await.unwrap();
    let newer = std::fs::read(folder.path().join("chunks.codes")).unwrap();
    let lists = nearest_chunks(before.as_ref(), &[vec![1.0, 0.0]], 99, -1.0).await.unwrap();
    assert_eq!(lists[0].len(), 4);
    assert!(newer == std::fs::read(folder.path().join("chunks.codes")).unwrap());
}
