//! Tests the search `auto` at its limits: long lists, and questions that name a page.
#![cfg(test)]

mod common;

use pikerag_retrieve::{Finder, Known, Memory, Search, SearchParams, search};

use common::{Embedding, Shelf};

/// Lists are looked up some hundred deep; a larger `k` gets more.
#[tokio::test]
async fn k_above_the_list_depth_brings_k_chunks() {
    const ALL: usize = 230;
    let notes: Vec<(String, String)> = (0..ALL)
        .map(|i| (format!("{i}.md"), format!("# Note {i}\n\nThe crane was greased in year {i}.")))
        .collect();
    let notes: Vec<(&str, &str)> =
        notes.iter().map(|(uri, text)| (uri.as_str(), text.as_str())).collect();
    let plain = Shelf::of(&notes, Embedding::None).await;
    for k in [1, 40, ALL] {
        let params = SearchParams::default();
        let hits =
            search(plain.finder(), Search::Auto, "Which crane was greased?", k, params).await;
        assert_eq!(hits.unwrap().len(), k);
    }
}

/// If the question names a page and asks for one thing, similar pages that no name leads to rank
/// behind.
#[tokio::test]
async fn a_named_page_leads_to_the_pages_it_mentions() {
    let library = [
        ("a.md", "# Ilse Brandt\n\nIlse Brandt is a Riveter by occupation."),
        ("b.md", "# Riveter\n\nA Riveter joins plates of steel."),
        ("c.md", "# Jon Hale\n\nThe occupation of Jon Hale was his occupation for life."),
        ("d.md", "# Ada Hale\n\nHer occupation, an occupation of many, was an occupation."),
    ];
    for embedding in [Embedding::None, Embedding::Hashes] {
        let shelf = Shelf::of(&library, embedding).await;
        let question = "What is the occupation of Ilse Brandt?";
        let params = SearchParams::default();
        let hits = search(shelf.finder(), Search::Auto, question, 4, params).await.unwrap();
        let ids: Vec<_> = hits.iter().map(|hit| hit.chunk).collect();
        let chunks = shelf.finder().base.chunks(&ids).await.unwrap();
        let titles: Vec<&str> = chunks.iter().map(|chunk| chunk.title.as_str()).collect();
        assert_eq!(&titles[..2], ["Ilse Brandt", "Riveter"], "{titles:?}");
        let by_hops = |at: usize| hits[at].parts.get("hops").copied().unwrap_or_default();
        assert!(0.0 < by_hops(1), "{hits:?}");
        assert_eq!((by_hops(2), by_hops(3)), (0.0, 0.0), "{hits:?}");
    }
}

/// What earlier questions found out, and what the same question looked up, changes no hit.
#[tokio::test]
async fn a_memory_changes_no_hit() {
    let library = [
        ("a.md", "# Ilse Brandt\n\nIlse Brandt worked for Mervo Pumps in Genoa. See Riveter."),
        ("b.md", "# Riveter\n\nA Riveter joins plates of steel. Mervo Pumps hires many."),
        ("c.md", "# Mervo Pumps\n\nMervo Pumps of Genoa belongs to Jon Hale."),
        ("d.md", "# Jon Hale\n\nJon Hale met Ilse Brandt in Genoa."),
    ];
    let questions = [
        "Who owns the firm of Ilse Brandt?",
        "What does a Riveter of Mervo Pumps join?",
        "Whom did Jon Hale meet in Genoa?",
        "Who owns the firm of Ilse Brandt?",
    ];
    for embedding in [Embedding::None, Embedding::Hashes] {
        let (shelf, known) = (Shelf::of(&library, embedding).await, Known::default());
        for question in questions {
            let memory = Memory::new(Some(known.of("base 1")));
            let with_memory = Finder { memory: Some(&memory), ..shelf.finder() };
            for k in [1, 4] {
                let find =
                    |finder| search(finder, Search::Auto, question, k, SearchParams::default());
                let plain = find(shelf.finder()).await.unwrap();
                assert_eq!(find(with_memory).await.unwrap(), plain, "{question}");
            }
        }
    }
}
