//! Tests that a reranker reorders the first hits of a search and leaves the others in place.
#![cfg(test)]

mod common;

use std::num::NonZeroUsize;

use common::{Embedding, Shelf};
use pikerag_doubles::{ScriptedReranker, busy};
use pikerag_knowledge::ChunkId;
use pikerag_retrieve::{Hit, Reranking, RetrieveError, Search, SearchParams, search};

const LIBRARY: [(&str, &str); 4] = [
    ("a.md", "# Crane\n\nThe crane lifts forty tons, and tons are what cranes lift.\n"),
    ("b.md", "# Mill\n\nBeside the mill a crane lifts tons.\n"),
    ("c.md", "# Dock\n\nA crane. Of nine tons.\n"),
    ("d.md", "# Quay\n\nA crane and some tea.\n"),
];

/// Titles and parts of the best `k` hits for a query, of which the first `first` are reranked.
async fn run(model: &ScriptedReranker, first: usize, k: usize) -> Result<String, RetrieveError> {
    let shelf = Shelf::of(&LIBRARY, Embedding::None).await;
    let finder = shelf.finder();
    let reranking = Reranking { model: &model, first: NonZeroUsize::new(first).unwrap() };
    let params = SearchParams::default();
    let query = "crane tons";
    let hits = search(finder, Search::Words, query, reranking.depth(k), params).await.unwrap();
    let mut lines = Vec::new();
    for hit in reranking.best(finder.base, query, hits, k).await? {
        let title = finder.base.chunks(&[hit.chunk]).await.unwrap()[0].title.clone();
        let parts: Vec<&str> = hit.parts.keys().map(String::as_str).collect();
        let place = hit.parts.get("search_rank").map_or(String::new(), |n| format!(" from {n}"));
        assert!(hit.parts.get("rerank").is_none_or(|score| score.to_bits() == hit.score.to_bits()));
        lines.push(format!("{title}{place}: {}", parts.join(" ")));
    }
    Ok(lines.join("\n"))
}

#[tokio::test]
async fn the_best_of_all_reranked_hits_come_first() {
    let model = ScriptedReranker::shortest_first();
    insta::assert_snapshot!(run(&model, 9, 2).await.unwrap(), @"
    Quay from 4: bm25 rerank search search_rank
    Dock from 2: bm25 rerank search search_rank
    ");
    insta::assert_snapshot!(run(&model, 2, 4).await.unwrap(), @"
    Dock from 2: bm25 rerank search search_rank
    Crane from 1: bm25 rerank search search_rank
    Mill: bm25
    Quay: bm25
    ");
    let (query, texts) = model.requests().remove(0);
    assert_eq!(query, "crane tons");
    assert_eq!(texts.len(), 4);
    assert!(texts.contains(&"Dock\n# Dock\n\nA crane. Of nine tons.".to_owned()), "{texts:?}");
    assert_eq!(model.requests()[1].1.len(), 2);
}

#[tokio::test]
async fn equal_scores_keep_the_order_of_hits() {
    let equal = ScriptedReranker::by_turn(|_, _, texts| Ok(vec![0.5; texts.len()]));
    let all = run(&equal, 9, 4).await.unwrap();
    let places: Vec<&str> = all.lines().filter_map(|line| line.split(['m', ':']).nth(1)).collect();
    assert_eq!(places, [" 1", " 2", " 3", " 4"], "{all}");
}

/// A failure makes no order up, and an empty list costs no call.
#[tokio::test]
async fn a_model_that_fails_ends_the_search() {
    let model = ScriptedReranker::by_turn(|_, _, _| Err(busy("fake")));
    assert!(matches!(run(&model, 9, 2).await, Err(RetrieveError::Rerank(_))));
    let shelf = Shelf::of(&LIBRARY, Embedding::Hashes).await;
    let reranking = Reranking { model: &&model, first: NonZeroUsize::MIN };
    let hits = reranking.best(&shelf.base, "tea", Vec::new(), 3).await.unwrap();
    assert_eq!(hits, []);
    let gone = Hit { chunk: ChunkId(7), score: 1.0, parts: std::collections::BTreeMap::new() };
    assert_eq!(reranking.best(&shelf.base, "tea", vec![gone], 3).await.unwrap(), []);
    assert_eq!((model.requests().len(), reranking.depth(0), reranking.depth(3)), (1, 0, 3));
}
