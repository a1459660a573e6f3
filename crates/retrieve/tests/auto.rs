//! Does the search that loses nowhere keep what it promises at its ends?
#![cfg(test)]

mod common;

use pikerag_retrieve::{Search, SearchParams, search};

use common::{Embedding, Shelf};

/// Lists are looked up some hundred deep; who asks for more gets more.
#[tokio::test]
async fn as_many_chunks_as_are_asked_for() {
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

/// Where the question names a page and asks for one thing, pages that are like it and not reached by name stay behind.
#[tokio::test]
async fn what_is_named_leads_to_what_it_mentions() {
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
