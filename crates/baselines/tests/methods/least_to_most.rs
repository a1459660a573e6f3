//! Tests that the parts are solved in order, each with the answers before it (Zhou et al., 2023;
//! RA-ISF §4.4).

use pikerag_baselines::{Method, least_to_most};
use pikerag_knowledge::Role;

use crate::methods::fixture::*;

const BORN: &str = "Where was the designer of the KX-40 crane born?";
const PARTS: &str =
    r#"{"sub_questions": ["Who designed the KX-40 crane?", "Where was the designer born?"]}"#;
const BRANDT: &str = r#"{"answer": "Ilse Brandt", "rationale": "It says so."}"#;
const VARNSUND: &str = r#"{"answer": "Varnsund", "rationale": "It says so."}"#;
const TWO_PARTS: &[(Role, &[&str])] =
    &[(Role::Decompose, &[PARTS]), (Role::Answer, &[BRANDT, VARNSUND, "Varnsund"])];

#[tokio::test]
async fn parts_are_answered_from_the_models_knowledge() {
    let chat = script(TWO_PARTS);
    let answer = ask("least-to-most", BORN, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    least-to-most: Where was the designer of the KX-40 crane born?
    hop 1 proposes: Who designed the KX-40 crane? | Where was the designer born?
    asks at 1: Who designed the KX-40 crane?
    answers at 1: Who designed the KX-40 crane? -> Ilse Brandt
    asks at 1: Where was the designer born?
    answers at 1: Where was the designer born? -> Varnsund
    answer: Varnsund
    calls: 3 answer | 1 decompose
    ");
    insta::assert_snapshot!(answer.rationale, @r"
    Follow up: Who designed the KX-40 crane?
    Intermediate answer: Ilse Brandt
    Follow up: Where was the designer born?
    Intermediate answer: Varnsund
    ");
    let prompts = prompts(&chat);
    insta::assert_snapshot!(prompts[0], @r#"
    # Task
    Split the question at the end into simpler sub-questions, from the simplest to the hardest. Each can be answered with the answers of those before it, and the last ones give the answer to the question. At most 5 of them, and no more than are needed; each about one thing. If a sub-question needs an earlier answer, say in words what it is, such as "the architect of the station". Give an empty list if the question is simple already. Write in the language of the question.

    # Output format
    A JSON object and nothing else:
    {"sub_questions": ["the simplest", "...", "the hardest"]}

    # Question
    Where was the designer of the KX-40 crane born?
    "#);
    assert!(!prompts[1].contains("# Notes"));
    insta::assert_snapshot!(section(&prompts[2], "# Notes"), @r"
    What was worked out before:
    Follow up: Who designed the KX-40 crane?
    Intermediate answer: Ilse Brandt
    ");
    assert_eq!(section(&prompts[2], "# Question").trim(), "Where was the designer born?");
    assert!(prompts[3].ends_with("Intermediate answer: Varnsund\nSo the final answer is:"));
}

/// The query and the notes contain the earlier answers.
#[tokio::test]
async fn parts_are_answered_with_retrieval() {
    let chat = script(TWO_PARTS);
    let answer = ask("least-to-most-r", BORN, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    least-to-most-r: Where was the designer of the KX-40 crane born?
    hop 1 proposes: Who designed the KX-40 crane? | Where was the designer born?
    asks at 1: Who designed the KX-40 crane?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    answers at 1: Who designed the KX-40 crane? -> Ilse Brandt
    asks at 1: Where was the designer born?
    hop 2 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    answers at 1: Where was the designer born? -> Varnsund
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 3 answer | 1 decompose
    ");
    let mut queries: Vec<String> =
        candidates(&answer).into_iter().map(|found| found.proposal).collect();
    queries.dedup();
    assert_eq!(
        queries,
        ["Who designed the KX-40 crane?", "Where was the designer born? Ilse Brandt"]
    );
    let prompt = &prompts(&chat)[2];
    assert_eq!(section(prompt, "# Question").trim(), "Where was the designer born?");
    let notes = section(prompt, "# Notes");
    assert!(notes.contains("Intermediate answer: Ilse Brandt"), "{notes}");
}

/// "Unknown" is not added to a query.
#[tokio::test]
async fn an_unknown_answer_finds_nothing() {
    let replies: &[(Role, &[&str])] =
        &[(Role::Decompose, &[PARTS]), (Role::Answer, &["?", "?", VARNSUND, "Varnsund"])];
    let answer = ask("least-to-most-r", BORN, &script(replies)).await;
    assert!(candidates(&answer).iter().all(|found| !found.proposal.contains("unknown")));
    assert!(trace_of(&answer).contains("hop 2 finds:\nanswers at 1"));
}

#[tokio::test]
async fn parts_are_limited() {
    let many = r#"{"sub_questions": ["A?", "B?", "C?"]}"#;
    let chat = script(&[(Role::Decompose, &[many]), (Role::Answer, &[BRANDT, VARNSUND, "x"])]);
    let params = least_to_most::Params { n: 2.try_into().unwrap(), ..Default::default() };
    let answer = ask_with(Method::LeastToMost(params), BORN, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    least-to-most (own parameters): Where was the designer of the KX-40 crane born?
    hop 1 proposes: A? | B? | C?
    hop 2 stops: HopLimit
    asks at 1: A?
    answers at 1: A? -> Ilse Brandt
    asks at 1: B?
    answers at 1: B? -> Varnsund
    answer: x
    calls: 3 answer | 1 decompose
    ");
    assert!(prompts(&chat)[0].contains("At most 2 of them"));
}

/// A simple question is its own part; so is one whose split is unreadable.
#[tokio::test]
async fn an_undivided_question_is_its_own_part() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Decompose, &[r#"{"sub_questions": []}"#]),
        (Role::Answer, &[VARNSUND, "Varnsund"]),
    ];
    insta::assert_snapshot!(run("least-to-most", BORN, replies).await, @r"
    least-to-most: Where was the designer of the KX-40 crane born?
    hop 1 proposes: none
    asks at 1: Where was the designer of the KX-40 crane born?
    answers at 1: Where was the designer of the KX-40 crane born? -> Varnsund
    answer: Varnsund
    calls: 2 answer | 1 decompose
    ");
    let replies: &[(Role, &[&str])] =
        &[(Role::Decompose, &["A? B?", "A?"]), (Role::Answer, &[VARNSUND, "Varnsund"])];
    insta::assert_snapshot!(run("least-to-most", BORN, replies).await, @r"
    least-to-most: Where was the designer of the KX-40 crane born?
    unreadable decompose: no JSON object with `sub_questions` was found in it
    hop 1 proposes: none
    asks at 1: Where was the designer of the KX-40 crane born?
    answers at 1: Where was the designer of the KX-40 crane born? -> Varnsund
    answer: Varnsund
    calls: 2 answer | 2 decompose
    ");
}

#[tokio::test]
async fn an_unreadable_answer_is_unknown() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Decompose, &[PARTS]),
        (Role::Answer, &["Brandt", "Brandt!", VARNSUND, "Varnsund"]),
    ];
    let trace = run("least-to-most", BORN, replies).await;
    assert!(trace.contains("answers at 1: Who designed the KX-40 crane? -> unknown\n"), "{trace}");
    assert!(trace.contains("answer: Varnsund\n"), "{trace}");
}

/// The transcript stays unfinished, and there is nothing to quote: the last call reads the notes.
#[tokio::test]
async fn an_empty_end_is_read_instead() {
    let replies: &[(Role, &[&str])] =
        &[(Role::Decompose, &[PARTS]), (Role::Answer, &[BRANDT, VARNSUND, "", "", VARNSUND])];
    let trace = run("least-to-most", BORN, replies).await;
    assert!(
        trace.ends_with(
            "unreadable answer: it was empty\nanswer: Varnsund\ncalls: 5 answer | 1 decompose"
        ),
        "{trace}"
    );
}
