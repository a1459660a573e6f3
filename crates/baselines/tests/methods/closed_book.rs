//! Tests that the model answers by itself, at once or after reasoning (KAR³ §A.2; RA-ISF §4.4).

use pikerag_knowledge::{Role, WrittenBy};

use crate::methods::fixture::*;

const BORN: &str = "Where was the designer of the KX-40 crane born?";

#[tokio::test]
async fn direct_answers_at_once() {
    let chat = script(&[(Role::Answer, &[r#"{"answer": "Varnsund"}"#])]);
    let answer = ask("direct", BORN, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    direct: Where was the designer of the KX-40 crane born?
    answer: Varnsund
    calls: 1 answer
    ");
    assert!(answer.rationale.is_empty() && !answer.refused);
    assert!(answer.context.chunks.is_empty(), "nothing is retrieved");
    assert_eq!(answer.written_by, WrittenBy::LanguageModel { model: "fake".to_owned() });
    insta::assert_snapshot!(prompts(&chat)[0], @r#"
    # Task
    Answer the question at the end from what you know. Give the answer that the question asks for, and no more: a name, a date, a number, yes or no, or a phrase where it asks for one; every item where it asks for several; whole sentences where it asks how, why or under which conditions. Write in the language of the question. If you are not sure, give the most likely answer.

    # Output format
    A JSON object and nothing else:
    {"answer": "the answer"}

    # Question
    Where was the designer of the KX-40 crane born?
    "#);
    assert!(chat.requests().iter().all(|request| request.temperature == 0.0));
}

#[tokio::test]
async fn zero_shot_cot_reasons_first() {
    let reply =
        r#"{"rationale": "Brandt designed it. She is from Varnsund.", "answer": "Varnsund"}"#;
    let chat = script(&[(Role::Answer, &[reply])]);
    let answer = ask("zero-shot-cot", BORN, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    zero-shot-cot: Where was the designer of the KX-40 crane born?
    answer: Varnsund
    calls: 1 answer
    ");
    assert_eq!(answer.rationale, "Brandt designed it. She is from Varnsund.");
    insta::assert_snapshot!(prompts(&chat)[0], @r#"
    # Task
    Answer the question at the end from what you know. First work it out in words, one fact after the other ("rationale"), and only then answer. Give the answer that the question asks for, and no more: a name, a date, a number, yes or no, or a phrase where it asks for one; every item where it asks for several; whole sentences where it asks how, why or under which conditions. Write in the language of the question. If you are not sure, give the most likely answer.

    # Output format
    A JSON object and nothing else:
    {"rationale": "from fact to fact", "answer": "the answer"}

    # Question
    Where was the designer of the KX-40 crane born?
    "#);
}

/// There is no evidence to quote, so the answer is refused.
#[tokio::test]
async fn an_unreadable_reply_is_refused() {
    for name in ["direct", "zero-shot-cot"] {
        let trace = run(name, BORN, &[(Role::Answer, &["Varnsund", "Varnsund!"])]).await;
        assert_eq!(
            trace,
            format!(
                "{name}: {BORN}\nunreadable answer: no JSON object with `answer` was found in it\n\
                 answer: The model's reply could not be read.\nrefused\ncalls: 2 answer"
            )
        );
    }
}

#[tokio::test]
async fn an_unreadable_reply_is_asked_for_again() {
    let trace = run("direct", BORN, &[(Role::Answer, &["Oslo", r#"{"answer": "Oslo"}"#])]).await;
    assert!(trace.ends_with("answer: Oslo\ncalls: 2 answer"), "{trace}");
}
