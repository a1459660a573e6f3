//! Are the parts solved in order, each with the answers before it? (Zhou et al., 2023; RA-ISF §4.4)

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
async fn from_what_the_model_knows() {
    let chat = script(TWO_PARTS);
    let answer = ask("least-to-most", BORN, &chat).await;
    insta::assert_snapshot!(tell(&answer), @r"
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
    Split the question at the end into simpler sub-questions, from the simplest to the hardest, so that each can be answered with the answers of those before it, and the last answers give the answer to the question. At most 5 of them, and no more than are needed; each about one thing. Where a sub-question needs an earlier answer, say in words what it is, such as "the architect of the station". Give an empty list if the question is simple as it stands. Write in the language of the question.

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

/// Earlier answers go along, to the retrieval and as notes.
#[tokio::test]
async fn with_retrieval() {
    let chat = script(TWO_PARTS);
    let answer = ask("least-to-most-r", BORN, &chat).await;
    insta::assert_snapshot!(tell(&answer), @r"
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

/// What could not be answered is no word to search by.
#[tokio::test]
async fn an_unknown_answer_finds_nothing() {
    let replies: &[(Role, &[&str])] =
        &[(Role::Decompose, &[PARTS]), (Role::Answer, &["?", "?", VARNSUND, "Varnsund"])];
    let answer = ask("least-to-most-r", BORN, &script(replies)).await;
    assert!(candidates(&answer).iter().all(|found| !found.proposal.contains("unknown")));
    assert!(tell(&answer).contains("hop 2 finds:\nanswers at 1"));
}

#[tokio::test]
async fn the_limit_of_parts() {
    let many = r#"{"sub_questions": ["A?", "B?", "C?"]}"#;
    let chat = script(&[(Role::Decompose, &[many]), (Role::Answer, &[BRANDT, VARNSUND, "x"])]);
    let params = least_to_most::Params { n: 2.try_into().unwrap(), ..Default::default() };
    let answer = ask_with(Method::LeastToMost(params), BORN, &chat).await;
    insta::assert_snapshot!(tell(&answer), @r"
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

/// A question that is simple as it stands is its own part; so is one that nobody could split.
#[tokio::test]
async fn nothing_to_split() {
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
    let told = run("least-to-most", BORN, replies).await;
    assert!(told.contains("answers at 1: Who designed the KX-40 crane? -> unknown\n"), "{told}");
    assert!(told.contains("answer: Varnsund\n"), "{told}");
}

/// Nobody finishes the transcript, and there is nothing to quote: the last call reads the notes.
#[tokio::test]
async fn an_empty_end_is_read_instead() {
    let replies: &[(Role, &[&str])] =
        &[(Role::Decompose, &[PARTS]), (Role::Answer, &[BRANDT, VARNSUND, "", "", VARNSUND])];
    let told = run("least-to-most", BORN, replies).await;
    assert!(
        told.ends_with(
            "unreadable answer: it was empty\nanswer: Varnsund\ncalls: 5 answer | 1 decompose"
        ),
        "{told}"
    );
}
