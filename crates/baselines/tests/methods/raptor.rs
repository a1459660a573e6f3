//! Tests that RAPTOR finds chunks and summaries in one search, and cites chunks below a summary.

use std::sync::Arc;

use pikerag_baselines::Method;
use pikerag_baselines::raptor::Params;
use pikerag_doubles::ScriptedChat;
use pikerag_indexing::Params as IngestParams;
use pikerag_knowledge::{AtomKind, CorpusReader, Role, Structure};

use crate::common::solve;
use crate::common::{Files, Shelf};
use crate::methods::fixture::{
    hashes, method, ports, prompts, question, script, section, trace_of,
};

const BORN: &str = "Where was the designer of the KX-40 crane born?";
const VARNSUND: &str = r#"{"answer": "Varnsund", "rationale": "", "citations": [{"passage": 1, "quote": "born in Varnsund"}]}"#;

/// A base whose tree is one summary over three pages.
async fn shelve() -> Shelf {
    let pages = [
        ("crane.md", "The KX-40 crane was designed by Ilse Brandt."),
        ("brandt.md", "Ilse Brandt was born in Varnsund."),
        ("tea.md", "Tea is made from leaves."),
    ];
    let summary = "The designer of the KX-40 crane was born in Varnsund. Tea is made from leaves.";
    let chat = Arc::new(ScriptedChat::in_order([summary]));
    let shelf = Shelf::empty();
    let atoms = vec![AtomKind::Sentence];
    let params = IngestParams { atoms, with: vec![Structure::Tree], ..IngestParams::default() };
    let report = shelf.index(&Files::from_iter(pages), Some(chat), Some(hashes()), &params).await;
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(shelf.base.summary().await.unwrap().summaries, 1);
    shelf
}

#[tokio::test]
async fn the_collapsed_tree_is_searched_at_once() {
    let shelf = shelve().await;
    let chat = script(&[(Role::Answer, &[VARNSUND])]);
    let ports = ports(&shelf, Some(hashes()), &chat);
    let answer = solve(&ports, &question("q", BORN), method("raptor")).await.unwrap();
    insta::assert_snapshot!(trace_of(&answer), @r"
    raptor: Where was the designer of the KX-40 crane born?
    consults: Summary 0.75 The designer of the KX-40 crane was born in Varnsund. Tea is made from leaves.
    gathers: crane | brandt | tea
    answer: Varnsund
    cites brandt.md: born in Varnsund
    calls: 1 answer
    ");
    insta::assert_snapshot!(section(&prompts(&chat)[0], "# Notes"), @r"
    What was worked out before; it may be wrong. Where it differs from the passages, the passages are right. Mark a fact that only the notes state in the rationale.
    - The designer of the KX-40 crane was born in Varnsund. Tea is made from leaves.
    ");
}

/// If only the summary fits, the closest chunk below it comes with it.
#[tokio::test]
async fn a_summary_brings_a_chunk_to_cite() {
    let shelf = shelve().await;
    let quoting = VARNSUND.replace("born in Varnsund", "designed by Ilse Brandt");
    let chat = script(&[(Role::Answer, &[quoting.as_str()])]);
    let ports = ports(&shelf, Some(hashes()), &chat);
    let narrow = Method::Raptor(Params { tokens: 25, ..Params::default() });
    let answer = solve(&ports, &question("q", BORN), narrow).await.unwrap();
    insta::assert_snapshot!(trace_of(&answer), @r"
    raptor (own parameters): Where was the designer of the KX-40 crane born?
    consults: Summary 0.75 The designer of the KX-40 crane was born in Varnsund. Tea is made from leaves.
    gathers: crane
    answer: Varnsund
    cites crane.md: designed by Ilse Brandt
    calls: 1 answer
    ");
}
