//! Tests that `SearChain` verifies, corrects and completes its chain node by node (Xu et al., 2024;
//! KAR³ §A.2).

use pikerag_baselines::Method;
use pikerag_baselines::searchain::Params;
use pikerag_knowledge::Role;
use pikerag_methods::SolveError;

use crate::methods::fixture::*;

const BORN: &str = "Where was the designer of the KX-40 crane born?";
const BOTH_KNOWN: &str = r#"{"chain": [
    {"query": "Who designed the KX-40 crane?", "answer": "Ilse Brandt"},
    {"query": "Where was Ilse Brandt born?", "answer": "in Varnsund"}]}"#;
const FIRST_WRONG: &str = r#"{"chain": [
    {"query": "Who designed the KX-40 crane?", "answer": "Jon Hale"},
    {"query": "Where was Jon Hale born?", "answer": "Oslo"}]}"#;
const BIRTHPLACE: &str = r#"{"chain": [{"query": "Where was Ilse Brandt born?", "answer": null}]}"#;
const NOTHING: &str = r#"{"chain": []}"#;
const BRANDT: &str = r#"{"answer": "Ilse Brandt", "rationale": "It says so."}"#;
const VARNSUND: &str = r#"{"answer": "Varnsund", "rationale": "It says so."}"#;
const CONTRADICTS: &str = r#"{"consistent": false}"#;
const AGREES: &str = r#"{"consistent": true}"#;

/// Articles and spelling need no verdict, another wording does; the chain is planned once.
#[tokio::test]
async fn verified_chains_are_planned_once() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Decompose, &[BOTH_KNOWN]),
        (Role::Relevant, &[AGREES]),
        (Role::Answer, &[r#"{"answer": "ILSE BRANDT."}"#, VARNSUND, "Varnsund."]),
    ];
    insta::assert_snapshot!(run("searchain", BORN, replies).await, @r"
    searchain: Where was the designer of the KX-40 crane born?
    node 0 after []: Who designed the KX-40 crane? -> Ilse Brandt
    node 1 after [0]: Where was Ilse Brandt born? -> in Varnsund
    asks at 1: Who designed the KX-40 crane?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    answers at 1: Who designed the KX-40 crane? -> Ilse Brandt
    asks at 1: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    Consistent true by Verdict: in Varnsund = Varnsund
    answers at 1: Where was Ilse Brandt born? -> in Varnsund
    path [0, 1]: Varnsund
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 3 answer | 1 relevant | 1 decompose
    ");
}

/// The wrong node is corrected and the rest dropped; the next plan's open node is completed, and
/// the chain ends when the planner adds nothing. Branches start at the corrected node.
#[tokio::test]
async fn nodes_are_corrected_and_completed() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Decompose, &[FIRST_WRONG, BIRTHPLACE, NOTHING]),
        (Role::Relevant, &[CONTRADICTS]),
        (Role::Answer, &[BRANDT, VARNSUND, "So the final answer is: Varnsund."]),
    ];
    insta::assert_snapshot!(run("searchain", BORN, replies).await, @r"
    searchain: Where was the designer of the KX-40 crane born?
    node 0 after []: Who designed the KX-40 crane? -> Jon Hale
    node 1 after [0]: Where was Jon Hale born? -> Oslo
    asks at 1: Who designed the KX-40 crane?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    Consistent false by Verdict: Jon Hale = Ilse Brandt
    answers at 1: Who designed the KX-40 crane? -> Ilse Brandt
    node 2 after [0]: Where was Ilse Brandt born? -> ?
    asks at 1: Where was Ilse Brandt born?
    hop 2 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    answers at 1: Where was Ilse Brandt born? -> Varnsund
    hop 3 stops: NothingProposed
    path [0, 2]: Varnsund
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 3 answer | 1 relevant | 3 decompose
    ");
}

#[tokio::test]
async fn the_planner_sees_settled_pairs_and_their_passages() {
    let chat = script(&[
        (Role::Decompose, &[FIRST_WRONG, BIRTHPLACE, NOTHING]),
        (Role::Relevant, &[CONTRADICTS]),
        (Role::Answer, &[BRANDT, VARNSUND, "Varnsund"]),
    ]);
    ask("searchain", BORN, &chat).await;
    let prompts = prompts(&chat);
    // Plan, read, compare; plan, read; plan; combine.
    let [first, read, compare, second, _, third, combine] = &prompts[..] else {
        panic!("{prompts:#?}")
    };
    assert!(!first.contains("# Settled so far") && !first.contains("# Context"), "{first}");
    assert!(!first.contains("has been looked up already"), "{first}");
    insta::assert_snapshot!(section(second, "# Settled so far").trim(), @r"
    Follow up: Who designed the KX-40 crane?
    Intermediate answer: Ilse Brandt
    ");
    assert!(section(second, "# Context").contains("was designed by Ilse Brandt"), "{second}");
    assert!(second.contains("has been looked up already"), "{second}");
    insta::assert_snapshot!(section(third, "# Settled so far").trim(), @r"
    Follow up: Who designed the KX-40 crane?
    Intermediate answer: Ilse Brandt
    Follow up: Where was Ilse Brandt born?
    Intermediate answer: Varnsund
    ");
    assert!(section(third, "# Context").starts_with("[1] Ilse Brandt"), "{third}");
    for plan in [first, second, third] {
        assert_eq!(section(plan, "# Question").trim(), BORN);
    }
    assert_eq!(section(read, "# Question").trim(), "Who designed the KX-40 crane?");
    assert!(section(read, "# Context").contains("was designed by Ilse Brandt"), "{read}");
    assert_eq!(section(compare, "# From memory").trim(), "Jon Hale");
    assert_eq!(section(compare, "# From passages").trim(), "Ilse Brandt");
    assert_eq!(section(compare, "# Question").trim(), "Who designed the KX-40 crane?");
    assert!(
        combine.contains("Follow up: Who designed the KX-40 crane?\nIntermediate answer: Ilse")
    );
    assert!(!combine.contains("Jon Hale"), "{combine}");
}

/// N = 1: the chain is planned twice, and the answer comes from the pairs settled by then.
#[tokio::test]
async fn new_plans_are_limited() {
    let inhabitants =
        r#"{"chain": [{"query": "How many inhabitants does Varnsund have?", "answer": null}]}"#;
    let chat = script(&[
        (Role::Decompose, &[BIRTHPLACE, inhabitants, inhabitants]),
        (Role::Answer, &[VARNSUND, r#"{"answer": "41000"}"#, "Varnsund"]),
    ]);
    let overrides = set("n", 1);
    let answer = ask_with(method("searchain").with(&overrides), BORN, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    searchain (own parameters): Where was the designer of the KX-40 crane born?
    node 0 after []: Where was Ilse Brandt born? -> ?
    asks at 1: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    answers at 1: Where was Ilse Brandt born? -> Varnsund
    node 1 after [0]: How many inhabitants does Varnsund have? -> ?
    asks at 1: How many inhabitants does Varnsund have?
    hop 2 finds:
      Chunks: Varnsund: # Varnsund Varnsund has 41000 inhabitants. -> Varnsund
    answers at 1: How many inhabitants does Varnsund have? -> 41000
    hop 2 stops: HopLimit
    path [0, 1]: Varnsund
    answer: Varnsund
    cites varnsund.md: Varnsund has 41000 inhabitants.
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 3 answer | 2 decompose
    ");
}

/// A planner that repeats settled queries adds nothing.
#[tokio::test]
async fn settled_queries_are_not_looked_up_again() {
    let replies: &[(Role, &[&str])] =
        &[(Role::Decompose, &[BIRTHPLACE; 2]), (Role::Answer, &[VARNSUND, "Varnsund"])];
    let trace = run("searchain", BORN, replies).await;
    assert!(trace.contains("hop 2 stops: NothingProposed"), "{trace}");
}

#[tokio::test]
async fn a_chain_without_end_is_cut() {
    let endless = format!(
        r#"{{"chain": [{}]}}"#,
        vec![r#"{"query": "Where was Ilse Brandt born?", "answer": "Varnsund"}"#; 50].join(",")
    );
    let replies = [VARNSUND, VARNSUND, "Varnsund"];
    let chat = script(&[(Role::Decompose, &[&endless]), (Role::Answer, &replies)]);
    let params = Params { nodes: 2.try_into().unwrap(), ..Params::default() };
    let answer = ask_with(Method::SearChain(params), BORN, &chat).await;
    assert_eq!(answer.spent.calls(), 4, "{}", trace_of(&answer));
}

/// Without a plan the question itself is looked up.
#[tokio::test]
async fn an_unreadable_plan_falls_back_to_retrieval() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Decompose, &["First I would look up the designer.", "Sorry."]),
        (Role::Answer, &[VARNSUND]),
    ];
    insta::assert_snapshot!(run("searchain", BORN, replies).await, @r"
    searchain: Where was the designer of the KX-40 crane born?
    unreadable decompose: no JSON object with `chain` was found in it
    hop 1 stops: Unreadable
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    answer: Varnsund
    calls: 1 answer | 2 decompose
    ");
}

/// A node whose passages give no answer keeps the planner's, or stays open; the chain goes on.
#[tokio::test]
async fn unreadable_answers_neither_verify_nor_complete() {
    let half_known = r#"{"chain": [
        {"query": "Who designed the KX-40 crane?", "answer": "Ilse Brandt"},
        {"query": "Where was Ilse Brandt born?", "answer": "unknown"}]}"#;
    let replies: &[(Role, &[&str])] = &[
        (Role::Decompose, &[half_known]),
        (Role::Answer, &["?", "?", r#"{"answer": "unknown"}"#, "unknown"]),
    ];
    insta::assert_snapshot!(run("searchain", BORN, replies).await, @r"
    searchain: Where was the designer of the KX-40 crane born?
    node 0 after []: Who designed the KX-40 crane? -> Ilse Brandt
    node 1 after [0]: Where was Ilse Brandt born? -> ?
    asks at 1: Who designed the KX-40 crane?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    unreadable answer: no JSON object with `answer` was found in it
    note: The search found nothing to verify the answer to: Who designed the KX-40 crane?
    answers at 1: Who designed the KX-40 crane? -> Ilse Brandt
    asks at 1: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    note: The search found no answer to: Where was Ilse Brandt born?
    path [0, 1]: unknown
    answer: unknown
    calls: 4 answer | 1 decompose
    ");
}

/// Without a verdict the words decide, and they differ.
#[tokio::test]
async fn an_unreadable_verdict_counts_as_a_correction() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Decompose, &[FIRST_WRONG, NOTHING]),
        (Role::Relevant, &["maybe", "maybe"]),
        (Role::Answer, &[BRANDT, "Ilse Brandt"]),
    ];
    let trace = run("searchain", BORN, replies).await;
    assert!(
        trace.contains("answers at 1: Who designed the KX-40 crane? -> Ilse Brandt"),
        "{trace}"
    );
    assert!(trace.contains("unreadable relevant: ") && !trace.contains("Consistent"), "{trace}");
}

/// The combined answer is empty: the passages are read once more, with the pairs as notes.
#[tokio::test]
async fn an_empty_combination_is_read_again() {
    let chat = script(&[
        (Role::Decompose, &[BIRTHPLACE, NOTHING]),
        (Role::Answer, &[VARNSUND, "", " ", VARNSUND]),
    ]);
    let answer = ask("searchain", BORN, &chat).await;
    let trace = trace_of(&answer);
    assert!(trace.contains("unreadable answer: it was empty\nanswer: Varnsund"), "{trace}");
    let last = prompts(&chat).pop().unwrap();
    assert!(section(&last, "# Notes").contains("Intermediate answer: Varnsund"), "{last}");
}

#[tokio::test]
async fn it_needs_a_model() {
    let error = fails_without_models("searchain").await;
    assert!(matches!(error, SolveError::NoModel { role: Role::Decompose }), "{error}");
}

#[tokio::test]
async fn two_runs_are_equal() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let chat = script(&[
            (Role::Decompose, &[FIRST_WRONG, BIRTHPLACE, NOTHING]),
            (Role::Relevant, &[CONTRADICTS]),
            (Role::Answer, &[BRANDT, VARNSUND, "Varnsund"]),
        ]);
        runs.push(bytes(&ask("searchain", BORN, &chat).await));
    }
    assert_eq!(runs[0], runs[1]);
}
