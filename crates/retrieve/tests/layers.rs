//! Tests that the scores of all layers add up and spread along the graph's edges (PIKE-RAG §5.2.3).
#![cfg(test)]

mod common;

use pikerag_extract::{ChunkParams, document_graph};
use pikerag_knowledge::{
    Atom, AtomId, AtomKind, ChunkResults, ChunkSet, CorpusReader, CorpusWriter, FileRecord,
    InChunk, Progress, SearchWriter, Stage,
};
use pikerag_parse::{Limits, NoTools, parse};
use pikerag_retrieve::{Hit, LayerParams, Search, SearchParams, Spread, layers, search};

use common::{Embedding, Shelf};

/// The text names Brandt Works by title, and the works link to the gate; the chunks share no word.
const LIBRARY: [(&str, &str); 6] = [
    (
        "crane.md",
        "# KX-40 crane\n\n## Origin\n\nIt was put together at Brandt Works.\n\n## Load\n\nIt lifts forty tons.",
    ),
    (
        "works.html",
        "<title>Brandt Works</title><p>Offices lie behind <a href='gate.md'>a fence</a>.</p>",
    ),
    ("gate.md", "# North door\n\nPainted green."),
    ("tea.md", "# Tea\n\nTea comes from leaves."),
    ("nets.md", "# Nets\n\nNets hold fish."),
    ("snow.md", "# Snow\n\nSnow is white."),
];
const MAKER: &str = "What is the origin of the KX-40 crane?";

#[tokio::test]
async fn every_layer_and_every_kind_of_edge_has_its_part() {
    insta::assert_snapshot!(scores_by_part(Embedding::None, LayerParams::default()).await, @r"
    KX-40 crane › Origin 1.61: chunk 0.63 + distilled 0.26 + named_in_question 0.25 + next 0.01 + refers_to 0.01 + section 0.13 + source 0.32
    KX-40 crane › Load 0.64: chunk 0.11 + named_in_question 0.04 + next 0.11 + refers_to 0.26 + section 0.03 + source 0.09
    Brandt Works 0.55: refers_to 0.52 + shared_names 0.03
    ");
    insta::assert_snapshot!(scores_by_part(Embedding::Hashes, LayerParams::default()).await, @r"
    KX-40 crane › Origin 1.69: chunk 0.63 + distilled 0.32 + named_in_question 0.25 + next 0.01 + refers_to 0.00 + section 0.13 + source 0.35
    KX-40 crane › Load 0.64: chunk 0.09 + named_in_question 0.04 + next 0.12 + refers_to 0.27 + section 0.02 + source 0.09
    Brandt Works 0.58: refers_to 0.55 + shared_names 0.03
    Snow 0.00: chunk 0.00 + distilled 0.00
    ");
}

#[tokio::test]
async fn without_spreading_no_score_comes_from_elsewhere() {
    let params = LayerParams { spread: Spread::Off, ..LayerParams::default() };
    insta::assert_snapshot!(scores_by_part(Embedding::None, params).await, @r"
    KX-40 crane › Origin 2.52: chunk 1.00 + distilled 0.42 + named_in_question 0.40 + section 0.20 + source 0.50
    KX-40 crane › Load 0.28: chunk 0.11 + named_in_question 0.04 + section 0.03 + source 0.10
    ");
}

#[tokio::test]
async fn one_step_is_not_two() {
    let params = LayerParams { spread: Spread::OneStep, ..LayerParams::default() };
    insta::assert_snapshot!(scores_by_part(Embedding::None, params).await, @r"
    KX-40 crane › Origin 1.61: chunk 0.63 + distilled 0.26 + named_in_question 0.25 + next 0.01 + refers_to 0.01 + section 0.13 + source 0.32
    KX-40 crane › Load 0.64: chunk 0.11 + named_in_question 0.04 + next 0.11 + refers_to 0.26 + section 0.03 + source 0.09
    Brandt Works 0.55: refers_to 0.52 + shared_names 0.03
    ");
}

/// A score is the sum of its parts, the best come first, and a longer list begins like a shorter
/// one; the list is the same in every base with the same content.
#[tokio::test]
async fn every_score_is_explained_and_every_run_repeats() {
    for embedding in [Embedding::None, Embedding::Hashes] {
        for spread in [Spread::Off, Spread::OneStep, Spread::PageRank] {
            let params = LayerParams { spread, ..LayerParams::default() };
            let shelf = Shelf::of(&LIBRARY, embedding).await;
            let first = shelf.layers(99, params).await;
            assert!(first.is_sorted_by(|a, b| b.score <= a.score) && 2 <= first.len());
            for hit in &first {
                let sum: f32 = hit.parts.values().sum();
                assert!((sum - hit.score).abs() < 1e-5, "{hit:?}");
                assert!(hit.parts.values().all(|part| 0.0 <= *part), "{hit:?}");
            }
            assert_eq!(shelf.layers(99, params).await, first);
            assert_eq!(shelf.layers(2, params).await, first[..2]);
            let mut backwards = LIBRARY;
            backwards.reverse();
            let other = Shelf::of(&backwards, embedding).await;
            assert_eq!(other.layers(99, params).await, first);
        }
    }
}

/// Spreading keeps the sum of all scores.
#[tokio::test]
async fn spreading_keeps_the_sum_of_scores() {
    let shelf = Shelf::of(&LIBRARY, Embedding::None).await;
    let sum = async |spread| -> f32 {
        let params = LayerParams { spread, ..LayerParams::default() };
        shelf.layers(99, params).await.iter().map(|hit| hit.score).sum()
    };
    let off = sum(Spread::Off).await;
    for spread in [Spread::OneStep, Spread::PageRank] {
        let other = sum(spread).await;
        assert!((other - off).abs() < 1e-4, "{off} {other}");
    }
}

/// Every search, on a base with content and on an empty one: each chunk once, at most `k` chunks.
#[tokio::test]
async fn every_search_finds_chunks_unless_the_base_is_empty() {
    for embedding in [Embedding::None, Embedding::Hashes] {
        let shelf = Shelf::of(&LIBRARY, embedding).await;
        let nothing = Shelf::of(&[], embedding).await;
        for &by in Search::ALL {
            assert_eq!(by.name().parse::<Search>().unwrap(), by);
            let params = SearchParams::default();
            let hits = search(shelf.finder(), by, MAKER, 3, params).await.unwrap();
            let mut chunks: Vec<_> = hits.iter().map(|hit| hit.chunk).collect();
            chunks.sort_unstable();
            chunks.dedup();
            assert!(!hits.is_empty() && hits.len() <= 3 && chunks.len() == hits.len(), "{by}");
            assert_eq!(search(nothing.finder(), by, MAKER, 3, params).await.unwrap(), [], "{by}");
            search(shelf.finder(), by, "", 3, params).await.unwrap();
        }
    }
}

// The fixture.

impl Shelf {
    async fn layers(&self, k: usize, params: LayerParams) -> Vec<Hit> {
        layers(self.finder(), MAKER, k, params).await.unwrap()
    }
}

/// One line per chunk: its title, its score and the parts of it.
async fn scores_by_part(embedding: Embedding, params: LayerParams) -> String {
    let shelf = Shelf::of(&LIBRARY, embedding).await;
    let mut lines = Vec::new();
    for hit in shelf.layers(4, params).await {
        let chunk = shelf.base.chunks(&[hit.chunk]).await.unwrap().remove(0);
        let parts: Vec<String> =
            hit.parts.iter().map(|(name, part)| format!("{name} {part:.2}")).collect();
        lines.push(format!("{} {:.2}: {}", chunk.full_title(), hit.score, parts.join(" + ")));
    }
    lines.join("\n")
}

/// A base whose atoms are statements is searched by statements.
#[tokio::test]
async fn atom_search_uses_statements_without_questions() {
    let folder = tempfile::tempdir().unwrap();
    let base = pikerag_store::Base::open_or_create(folder.path()).unwrap();
    let parsed = parse("a.md", b"# Crane\n\nIt lifts.", &Limits::default(), &NoTools).unwrap();
    let graph = |document| document_graph("a.md", document, ChunkParams::default());
    let file = FileRecord { path: "a.md".to_owned(), hash: String::new(), recipe: String::new() };
    base.put_file(&file, parsed.documents.into_iter().map(graph).collect()).await.unwrap();
    let stage = Stage::atomize(AtomKind::Statement);
    let chunk = base.pending(&stage, ChunkSet::Searchable, None, 1).await.unwrap()[0];
    let text = "The crane lifts forty tons.";
    let id = AtomId::of(chunk, "statement", text);
    let atom = Atom { id, chunk, kind: AtomKind::Statement, text: text.to_owned() };
    base.put_chunk_results(ChunkResults::Atoms(
        stage.clone(),
        vec![InChunk { chunk, found: vec![atom] }],
    ))
    .await
    .unwrap();
    base.refresh().await.unwrap();
    let finder = pikerag_retrieve::Finder { base: &base, embedder: None, memory: None };
    let hits =
        search(finder, Search::Atoms, "What does the crane lift?", 4, SearchParams::default());
    let found: Vec<_> = hits.await.unwrap().into_iter().map(|hit| hit.chunk).collect();
    assert_eq!(found, [chunk]);
}
