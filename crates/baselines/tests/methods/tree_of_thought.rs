//! Tests that the best thoughts are followed breadth first (Yao et al., 2023, Algorithm 1).

use pikerag_baselines::{Method, tree_of_thought};
use pikerag_knowledge::Role;

use crate::methods::fixture::*;

const BORN: &str = "Where was the designer of the KX-40 crane born?";
const VARNSUND: &str = r#"{"answer": "Varnsund", "rationale": "Brandt is from there."}"#;

fn sized(depth: usize, thoughts: usize, breadth: usize) -> Method {
    Method::TreeOfThought(tree_of_thought::Params {
        depth: depth.try_into().unwrap(),
        thoughts: thoughts.try_into().unwrap(),
        breadth: breadth.try_into().unwrap(),
    })
}

/// Two of three are kept, the better one first; the best of the last level answers.
#[tokio::test]
async fn the_two_best_of_three_grow() {
    let chat = script(&[
        (
            Role::Reason,
            &[
                r#"{"thoughts": ["a", "b", "c"]}"#,
                r#"{"thoughts": ["c1", "c2", "c3"]}"#,
                r#"{"thoughts": ["b1", "b2", "b3"]}"#,
            ],
        ),
        (
            Role::Grade,
            &[
                r#"{"value": 1}"#,
                r#"{"value": 5}"#,
                r#"{"value": 7}"#,
                r#"{"value": 2}"#,
                r#"{"value": 8}"#,
                r#"{"value": 0}"#,
                r#"{"value": 9}"#,
                r#"{"value": 3}"#,
                r#"{"value": 8}"#,
            ],
        ),
        (Role::Answer, &[VARNSUND]),
    ]);
    let answer = ask_with(sized(2, 3, 2), BORN, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    tree-of-thought (own parameters): Where was the designer of the KX-40 crane born?
    node 0 after []: a
    node 1 after []: b
    node 2 after []: c
    Promising true 7.00 by Verdict: c
    Promising true 5.00 by Verdict: b
    Promising false 1.00 by Verdict: a
    node 3 after [2]: c1
    node 4 after [2]: c2
    node 5 after [2]: c3
    node 6 after [1]: b1
    node 7 after [1]: b2
    node 8 after [1]: b3
    Promising true 9.00 by Verdict: b1
    Promising true 8.00 by Verdict: c2
    Promising false 8.00 by Verdict: b3
    Promising false 3.00 by Verdict: b2
    Promising false 2.00 by Verdict: c1
    Promising false 0.00 by Verdict: c3
    path [1, 6]: Varnsund
    answer: Varnsund
    calls: 1 answer | 3 reason | 9 grade
    ");
    let prompts = prompts(&chat);
    insta::assert_snapshot!(prompts[0], @r#"
    # Task
    The question at the end is answered from what you know, by a chain of thoughts, one step of reasoning each. Write 3 different thoughts that could come next. Each is a single step that continues the thoughts so far, brings the answer nearer, and differs from the others. Write in the language of the question.

    # Output format
    A JSON object and nothing else:
    {"thoughts": ["one way to go on", "another", "..."]}

    # Thoughts so far
    (none yet)

    # Question
    Where was the designer of the KX-40 crane born?
    "#);
    insta::assert_snapshot!(prompts[1], @r#"
    # Task
    How promising is the chain of thoughts for answering the question at the end? 10: each thought is right and the answer is reached or near. 5: they may be right or lead no further. 0: one is wrong or has nothing to do with the question.

    # Output format
    A JSON object and nothing else:
    {"value": a number from 0 to 10}

    # Thoughts so far
    1. a

    # Question
    Where was the designer of the KX-40 crane born?
    "#);
    assert_eq!(section(&prompts[4], "# Thoughts so far").trim(), "1. c");
    assert_eq!(section(&prompts[9], "# Thoughts so far").trim(), "1. b\n2. b1");
    assert_eq!(
        section(prompts.last().unwrap(), "# Notes").trim(),
        "What was worked out before:\nb\nb1"
    );
    let temperatures: Vec<(Role, f32)> =
        chat.requests().iter().take(2).map(|request| (request.role, request.temperature)).collect();
    assert_eq!(temperatures, [(Role::Reason, 0.7), (Role::Grade, 0.0)]);
}

/// Depth 3, three thoughts, two states: 3 + 2 · 2 · 3 thoughts are graded, 1 + 2 · 2 calls propose
/// thoughts.
#[tokio::test]
async fn defaults_make_the_documented_calls() {
    let chat = script(&[
        (Role::Reason, &[r#"{"thoughts": ["x", "y", "z", "x", "w"]}"#; 9]),
        (Role::Grade, &[r#"{"value": 5}"#; 30]),
        (Role::Answer, &[VARNSUND]),
    ]);
    let trace = trace_of(&ask("tree-of-thought", BORN, &chat).await);
    assert!(trace.ends_with("calls: 1 answer | 5 reason | 15 grade"), "{trace}");
    // Of equals the first: the leftmost path.
    assert!(trace.contains("path [0, 3, 9]: Varnsund"), "{trace}");
}

#[tokio::test]
async fn an_unreadable_value_counts_as_zero() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Reason, &[r#"{"thoughts": ["a", "b"]}"#]),
        (Role::Grade, &["good", "very good", r#"{"value": 1}"#]),
        (Role::Answer, &[VARNSUND]),
    ];
    let trace = trace_of(&ask_with(sized(1, 2, 1), BORN, &script(replies)).await);
    insta::assert_snapshot!(trace, @r"
    tree-of-thought (own parameters): Where was the designer of the KX-40 crane born?
    node 0 after []: a
    unreadable grade: no JSON object with `value` was found in it
    node 1 after []: b
    Promising true 1.00 by Verdict: b
    Promising false 0.00 by Verdict: a
    path [1]: Varnsund
    answer: Varnsund
    calls: 1 answer | 1 reason | 3 grade
    ");
}

/// A state without thoughts is dropped; if no state has any, the best of the level before answers.
#[tokio::test]
async fn a_level_without_thoughts_ends_the_search() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Reason, &[r#"{"thoughts": ["a"]}"#, "I cannot think.", "Really."]),
        (Role::Grade, &[r#"{"value": 4}"#]),
        (Role::Answer, &[VARNSUND]),
    ];
    insta::assert_snapshot!(run("tree-of-thought", BORN, replies).await, @r"
    tree-of-thought: Where was the designer of the KX-40 crane born?
    node 0 after []: a
    Promising true 4.00 by Verdict: a
    unreadable reason: no JSON object with `thoughts` was found in it
    hop 2 stops: NothingProposed
    path [0]: Varnsund
    answer: Varnsund
    calls: 1 answer | 3 reason | 1 grade
    ");
}

#[tokio::test]
async fn without_thoughts_the_question_is_answered_alone() {
    let replies: &[(Role, &[&str])] =
        &[(Role::Reason, &[r#"{"thoughts": []}"#]), (Role::Answer, &[VARNSUND])];
    insta::assert_snapshot!(run("tree-of-thought", BORN, replies).await, @r"
    tree-of-thought: Where was the designer of the KX-40 crane born?
    hop 1 stops: NothingProposed
    answer: Varnsund
    calls: 1 answer | 1 reason
    ");
}

#[tokio::test]
async fn an_unreadable_answer_is_refused() {
    let replies: &[(Role, &[&str])] =
        &[(Role::Reason, &[r#"{"thoughts": []}"#]), (Role::Answer, &["Varnsund", "Varnsund!"])];
    assert!(run("tree-of-thought", BORN, replies).await.contains("refused"));
}
