//! Tests each branch of Algorithm 1 of RA-ISF (known, relevant, split, too deep) and Table 2's
//! ablations.

use pikerag_baselines::Method;
use pikerag_knowledge::Role;
use pikerag_methods::{SolveError, ra_isf};

use crate::methods::fixture::*;

const BORN: &str = "Where was the designer of the KX-40 crane born?";
const VARNSUND: &str = r#"{"answer": "Varnsund", "rationale": "Known.", "citations": []}"#;
const BRANDT: &str = r#"{"answer": "Ilse Brandt", "rationale": "The page says so.", "citations": [{"passage": 1, "quote": "designed by Ilse Brandt"}]}"#;
const RELEVANT: &str = r#"{"thinking": "it is there", "paragraph_idx": [1]}"#;
const NOT: &str = r#"{"thinking": "no", "paragraph_idx": null}"#;
const PARTS: &str =
    r#"{"sub_questions": ["Who designed the KX-40 crane?", "Where was that person born?"]}"#;

fn with(params: ra_isf::Params) -> Method {
    Method::RaIsf(params)
}

/// Few passages, so that a trace stays short.
fn small() -> ra_isf::Params {
    ra_isf::Params { k: 2, ..ra_isf::Params::default() }
}

async fn trace(method: Method, replies: &[(Role, &[&str])]) -> String {
    trace_of(&ask_with(method, BORN, &script(replies)).await)
}

/// Lines 6 to 8.
#[tokio::test]
async fn known_questions_are_answered_without_retrieval() {
    let replies: &[(Role, &[&str])] = &[(Role::Know, &["Yes"]), (Role::Answer, &[VARNSUND])];
    insta::assert_snapshot!(trace(with(small()), replies).await, @r"
    ra-isf (own parameters): Where was the designer of the KX-40 crane born?
    Known true by Verdict: Where was the designer of the KX-40 crane born?
    answer: Varnsund
    calls: 1 answer | 1 know
    ");
}

/// Lines 10 to 19: only the second passage is relevant, and the answer sees nothing else.
#[tokio::test]
async fn relevant_passages_alone_answer() {
    let replies: &[(Role, &[&str])] =
        &[(Role::Know, &["No"]), (Role::Relevant, &[NOT, RELEVANT]), (Role::Answer, &[BRANDT])];
    let chat = script(replies);
    let answer = ask_with(with(small()), BORN, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    ra-isf (own parameters): Where was the designer of the KX-40 crane born?
    Known false by Verdict: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    Relevant false by Verdict: KX-40 crane
    Relevant true by Verdict: Oslo
    answer: Ilse Brandt
    cites oslo.md: designed by Ilse Brandt (NotFound)
    calls: 1 answer | 1 know | 2 relevant
    ");
    let prompts = prompts(&chat);
    assert_eq!(prompts.len(), 4);
    assert!(prompts[1].contains("1. Title:") && !prompts[1].contains("\n2. "), "{}", prompts[1]);
    let context = section(&prompts[3], "# Context");
    assert!(context.contains("[1]") && !context.contains("[2]"), "{context}");
}

/// Lines 21 to 27: nothing is relevant, so the question is split; its parts take other branches.
#[tokio::test]
async fn questions_neither_known_nor_found_are_split() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Know, &["No", "No", "Yes"]),
        (Role::Relevant, &[NOT, NOT, RELEVANT, NOT]),
        (Role::Decompose, &[PARTS]),
        (Role::Answer, &[BRANDT, VARNSUND, "Varnsund."]),
    ];
    let chat = script(replies);
    let answer = ask_with(with(small()), BORN, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    ra-isf (own parameters): Where was the designer of the KX-40 crane born?
    Known false by Verdict: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    Relevant false by Verdict: KX-40 crane
    Relevant false by Verdict: Oslo
    hop 1 proposes: Who designed the KX-40 crane? | Where was that person born?
    asks at 1: Who designed the KX-40 crane?
    Known false by Verdict: Who designed the KX-40 crane?
    hop 2 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    Relevant true by Verdict: KX-40 crane
    Relevant false by Verdict: Oslo
    answers at 1: Who designed the KX-40 crane? -> Ilse Brandt
    asks at 1: Where was that person born?
    Known true by Verdict: Where was that person born?
    answers at 1: Where was that person born? -> Varnsund
    answer: Varnsund
    calls: 3 answer | 3 know | 4 relevant | 1 decompose
    ");
    let prompts = prompts(&chat);
    insta::assert_snapshot!(prompts.last().unwrap().lines().skip(2).collect::<Vec<_>>().join("\n"), @r"
    Question: Where was the designer of the KX-40 crane born?
    Are follow up questions needed here: Yes.
    Follow up: Who designed the KX-40 crane?
    Intermediate answer: Ilse Brandt
    Follow up: Where was that person born?
    Intermediate answer: Varnsund
    So the final answer is:
    ");
}

/// Lines 3 to 5: with `D_th` = 0 the parts are one too deep.
#[tokio::test]
async fn beyond_the_depth_the_answer_is_unknown() {
    let params = ra_isf::Params { depth: 0, ..small() };
    let replies: &[(Role, &[&str])] = &[
        (Role::Know, &["No"]),
        (Role::Relevant, &[NOT, NOT]),
        (Role::Decompose, &[PARTS]),
        (Role::Answer, &["unknown"]),
    ];
    insta::assert_snapshot!(trace(with(params), replies).await, @r"
    ra-isf (own parameters): Where was the designer of the KX-40 crane born?
    Known false by Verdict: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    Relevant false by Verdict: KX-40 crane
    Relevant false by Verdict: Oslo
    hop 1 proposes: Who designed the KX-40 crane? | Where was that person born?
    asks at 1: Who designed the KX-40 crane?
    note: The question was split 0 times, which is the limit: Who designed the KX-40 crane?
    answers at 1: Who designed the KX-40 crane? -> unknown
    asks at 1: Where was that person born?
    note: The question was split 0 times, which is the limit: Where was that person born?
    answers at 1: Where was that person born? -> unknown
    answer: unknown
    calls: 1 answer | 1 know | 2 relevant | 1 decompose
    ");
}

#[tokio::test]
async fn modules_can_be_switched_off() {
    let named = |name: &str| match method(name) {
        Method::RaIsf(params) => with(ra_isf::Params { k: 2, ..params }),
        other => panic!("{other}"),
    };
    // No self-knowledge: straight to the passages.
    let replies: &[(Role, &[&str])] =
        &[(Role::Relevant, &[RELEVANT, NOT]), (Role::Answer, &[BRANDT])];
    insta::assert_snapshot!(trace(named("ra-isf-no-know"), replies).await, @r"
    ra-isf-no-know (own parameters): Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    Relevant true by Verdict: KX-40 crane
    Relevant false by Verdict: Oslo
    answer: Ilse Brandt
    cites crane.md: designed by Ilse Brandt
    calls: 1 answer | 2 relevant
    ");
    // No passage relevance: straight to the parts, without retrieval.
    let replies: &[(Role, &[&str])] = &[
        (Role::Know, &["No", "Yes", "Yes"]),
        (Role::Decompose, &[PARTS]),
        (Role::Answer, &[BRANDT, VARNSUND, "Varnsund"]),
    ];
    insta::assert_snapshot!(trace(named("ra-isf-no-relevant"), replies).await, @r"
    ra-isf-no-relevant (own parameters): Where was the designer of the KX-40 crane born?
    Known false by Verdict: Where was the designer of the KX-40 crane born?
    hop 1 proposes: Who designed the KX-40 crane? | Where was that person born?
    asks at 1: Who designed the KX-40 crane?
    Known true by Verdict: Who designed the KX-40 crane?
    answers at 1: Who designed the KX-40 crane? -> Ilse Brandt
    asks at 1: Where was that person born?
    Known true by Verdict: Where was that person born?
    answers at 1: Where was that person born? -> Varnsund
    answer: Varnsund
    calls: 3 answer | 3 know | 1 decompose
    ");
    // No decomposition: unknown.
    let replies: &[(Role, &[&str])] = &[(Role::Know, &["No"]), (Role::Relevant, &[NOT, NOT])];
    insta::assert_snapshot!(trace(named("ra-isf-no-decompose"), replies).await, @r"
    ra-isf-no-decompose (own parameters): Where was the designer of the KX-40 crane born?
    Known false by Verdict: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    Relevant false by Verdict: KX-40 crane
    Relevant false by Verdict: Oslo
    answer: unknown
    calls: 1 know | 2 relevant
    ");
}

/// Appendix E gives all passages to one call.
#[tokio::test]
async fn passages_can_be_judged_together() {
    let params = ra_isf::Params { relevance: ra_isf::Relevance::Together, ..small() };
    let both = r#"{"thinking": "both", "paragraph_idx": [2, 7]}"#;
    let replies: &[(Role, &[&str])] =
        &[(Role::Know, &["No"]), (Role::Relevant, &[both]), (Role::Answer, &[BRANDT])];
    insta::assert_snapshot!(trace(with(params), replies).await, @r"
    ra-isf (own parameters): Where was the designer of the KX-40 crane born?
    Known false by Verdict: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    Relevant false by Verdict: KX-40 crane
    Relevant true by Verdict: Oslo
    answer: Ilse Brandt
    cites oslo.md: designed by Ilse Brandt (NotFound)
    calls: 1 answer | 1 know | 1 relevant
    ");
}

/// Each unreadable module counts as "no", and the trace shows it.
#[tokio::test]
async fn unreadable_modules_count_as_no() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Know, &["Perhaps", "Perhaps"]),
        (Role::Relevant, &["?", "?", "?", "?"]),
        (Role::Decompose, &["?", "?"]),
    ];
    insta::assert_snapshot!(trace(with(small()), replies).await, @r#"
    ra-isf (own parameters): Where was the designer of the KX-40 crane born?
    unreadable know: `the reply` must be "Yes" or "No"
    Known false by Verdict: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    unreadable relevant: no JSON object with `paragraph_idx` was found in it
    unreadable relevant: no JSON object with `paragraph_idx` was found in it
    Relevant false by Verdict: KX-40 crane
    Relevant false by Verdict: Oslo
    unreadable decompose: no JSON object with `sub_questions` was found in it
    hop 1 proposes: none
    answer: unknown
    calls: 2 know | 4 relevant | 2 decompose
    "#);
}

#[tokio::test]
async fn the_tree_of_questions_is_bounded() {
    let params = ra_isf::Params { retrieves: false, questions: 3, ..small() };
    // One of the parts was asked already higher up, so it is not asked again.
    let again = format!(r#"{{"sub_questions": ["{BORN}", "Which year?", "Which town?"]}}"#);
    let chat = script(&[
        (Role::Know, &["No"; 4]),
        (Role::Decompose, &[PARTS, &again, &again, &again]),
        (Role::Answer, &["unknown"; 4]),
    ]);
    let answer = ask_with(with(params), BORN, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    ra-isf (own parameters): Where was the designer of the KX-40 crane born?
    Known false by Verdict: Where was the designer of the KX-40 crane born?
    hop 1 proposes: Who designed the KX-40 crane? | Where was that person born?
    asks at 1: Who designed the KX-40 crane?
    Known false by Verdict: Who designed the KX-40 crane?
    note: 1 sub-question left out: the limit is 3.
    hop 2 proposes: Which year?
    asks at 2: Which year?
    Known false by Verdict: Which year?
    note: 1 sub-question left out: the limit is 3.
    hop 3 proposes: none
    answers at 2: Which year? -> unknown
    answers at 1: Who designed the KX-40 crane? -> unknown
    asks at 1: Where was that person born?
    Known false by Verdict: Where was that person born?
    note: 2 sub-questions left out: the limit is 3.
    hop 2 proposes: none
    answers at 1: Where was that person born? -> unknown
    answer: unknown
    calls: 2 answer | 4 know | 4 decompose
    ");
}

/// A small model repeats the question in other letters, where it should divide it.
#[tokio::test]
async fn a_part_that_repeats_the_question_divides_nothing() {
    let again = BORN.to_lowercase().replace("the designer", "designer");
    let parts = format!(r#"{{"sub_questions": ["{again}", "Who designed the KX-40 crane?"]}}"#);
    let replies: &[(Role, &[&str])] = &[
        (Role::Know, &["No", "Yes"]),
        (Role::Relevant, &[NOT, NOT]),
        (Role::Decompose, &[&parts]),
        (Role::Answer, &[BRANDT, "Varnsund."]),
    ];
    let trace = trace(with(small()), replies).await;
    assert!(trace.contains("hop 1 proposes: Who designed the KX-40 crane?\n"), "{trace}");
}

#[tokio::test]
async fn without_a_model_the_error_names_the_role() {
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    let models = pikerag_methods::Models::default();
    let ports = pikerag_methods::Ports::new(shelf.base.clone(), Some(hashes()), models);
    let error = solve(&ports, &question("q", BORN), method("ra-isf")).await.unwrap_err();
    assert!(matches!(error, SolveError::NoModel { role: Role::Know }), "{error}");
    insta::assert_snapshot!(error, @"this method asks a language model (`know`), and none is set");
}
