//! Tests that only the steps that the judgement requires are taken (Shen et al., 2024; CRP-RAG
//! §4.2).

use pikerag_baselines::{Method, think_then_act};
use pikerag_knowledge::Role;

use crate::methods::fixture::*;

const BORN: &str = "Where was Ilse Brandt born?";
const VAGUE: &str = "Where was she born?";
const REWRITTEN: &str = r#"{"question": "Where was Ilse Brandt born?"}"#;
const VARNSUND: &str = r#"{"answer": "Varnsund", "rationale": "It says so."}"#;

fn judged(clear: bool, can_answer: bool) -> String {
    format!(r#"{{"clear": {clear}, "can_answer": {can_answer}}}"#)
}

#[tokio::test]
async fn clear_unknown_questions_are_looked_up() {
    let verdict = judged(true, false);
    let chat = script(&[(Role::Know, &[&verdict]), (Role::Answer, &[VARNSUND])]);
    insta::assert_snapshot!(trace_of(&ask("think-then-act", BORN, &chat).await), @r"
    think-then-act: Where was Ilse Brandt born?
    Clear true by Verdict: Where was Ilse Brandt born?
    Known false by Verdict: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Jon Hale: # Jon Hale Jon Hale was born in Oslo. -> Jon Hale
      Chunks: Tea: # Tea Tea is made from leaves. -> Tea
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 1 answer | 1 know
    ");
    insta::assert_snapshot!(prompts(&chat)[0], @r#"
    # Task
    Judge the question at the end in two respects, and do not answer it.
    - "clear": true if the question has one plain meaning, names whom and what it is about, and leaves out nothing that it needs.
    - "can_answer": true if you are sure that you can answer it from what you know, without looking anything up.

    # Output format
    A JSON object and nothing else:
    {"clear": true or false, "can_answer": true or false}

    # Question
    Where was Ilse Brandt born?
    "#);
    assert!(prompts(&chat)[1].contains("[1] Ilse Brandt"));
}

#[tokio::test]
async fn clear_known_questions_are_answered_from_memory() {
    let verdict = judged(true, true);
    let chat = script(&[(Role::Know, &[&verdict]), (Role::Answer, &[VARNSUND])]);
    insta::assert_snapshot!(trace_of(&ask("think-then-act", BORN, &chat).await), @r"
    think-then-act: Where was Ilse Brandt born?
    Clear true by Verdict: Where was Ilse Brandt born?
    Known true by Verdict: Where was Ilse Brandt born?
    answer: Varnsund
    calls: 1 answer | 1 know
    ");
    assert!(!prompts(&chat)[1].contains("# Context"));
}

/// The rewritten question is looked up and answered.
#[tokio::test]
async fn unclear_unknown_questions_are_rewritten_and_looked_up() {
    let verdict = judged(false, false);
    let chat = script(&[
        (Role::Know, &[&verdict]),
        (Role::Rewrite, &[REWRITTEN]),
        (Role::Answer, &[VARNSUND]),
    ]);
    let answer = ask("think-then-act", VAGUE, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    think-then-act: Where was she born?
    Clear false by Verdict: Where was she born?
    Known false by Verdict: Where was she born?
    asks at 0: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Jon Hale: # Jon Hale Jon Hale was born in Oslo. -> Jon Hale
      Chunks: Tea: # Tea Tea is made from leaves. -> Tea
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 1 answer | 1 know | 1 rewrite
    ");
    assert!(candidates(&answer).iter().all(|found| found.proposal == BORN));
    insta::assert_snapshot!(prompts(&chat)[1], @r#"
    # Task
    The question at the end is unclear or incomplete. Rewrite it, in its own language, so that a search can find its answer: say what is most likely meant, write names in full, and add nothing that changes the question.

    # Output format
    A JSON object and nothing else:
    {"question": "the question, rewritten"}

    # Question
    Where was she born?
    "#);
    assert_eq!(section(&prompts(&chat)[2], "# Question").trim(), BORN);
}

#[tokio::test]
async fn unclear_known_questions_are_rewritten_and_answered() {
    let verdict = judged(false, true);
    let chat = script(&[
        (Role::Know, &[&verdict]),
        (Role::Rewrite, &[REWRITTEN]),
        (Role::Answer, &[VARNSUND]),
    ]);
    insta::assert_snapshot!(trace_of(&ask("think-then-act", VAGUE, &chat).await), @r"
    think-then-act: Where was she born?
    Clear false by Verdict: Where was she born?
    Known true by Verdict: Where was she born?
    asks at 0: Where was Ilse Brandt born?
    answer: Varnsund
    calls: 1 answer | 1 know | 1 rewrite
    ");
    assert_eq!(section(&prompts(&chat)[2], "# Question").trim(), BORN);
}

/// The question is looked up unchanged: that needs no judgement.
#[tokio::test]
async fn an_unreadable_judgement_leads_to_retrieval() {
    let replies: &[(Role, &[&str])] =
        &[(Role::Know, &["It is clear.", r#"{"clear": "so so"}"#]), (Role::Answer, &[VARNSUND])];
    insta::assert_snapshot!(run("think-then-act", BORN, replies).await, @r"
    think-then-act: Where was Ilse Brandt born?
    unreadable know: `clear` must be true or false
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Jon Hale: # Jon Hale Jon Hale was born in Oslo. -> Jon Hale
      Chunks: Tea: # Tea Tea is made from leaves. -> Tea
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 1 answer | 2 know
    ");
}

#[tokio::test]
async fn an_unreadable_rewriting_keeps_the_question() {
    let verdict = judged(false, false);
    let replies: &[(Role, &[&str])] = &[
        (Role::Know, &[&verdict]),
        (Role::Rewrite, &["Ilse Brandt?", r#"{"question": ""}"#]),
        (Role::Answer, &[VARNSUND]),
    ];
    let chat = script(replies);
    let trace = trace_of(&ask("think-then-act", VAGUE, &chat).await);
    assert!(trace.contains("unreadable rewrite: it was empty\nhop 1 finds:"), "{trace}");
    let last = prompts(&chat).pop().unwrap();
    assert_eq!(section(&last, "# Question").trim(), VAGUE);
}

#[tokio::test]
async fn an_unreadable_answer_is_refused_or_quoted() {
    let (known, unknown) = (judged(true, true), judged(true, false));
    let bad: &[&str] = &["Varnsund", "Varnsund!"];
    let trace = run("think-then-act", BORN, &[(Role::Know, &[&known]), (Role::Answer, bad)]).await;
    assert!(trace.contains("refused"), "{trace}");
    let trace =
        run("think-then-act", BORN, &[(Role::Know, &[&unknown]), (Role::Answer, bad)]).await;
    assert!(
        trace.contains("the answer quotes its evidence") && !trace.contains("refused"),
        "{trace}"
    );
}

#[tokio::test]
async fn k_is_the_number_of_chunks() {
    for k in 1..=5 {
        let verdict = judged(true, false);
        let chat = script(&[(Role::Know, &[&verdict]), (Role::Answer, &[VARNSUND])]);
        let params = think_then_act::Params { k: k.try_into().unwrap() };
        let answer = ask_with(Method::ThinkThenAct(params), BORN, &chat).await;
        assert_eq!(answer.context.chunks.len(), k);
    }
}
