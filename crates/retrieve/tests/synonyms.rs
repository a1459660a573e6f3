//! Tests that every search uses the synonym pairs that a person declared.
#![cfg(test)]

mod common;

use pikerag_knowledge::{AtomKind, KeyedPair, NameKey, Origin, TagEdit, TagPair, TagWriter};
use pikerag_language::names::tag_words;
use pikerag_retrieve::{Search, SearchParams, atoms, declared, search, with_words};

use common::{Embedding, Shelf};

/// Everyday words do not occur in these statutes.
const STATUTES: [(&str, &str); 4] = [
    ("a.md", "# 盗窃罪\n\n盗窃公私财物，数额较大的，处三年以下有期徒刑。"),
    ("b.md", "# 渎职罪\n\n国家机关工作人员滥用职权，处三年以下拘役。"),
    ("c.md", "# Slew ring\n\nThe slew ring is greased once a month."),
    ("d.md", "# Tea\n\nTea is warm, and its leaves are green."),
];

fn pair(colloquial: &str, professional: &str, origin: Origin) -> KeyedPair {
    let key = |word| NameKey::of_folded(&tag_words(word));
    KeyedPair {
        colloquial: key(colloquial),
        professional: key(professional),
        sample: None,
        pair: TagPair {
            colloquial: colloquial.to_owned(),
            professional: professional.to_owned(),
            class: String::new(),
            origin,
            samples: 0,
        },
    }
}

async fn shelf(embedding: Embedding, pairs: Vec<KeyedPair>) -> Shelf {
    let shelf = Shelf::of(&STATUTES, embedding).await;
    shelf.base.edit_tags(TagEdit::AddPairs(pairs)).await.unwrap();
    shelf
}

/// The file of the first chunk that a search finds; none where it finds nothing.
async fn first(shelf: &Shelf, by: Search, question: &str) -> Option<String> {
    let hits = search(shelf.finder(), by, question, 1, SearchParams::default()).await.unwrap();
    let ids: Vec<_> = hits.iter().map(|hit| hit.chunk).collect();
    let chunks = shelf.finder().base.chunks(&ids).await.unwrap();
    chunks.first().map(|chunk| chunk.uri.clone())
}

#[tokio::test]
async fn declared_pairs_serve_every_search() {
    let pairs = vec![
        pair("偷东西", "盗窃", Origin::Declared),
        pair("turn tables", "slew ring", Origin::Declared),
    ];
    let plain = shelf(Embedding::None, Vec::new()).await;
    let by_words = shelf(Embedding::None, pairs.clone()).await;
    let by_meaning = shelf(Embedding::Hashes, pairs).await;
    for (question, wanted) in [("偷东西会怎样？", "a.md"), ("How is the turn table oiled?", "c.md")]
    {
        for &by in Search::ALL {
            assert_eq!(first(&plain, by, question).await, None, "{by} needs no pair");
            for shelf in [&by_words, &by_meaning] {
                assert_eq!(first(shelf, by, question).await.as_deref(), Some(wanted), "{by}");
            }
        }
        let asked = [question.to_owned()];
        let kind = AtomKind::Sentence;
        let found = atoms(by_words.finder(), kind, &asked, 1, 0.1, &[]).await.unwrap();
        assert!(!found.is_empty(), "no atom for {question}");
    }
}

#[tokio::test]
async fn the_longest_declared_words_count_and_learned_ones_do_not() {
    let shelf = shelf(
        Embedding::None,
        vec![
            pair("turn", "rotate", Origin::Declared),
            pair("turn table", "slew ring", Origin::Declared),
            pair("oiled", "lubricated", Origin::Found),
        ],
    )
    .await;
    let question = "How often is the turn table oiled? The slew ring, I mean: turn it.";
    let tags = declared(shelf.finder(), question).await.unwrap();
    let found: Vec<(&str, &[String])> =
        tags.iter().map(|tag| (tag.tag.as_str(), tag.to.as_slice())).collect();
    assert_eq!(
        found,
        [("turn table", &["slew ring".to_owned()][..]), ("turn", &["rotate".to_owned()])]
    );
    assert_eq!(with_words(question, &tags), format!("{question} (rotate)"));
    assert_eq!(with_words(question, &[]), question);
}
