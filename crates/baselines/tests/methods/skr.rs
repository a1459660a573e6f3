//! Tests that the nearest labelled questions decide whether SKR retrieves (Wang et al., 2023).

use std::sync::Arc;

use pikerag_doubles::ScriptedChat;
use pikerag_knowledge::{Embedder, Role};
use pikerag_methods::{LabelledQuestion, Ports, SolveError};

use crate::methods::fixture::*;

const BORN: &str = "Where was Ilse Brandt born?";
const VARNSUND: &str = r#"{"answer": "Varnsund"}"#;
/// The first is far from the question and is not among the five nearest.
const LABELLED: [(&str, bool); 6] = [
    ("What do cats eat?", true),
    ("Where was Jon Hale born?", true),
    ("Where was Anna Berg born?", false),
    ("When was Ilse Brandt born?", false),
    ("Where was the king born?", true),
    ("Who was born where Ilse was?", false),
];

async fn ports_with(
    labelled: &[(&str, bool)],
    embedder: Option<Arc<dyn Embedder>>,
    chat: &Arc<ScriptedChat>,
) -> (crate::common::Shelf, Ports) {
    let shelf = shelve(&LIBRARY, embedder.clone()).await;
    let mut ports = ports(&shelf, embedder, chat);
    let label =
        |(text, known): &(&str, bool)| LabelledQuestion { text: (*text).into(), known: *known };
    ports.models.labelled = labelled.iter().map(label).collect();
    (shelf, ports)
}

async fn ask_labelled(labelled: &[(&str, bool)], chat: &Arc<ScriptedChat>) -> Answered {
    let (_shelf, ports) = ports_with(labelled, Some(hashes()), chat).await;
    solve(&ports, &question("q", BORN), method("skr")).await.unwrap()
}

/// Three of the five nearest are not known.
#[tokio::test]
async fn unknown_neighbours_lead_to_retrieval() {
    let chat = script(&[(Role::Answer, &[VARNSUND])]);
    insta::assert_snapshot!(trace_of(&ask_labelled(&LABELLED, &chat).await), @r"
    skr: Where was Ilse Brandt born?
    Known false 0.80 by Neighbours: When was Ilse Brandt born?
    Known false 0.79 by Neighbours: Who was born where Ilse was?
    Known true 0.60 by Neighbours: Where was Jon Hale born?
    Known false 0.60 by Neighbours: Where was Anna Berg born?
    Known true 0.60 by Neighbours: Where was the king born?
    Known false 0.40 by Neighbours: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Jon Hale: # Jon Hale Jon Hale was born in Oslo. -> Jon Hale
      Chunks: Tea: # Tea Tea is made from leaves. -> Tea
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 1 answer
    ");
    assert!(section(&prompts(&chat)[0], "# Context").contains("born in Varnsund"));
}

/// The same neighbours, one label changed: three of five are known.
#[tokio::test]
async fn known_neighbours_lead_to_memory() {
    let mut labelled = LABELLED;
    labelled[3].1 = true;
    let chat = script(&[(Role::Answer, &[VARNSUND])]);
    insta::assert_snapshot!(trace_of(&ask_labelled(&labelled, &chat).await), @r"
    skr: Where was Ilse Brandt born?
    Known true 0.80 by Neighbours: When was Ilse Brandt born?
    Known false 0.79 by Neighbours: Who was born where Ilse was?
    Known true 0.60 by Neighbours: Where was Jon Hale born?
    Known false 0.60 by Neighbours: Where was Anna Berg born?
    Known true 0.60 by Neighbours: Where was the king born?
    Known true 0.60 by Neighbours: Where was Ilse Brandt born?
    answer: Varnsund
    calls: 1 answer
    ");
    // The closed-book prompt contains no passages.
    assert!(!prompts(&chat)[0].contains("passages"));
}

#[tokio::test]
async fn neighbours_are_found_by_words_without_an_embedder() {
    let chat = script(&[(Role::Answer, &[VARNSUND])]);
    let (_shelf, ports) = ports_with(&LABELLED, None, &chat).await;
    let overrides = set("k", 3);
    let method = method("skr").with(&overrides);
    let answer = solve(&ports, &question("q", BORN), method).await.unwrap();
    insta::assert_snapshot!(trace_of(&answer), @r"
    skr (own parameters): Where was Ilse Brandt born?
    Known false 1.00 by Neighbours: When was Ilse Brandt born?
    Known false 0.67 by Neighbours: Who was born where Ilse was?
    Known true 0.25 by Neighbours: Where was the king born?
    Known false 0.33 by Neighbours: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Jon Hale: # Jon Hale Jon Hale was born in Oslo. -> Jon Hale
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 1 answer
    ");
}

/// Fewer examples than requested neighbours, and a tie: retrieve.
#[tokio::test]
async fn a_tie_leads_to_retrieval() {
    let chat = script(&[(Role::Answer, &[VARNSUND])]);
    let answer = ask_labelled(&LABELLED[1..3], &chat).await;
    let trace = trace_of(&answer);
    assert!(trace.contains(&format!("Known false 0.50 by Neighbours: {BORN}\nhop 1")), "{trace}");
    assert_eq!(answer.context.chunks.len(), 5);
}

#[tokio::test]
async fn an_unreadable_answer_becomes_a_quotation() {
    let chat = script(&[(Role::Answer, &["?", "?"])]);
    let trace = trace_of(&ask_labelled(&LABELLED, &chat).await);
    assert!(trace.contains("note: The reply could not be read: the answer quotes"), "{trace}");
}

#[tokio::test]
async fn it_needs_labelled_questions_and_a_model() {
    let error = fails("skr", BORN, &[]).await;
    assert!(matches!(error, SolveError::NoLabelledQuestions), "{error}");
    assert!(error.to_string().contains("labelled as known"), "{error}");
    let error = fails_without_models("skr").await;
    assert!(matches!(error, SolveError::NoModel { role: Role::Answer }), "{error}");
}

#[tokio::test]
async fn two_runs_are_equal() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let chat = script(&[(Role::Answer, &[VARNSUND])]);
        runs.push(bytes(&ask_labelled(&LABELLED, &chat).await));
    }
    assert_eq!(runs[0], runs[1]);
}
