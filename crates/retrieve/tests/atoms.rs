//! Tests of the atoms that answer proposals.
#![cfg(test)]

mod common;

use pikerag_doubles::{HashEmbedder, ScriptedEmbedder};
use pikerag_knowledge::AtomKind;
use pikerag_retrieve::{AtomHit, Finder, atoms, atoms_compared};

use common::{Embedding, Shelf};

const LIBRARY: [(&str, &str); 3] = [
    ("crane.md", "The old crane lifts forty tons."),
    ("harbour.md", "The old harbour lifts forty crane parts."),
    ("tea.md", "Tea comes from leaves."),
];

/// Of one atom for each proposal, the crane's is nearer to the proposal that finds the harbour's.
#[tokio::test]
async fn a_pair_has_its_greatest_similarity_to_any_proposal() {
    let proposals = [
        "How many tons, leaves or boats does the crane lift?".to_owned(),
        "The old harbour crane lifts forty parts of tons.".to_owned(),
    ];
    for embedding in [Embedding::Hashes, Embedding::None] {
        let shelf = Shelf::of(&LIBRARY, embedding).await;
        let kind = AtomKind::Sentence;
        let found = atoms(shelf.finder(), kind, &proposals, 1, 0.0, &[]).await.unwrap();
        let compared = atoms_compared(shelf.finder(), kind, &proposals, 1, 0.0, &[]).await.unwrap();
        let one = |hits: &[AtomHit], word: &str| {
            let hit = hits.iter().find(|hit| hit.atom.text.contains(word)).unwrap();
            (hit.proposal, hit.score)
        };
        let (before, after) = (one(&found, "tons"), one(&compared, "tons"));
        assert_eq!((before.0, after.0), (0, 1), "{found:?} {compared:?}");
        assert!(before.1 < after.1, "{before:?} {after:?}");
        assert_eq!(one(&found, "parts"), one(&compared, "parts"));
        let alone = atoms(shelf.finder(), kind, &proposals[1..], 3, 0.0, &[]).await.unwrap();
        assert!((one(&alone, "tons").1 - after.1).abs() < 1e-5, "{alone:?} {after:?}");
    }
}

#[tokio::test]
async fn compared_proposals_are_embedded_once() {
    let shelf = Shelf::of(&LIBRARY, Embedding::Hashes).await;
    let hashes = HashEmbedder::new(4096);
    let embedder = ScriptedEmbedder::by(move |texts| Ok(hashes.vectors(texts)));
    let finder = Finder { embedder: Some(&embedder), ..shelf.finder() };
    let proposals = ["What lifts forty tons?".to_owned(), "What comes from leaves?".to_owned()];
    let hits = atoms_compared(finder, AtomKind::Sentence, &proposals, 1, 0.0, &[]).await.unwrap();
    assert_eq!(hits.len(), 2, "{hits:?}");
    assert_eq!(embedder.requests(), [proposals.to_vec()]);
}
