//! Tests that the similarity of a chunk does not depend on the other hits of a search.
#![cfg(test)]

mod common;

use common::{Embedding, Shelf};
use pikerag_knowledge::ChunkId;
use pikerag_retrieve::{Search, SearchParams, Similarities, SimilarityBy, search, similarities};

const LIBRARY: [(&str, &str); 4] = [
    ("a.md", "# Crane\n\nThe crane of the harbour lifts forty tons.\n"),
    ("b.md", "# Mill\n\nThe mill of the harbour grinds barley.\n"),
    ("c.md", "# Dock\n\nThe dock of the harbour is dry.\n"),
    ("d.md", "# Quay\n\nThe quay of the harbour is long.\n"),
];

/// The titles of the hits for a query, each with its similarity, and the measure.
async fn run(shelf: &Shelf, query: &str, k: usize) -> (SimilarityBy, Vec<(String, f32)>) {
    let finder = shelf.finder();
    let hits = search(finder, Search::Hybrid, query, k, SearchParams::default()).await.unwrap();
    let ids: Vec<ChunkId> = hits.iter().map(|hit| hit.chunk).collect();
    let Similarities { by, values } = similarities(finder, query, &ids).await.unwrap();
    assert_eq!(values.len(), ids.len());
    let mut found = Vec::new();
    for (id, value) in ids.iter().zip(values) {
        found.push((finder.base.chunks(&[*id]).await.unwrap()[0].title.clone(), value));
    }
    (by, found)
}

fn of(found: &[(String, f32)], title: &str) -> f32 {
    found.iter().find(|(found, _)| found == title).unwrap().1
}

#[tokio::test]
async fn without_an_embedder_it_is_the_share_of_rare_words() {
    let shelf = Shelf::of(&LIBRARY, Embedding::None).await;
    let (by, whole) = run(&shelf, "crane lifts", 4).await;
    assert_eq!(by, SimilarityBy::Words);
    assert!((of(&whole, "Crane") - 1.0).abs() < 1e-6, "{whole:?}");
    // Half of the words are unknown, so the best hit of this search is less similar.
    let (_, half) = run(&shelf, "crane zeppelin", 4).await;
    assert!((of(&half, "Crane") - 0.5).abs() < 0.01, "{half:?}");
    // A word of all chunks says little.
    let (_, common) = run(&shelf, "harbour zeppelin", 4).await;
    assert!(common.iter().all(|(_, value)| *value < 0.1), "{common:?}");
    let none = similarities(shelf.finder(), "crane", &[ChunkId(7)]).await.unwrap();
    assert_eq!(none.values, [0.0]);
}

#[tokio::test]
async fn with_an_embedder_it_is_the_cosine_whatever_else_is_found() {
    let shelf = Shelf::of(&LIBRARY, Embedding::Hashes).await;
    let (by, few) = run(&shelf, "crane lifts", 1).await;
    let (_, more) = run(&shelf, "crane lifts", 4).await;
    assert_eq!(by, SimilarityBy::Meaning);
    assert_eq!(of(&few, "Crane").to_bits(), of(&more, "Crane").to_bits());
    let (_, other) = run(&shelf, "zeppelin balloons", 4).await;
    assert!(other.iter().all(|(_, value)| *value < of(&few, "Crane")), "{other:?}");
}
