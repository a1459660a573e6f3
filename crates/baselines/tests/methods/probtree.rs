//! Tests that `ProbTree` solves its tree from the leaves, each node by the surest answer (Cao et
//! al., 2023).

use pikerag_knowledge::Role;
use pikerag_methods::SolveError;

use crate::methods::fixture::*;

const BORN: &str = "Where was the designer of the KX-40 crane born?";
const TREE: &str = r#"{"tree": {"question": "Where was the designer of the KX-40 crane born?", "children": [
    {"question": "Who designed the KX-40 crane?", "children": []},
    {"question": "Where was #1 born?", "children": []}]}}"#;
const LEAF: &str = r#"{"tree": {"question": "x", "children": []}}"#;
const BRANDT: &str = "The crane is hers.\nSo the final answer is: Ilse Brandt.";
const VARNSUND: &str = "She was born there.\nSo the final answer is: Varnsund.";
const OSLO: &str = "I think so.\nSo the final answer is: Oslo.";
const UNKNOWN: &str = "Nothing says so.\nSo the final answer is: unknown.";

/// The first leaf takes the open book, because "unknown" is no answer, however sure. The second
/// also takes the open book, which is preferred among equally sure ones. The root takes its
/// children, whose confidence is the mean over theirs and its own, (ln 0.9 + ln 0.9 + ln 0.8) / 3.
#[tokio::test]
async fn trees_are_solved_from_leaves_to_root() {
    let chat = script(&[(Role::Decompose, &[TREE])]);
    let scorer = scorer(&[(
        Role::Answer,
        &[
            (BRANDT, 0.9),
            (UNKNOWN, 0.99),
            (VARNSUND, 0.8),
            (OSLO, 0.8),
            (UNKNOWN, 0.95),
            (VARNSUND, 0.9),
            (OSLO, 0.5),
        ],
    )]);
    let answer = ask_scored("probtree", BORN, &chat, &scorer).await;
    assert_eq!(answer.rationale, VARNSUND);
    insta::assert_snapshot!(trace_of(&answer), @r"
    probtree: Where was the designer of the KX-40 crane born?
    node 0 after [1, 2]: Where was the designer of the KX-40 crane born?
    node 1 after []: Who designed the KX-40 crane?
    node 2 after []: Where was #1 born?
    asks at 0: Where was the designer of the KX-40 crane born?
    asks at 1: Who designed the KX-40 crane?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    Confident true -0.11 by LogProbabilities: open book: Ilse Brandt
    Confident false -0.01 by LogProbabilities: closed book: unknown
    answers at 1: Who designed the KX-40 crane? -> Ilse Brandt
    asks at 1: Where was Ilse Brandt born?
    hop 2 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    Confident true -0.22 by LogProbabilities: open book: Varnsund
    Confident false -0.22 by LogProbabilities: closed book: Oslo
    answers at 1: Where was Ilse Brandt born? -> Varnsund
    hop 3 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    Confident false -0.05 by LogProbabilities: open book: unknown
    Confident true -0.14 by LogProbabilities: children: Varnsund
    Confident false -0.69 by LogProbabilities: closed book: Oslo
    answers at 0: Where was the designer of the KX-40 crane born? -> Varnsund
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 7 answer | 1 decompose
    ");
}

/// The question is a leaf itself, and the model is surest of its own knowledge.
#[tokio::test]
async fn the_closed_book_wins() {
    let chat = script(&[(Role::Decompose, &[LEAF])]);
    let scorer = scorer(&[(Role::Answer, &[(OSLO, 0.5), (VARNSUND, 0.6)])]);
    insta::assert_snapshot!(trace_of(&ask_scored("probtree", BORN, &chat, &scorer).await), @r"
    probtree: Where was the designer of the KX-40 crane born?
    node 0 after []: Where was the designer of the KX-40 crane born?
    asks at 0: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    Confident false -0.69 by LogProbabilities: open book: Oslo
    Confident true -0.51 by LogProbabilities: closed book: Varnsund
    answers at 0: Where was the designer of the KX-40 crane born? -> Varnsund
    answer: Varnsund
    calls: 2 answer | 1 decompose
    ");
}

/// Unsure children make their combined answer unsure: 0.9 alone, but less than 0.7 with theirs.
#[tokio::test]
async fn a_root_trusts_itself_more_than_its_children() {
    let chat = script(&[(Role::Decompose, &[TREE])]);
    let scorer = scorer(&[(
        Role::Answer,
        &[
            (BRANDT, 0.4),
            (UNKNOWN, 0.9),
            (VARNSUND, 0.4),
            (UNKNOWN, 0.9),
            (OSLO, 0.7),
            (VARNSUND, 0.9),
            (UNKNOWN, 0.9),
        ],
    )]);
    let answer = ask_scored("probtree", BORN, &chat, &scorer).await;
    let trace = trace_of(&answer);
    assert!(trace.contains("Confident false -0.65 by LogProbabilities: children: Varn"), "{trace}");
    assert_eq!(answer.text, "Oslo");
}

#[tokio::test]
async fn each_call_sees_its_own_inputs() {
    let chat = script(&[(Role::Decompose, &[TREE])]);
    let scorer = scorer(&[(Role::Answer, &[(BRANDT, 0.9); 7])]);
    ask_scored("probtree", BORN, &chat, &scorer).await;
    let tree = &prompts(&chat)[0];
    assert!(tree.contains("At most 3 levels below the root and 8 questions in all"), "{tree}");
    assert_eq!(section(tree, "# Question").trim(), BORN);
    let asked = texts_of(&scorer.requests());
    let [open, closed, _, second_closed, _, children, root_closed] = &asked[..] else {
        panic!("{asked:#?}")
    };
    assert_eq!(section(open, "# Question").trim(), "Who designed the KX-40 crane?");
    assert!(section(open, "# Context").contains("was designed by Ilse Brandt"), "{open}");
    assert!(!closed.contains("# Context"), "{closed}");
    assert_eq!(section(second_closed, "# Question").trim(), "Where was Ilse Brandt born?");
    insta::assert_snapshot!(section(children, "# Answers so far").trim(), @r"
    Follow up: Who designed the KX-40 crane?
    Intermediate answer: Ilse Brandt
    Follow up: Where was Ilse Brandt born?
    Intermediate answer: Ilse Brandt
    ");
    assert_eq!(section(children, "# Question").trim(), BORN);
    assert_eq!(section(root_closed, "# Question").trim(), BORN);
}

/// The tree has only the question, and one of its two answers is empty.
#[tokio::test]
async fn unreadable_trees_leave_the_question_alone() {
    let chat = script(&[(Role::Decompose, &["First the designer.", "1. Who?"])]);
    let scorer = scorer(&[(Role::Answer, &[("", 0.9), (" ", 0.9), (OSLO, 0.2)])]);
    insta::assert_snapshot!(trace_of(&ask_scored("probtree", BORN, &chat, &scorer).await), @r"
    probtree: Where was the designer of the KX-40 crane born?
    unreadable decompose: no JSON object with `tree` was found in it
    node 0 after []: Where was the designer of the KX-40 crane born?
    asks at 0: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    unreadable answer: it was empty
    Confident true -1.61 by LogProbabilities: closed book: Oslo
    answers at 0: Where was the designer of the KX-40 crane born? -> Oslo
    answer: Oslo
    cites oslo.md: Oslo is the capital of Norway.
    calls: 3 answer | 2 decompose
    ");
}

/// A node without an answer fills no placeholder, and a root without one is read from its passages.
#[tokio::test]
async fn unknown_nodes_fill_no_placeholder() {
    let chat = script(&[
        (Role::Decompose, &[TREE]),
        (Role::Answer, &[r#"{"answer": "perhaps Varnsund"}"#]),
    ]);
    let scorer = scorer(&[(Role::Answer, &[(UNKNOWN, 0.9); 6])]);
    let answer = ask_scored("probtree", BORN, &chat, &scorer).await;
    let trace = trace_of(&answer);
    assert!(trace.contains("asks at 1: Where was #1 born?"), "{trace}");
    assert!(trace.contains(&format!("note: No answer was found to: {BORN}")), "{trace}");
    assert!(!trace.contains("children:") && answer.text == "perhaps Varnsund", "{trace}");
}

/// Three levels below the question, without the fourth.
#[tokio::test]
async fn trees_are_cut_at_their_depth() {
    let deep = r#"{"tree": {"children": [{"question": "a", "children": [{"question": "b", "children": [
        {"question": "c", "children": [{"question": "d"}]}]}]}]}}"#;
    let chat = script(&[(Role::Decompose, &[deep])]);
    let scorer = scorer(&[(Role::Answer, &[(OSLO, 0.9); 12])]);
    let trace = trace_of(&ask_scored("probtree", BORN, &chat, &scorer).await);
    assert!(trace.contains("asks at 3: c") && !trace.contains("asks at 4"), "{trace}");
}

/// The model grades each answer itself, and the trace shows it; a missing grade counts as 0.
#[tokio::test]
async fn a_model_that_grades_itself() {
    let chat = script(&[
        (Role::Decompose, &[LEAF]),
        (Role::Answer, &[VARNSUND, OSLO]),
        (Role::Grade, &[r#"{"confidence": 80}"#, "quite", "very"]),
    ]);
    insta::assert_snapshot!(trace_of(&ask_self_assessed("probtree", BORN, &chat).await), @r"
    probtree: Where was the designer of the KX-40 crane born?
    node 0 after []: Where was the designer of the KX-40 crane born?
    asks at 0: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    unreadable grade: no JSON object with `confidence` was found in it
    Confident true -0.22 by SelfAssessment: open book: Varnsund
    Confident false by SelfAssessment: closed book: Oslo
    answers at 0: Where was the designer of the KX-40 crane born? -> Varnsund
    answer: Varnsund
    calls: 2 answer | 1 decompose | 3 grade
    ");
}

/// The error comes before any paid call.
#[tokio::test]
async fn it_needs_a_model_and_its_certainty() {
    let error = fails_without_models("probtree").await;
    assert!(matches!(error, SolveError::NoModel { role: Role::Decompose }), "{error}");
    let error = fails("probtree", BORN, &[]).await;
    assert!(matches!(error, SolveError::NoScorer), "{error}");
}

#[tokio::test]
async fn two_runs_are_equal() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let chat = script(&[(Role::Decompose, &[TREE])]);
        let scorer = scorer(&[(Role::Answer, &[(BRANDT, 0.9); 7])]);
        runs.push(bytes(&ask_scored("probtree", BORN, &chat, &scorer).await));
    }
    assert_eq!(runs[0], runs[1]);
}
