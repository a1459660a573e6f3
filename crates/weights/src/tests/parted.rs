//! Tests that a part's vector is the mean of its own tokens, as the model saw them within the whole
//! text.

use std::ops::Range;

use super::tiny::{HIDDEN, PLAIN, POSITIONS, Tiny, forward, random_tensors, unit, write};
use super::*;

fn parted(text: &str, parts: &[&str]) -> Parted {
    let range = |part: &&str| -> Range<usize> {
        let start = text.find(*part).unwrap();
        start..start + part.len()
    };
    Parted { text: text.to_owned(), parts: parts.iter().map(range).collect() }
}

#[tokio::test]
async fn a_part_is_the_mean_of_its_tokens() {
    let tensors = random_tensors();
    let folder = write(&PLAIN, &tensors);
    let embedder = LocalEmbedder::open(&weights(&folder)).unwrap();
    let text = "Ada wrote the first program. the unknown \n in.";
    // Out of order, within one another, between words and in the middle of one.
    let parts =
        ["the first program.", "Ada wrote the first program.", "unknown \n in.", "rst pro", " "];
    let asked = [parted(text, &parts), parted("", &[]), parted("the", &["the"])];
    let found = embedder.embed_parted(&asked).await.unwrap();
    let texts = asked.clone().map(|asked| asked.text);
    let wholes: Vec<Vector> = found.iter().map(|found| found.whole.clone()).collect();
    assert_eq!(
        wholes,
        embedder.embed_now(&texts).unwrap(),
        "the whole text has the same vector as without parts"
    );

    let ids = tiny::ids(text);
    let tokens: Vec<(usize, usize)> =
        [2].into_iter().chain(ids).chain([3]).map(|id| (id, 0)).collect();
    let rows = forward(&PLAIN, &tensors, &tokens);
    // [CLS] ada wrote the first program . the unknown in . [SEP]; a word belongs to the part it
    // ends in.
    for (nth, tokens) in [3..7, 1..7, 8..11, 4..5].into_iter().enumerate() {
        let sum = |i: usize| rows[tokens.clone()].iter().map(|row| row[i]).sum::<f64>();
        let exact = unit(&(0..HIDDEN).map(sum).collect::<Vec<_>>());
        let worst = off(&found[0].parts[nth], &exact);
        assert!(worst < 2e-4, "{:?} is off by {worst:e}", parts[nth]);
    }
    // A part without tokens is embedded by itself.
    assert_eq!(found[0].parts[4], embedder.embed_now(&[" ".to_owned()]).unwrap()[0]);
    assert!(found[1].parts.is_empty());
}

#[tokio::test]
async fn a_part_that_is_cut_off_is_embedded_by_itself() {
    let folder = write(&PLAIN, &random_tensors());
    let embedder = LocalEmbedder::open(&weights(&folder)).unwrap();
    let text = "the first program . ".repeat(POSITIONS / 4) + "Ada wrote.";
    let found = embedder.embed_parted(&[parted(&text, &["Ada wrote.", "the first"])]).await;
    let found = found.unwrap().remove(0);
    let alone = embedder.embed_now(&["Ada wrote.", "the first"].map(str::to_owned)).unwrap();
    assert_eq!(found.parts[0], alone[0]);
    assert_ne!(found.parts[1], alone[1], "seen within the text");
}

/// If the first token represents the text, no other token represents a part.
#[test]
fn only_means_have_parts() {
    let cls = Tiny { pooling: "cls_token", ..PLAIN };
    for (tiny, has_parts) in [(PLAIN, true), (cls, false)] {
        let folder = write(&tiny, &random_tensors());
        assert_eq!(LocalEmbedder::open(&weights(&folder)).unwrap().reads_parts(), has_parts);
        assert_eq!(LaterEmbedder::new(weights(&folder)).unwrap().reads_parts(), has_parts);
    }
}
