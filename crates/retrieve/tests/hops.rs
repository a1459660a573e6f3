//! Tests that hop retrieval walks from the names in the question along titles, links and rare
//! names.
#![cfg(test)]

mod common;

use pikerag_knowledge::CorpusReader;
use pikerag_retrieve::{Hit, HopParams, Walk, hops};

use common::{Embedding, Shelf};

/// The text names Brandt Works by title, and the works link to the gate; the chunks share no word.
const LIBRARY: [(&str, &str); 6] = [
    ("crane.md", "# KX-40 crane\n\nThe KX-40 crane was put together at Brandt Works."),
    // HTML: the text does not hold the name of the file.
    (
        "works.html",
        "<title>Brandt Works</title><p>Offices lie behind <a href='gate.md'>a fence</a>.</p>",
    ),
    ("gate.md", "# North door\n\nPainted green."),
    ("tea.md", "# Tea\n\nTea comes from leaves."),
    ("nets.md", "# Nets\n\nNets hold fish."),
    ("snow.md", "# Snow\n\nSnow is white."),
];
const MAKER: &str = "Who made the KX-40 crane?";

#[tokio::test]
async fn hops_follow_titles_and_links_from_the_question() {
    insta::assert_snapshot!(walked(&LIBRARY, MAKER, 3, Embedding::None).await, @r"
    KX-40 crane: named_in_question + words
    Brandt Works: links_ahead + shared_names + title_links
    North door: title_links
    ");
    insta::assert_snapshot!(walked(&LIBRARY, MAKER, 3, Embedding::Hashes).await, @r"
    KX-40 crane: meaning + named_in_question + words
    Brandt Works: links_ahead + shared_names + title_links
    North door: title_links
    ");
}

/// No chunk bears the name; two chunks mention it.
#[tokio::test]
async fn hops_follow_a_rare_name_that_two_chunks_share() {
    let library = [
        ("a.md", "# KX-40 crane\n\nThe drawings are by Ilse Brandt."),
        ("b.md", "# Prizes\n\nOne went to Ilse Brandt."),
        ("c.md", "# Tea\n\nTea comes from leaves."),
        ("d.md", "# Nets\n\nNets hold fish."),
        ("e.md", "# Snow\n\nSnow is white."),
    ];
    insta::assert_snapshot!(walked(&library, MAKER, 2, Embedding::None).await, @r"
    KX-40 crane: named_in_question + words
    Prizes: links_ahead + shared_names
    ");
}

/// A chunk that names the chosen chunk by its title follows it, too.
#[tokio::test]
async fn hops_follow_titles_backwards() {
    let library = [
        ("a.md", "# Varnsund\n\nA town by water."),
        ("b.md", "# Ilse\n\nShe grew up in Varnsund."),
        ("c.md", "# Tea\n\nTea comes from leaves."),
        ("d.md", "# Nets\n\nNets hold fish."),
    ];
    let walk = walked(&library, "What about town water?", 2, Embedding::None).await;
    insta::assert_snapshot!(walk, @r"
    Varnsund: words
    Ilse: links_ahead + shared_names + title_links
    ");
}

#[tokio::test]
async fn chinese_titles_are_found_in_question_and_text() {
    let library = [
        ("a.md", "# 青砚起重机\n\n青砚起重机出自沈若兰之手。"),
        ("b.md", "# 沈若兰\n\n在临江市长大。"),
        ("c.md", "# 临江市\n\n城中有河。"),
        ("d.md", "# 茶叶\n\n采自山上。"),
        ("e.md", "# 渔网\n\n用于捕鱼。"),
    ];
    insta::assert_snapshot!(walked(&library, "青砚起重机是谁造的？", 3, Embedding::None).await, @r"
    青砚起重机: named_in_question + words
    沈若兰: links_ahead + shared_names + title_links
    临江市: shared_names + title_links
    ");
}

#[tokio::test]
async fn k_above_the_number_of_chunks_brings_each_once() {
    for embedding in [Embedding::None, Embedding::Hashes] {
        let shelf = Shelf::of(&LIBRARY, embedding).await;
        let hits = shelf.hops(MAKER, 99).await;
        let mut chunks: Vec<_> = hits.iter().map(|hit| hit.chunk).collect();
        chunks.sort_unstable();
        chunks.dedup();
        assert_eq!(chunks.len(), hits.len(), "no chunk twice");
        assert!(3 <= hits.len() && hits.len() <= LIBRARY.len());
        assert_eq!(shelf.hops(MAKER, 0).await, []);
    }
    // With vectors every chunk is close to some degree.
    let shelf = Shelf::of(&LIBRARY, Embedding::Hashes).await;
    assert_eq!(shelf.hops(MAKER, 99).await.len(), LIBRARY.len());
    let nothing = Shelf::of(&[], Embedding::None).await;
    assert_eq!(nothing.hops(MAKER, 3).await, []);
    assert_eq!(shelf.hops("", 3).await, shelf.hops("", 3).await);
}

/// The walk is the same in every base with the same content, and a longer walk begins like a
/// shorter one.
#[tokio::test]
async fn walks_repeat_for_the_same_question() {
    for embedding in [Embedding::None, Embedding::Hashes] {
        let shelf = Shelf::of(&LIBRARY, embedding).await;
        let first = shelf.hops(MAKER, 6).await;
        assert_eq!(shelf.hops(MAKER, 6).await, first);
        assert_eq!(shelf.hops(MAKER, 2).await, first[..2]);
        let mut backwards = LIBRARY;
        backwards.reverse();
        let other = Shelf::of(&backwards, embedding).await;
        assert_eq!(other.hops(MAKER, 6).await, first);
    }
}

/// A score is the sum of its parts, and the best come first.
#[tokio::test]
async fn every_score_is_explained() {
    let shelf = Shelf::of(&LIBRARY, Embedding::Hashes).await;
    let mut walk = Walk::begin(shelf.finder(), MAKER, HopParams::default()).await.unwrap();
    loop {
        let ranked = walk.top(usize::MAX);
        let Some(best) = ranked.first() else { break };
        assert_eq!(walk.top(2), ranked[..ranked.len().min(2)]);
        assert!(ranked.is_sorted_by(|a, b| b.score <= a.score));
        for hit in &ranked {
            let sum: f32 = hit.parts.values().sum();
            assert!((sum - hit.score).abs() < 1e-5, "{hit:?}");
        }
        walk.take(shelf.finder(), best.chunk).await.unwrap();
        walk.take(shelf.finder(), best.chunk).await.unwrap();
        assert_eq!(walk.top(usize::MAX).len(), ranked.len() - 1);
    }
}

// The fixture.

impl Shelf {
    async fn hops(&self, question: &str, k: usize) -> Vec<Hit> {
        hops(self.finder(), question, k, HopParams::default()).await.unwrap()
    }
}

/// One line per chunk: its title, and the parts of its score by name.
async fn walked(
    library: &[(&str, &str)],
    question: &str,
    k: usize,
    embedding: Embedding,
) -> String {
    let shelf = Shelf::of(library, embedding).await;
    let mut lines = Vec::new();
    for hit in shelf.hops(question, k).await {
        let chunk = shelf.base.chunks(&[hit.chunk]).await.unwrap().remove(0);
        let parts: Vec<&str> = hit.parts.keys().map(String::as_str).collect();
        lines.push(format!("{}: {}", chunk.title, parts.join(" + ")));
    }
    lines.join("\n")
}
