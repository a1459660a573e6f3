//! Tests that each round retrieves with the last response (Shao et al., 2023; KAR³ §A.2, Table 5).

use pikerag_baselines::{Method, iter_retgen};
use pikerag_knowledge::{Event, Role};

use crate::methods::fixture::*;

const BORN: &str = "Where was the designer of the KX-40 crane born?";
const DESIGNER: &str =
    r#"{"answer": "unknown", "rationale": "Ilse Brandt designed the KX-40 crane."}"#;
const VARNSUND: &str = r#"{"answer": "Varnsund", "rationale": "Ilse Brandt was born there.", "citations": [{"passage": 1, "quote": "born in Varnsund"}]}"#;

fn rounds(n: usize) -> Method {
    let params = iter_retgen::Params { n: n.try_into().unwrap(), ..Default::default() };
    Method::IterRetgen(params)
}

#[tokio::test]
async fn three_rounds_retrieve_with_the_last_response() {
    let chat = script(&[(Role::Answer, &[DESIGNER, VARNSUND, VARNSUND])]);
    let answer = ask_with(rounds(3), BORN, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    iter-retgen (own parameters): Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    thinks 1: Ilse Brandt designed the KX-40 crane. unknown
    hop 2 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    thinks 2: Ilse Brandt was born there. Varnsund
    hop 3 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    answer: Varnsund
    cites brandt.md: born in Varnsund
    calls: 3 answer
    ");
    let mut queries: Vec<String> =
        candidates(&answer).into_iter().map(|found| found.proposal).collect();
    queries.dedup();
    insta::assert_snapshot!(queries.join("\n"), @r"
    Where was the designer of the KX-40 crane born?
    Where was the designer of the KX-40 crane born? Ilse Brandt designed the KX-40 crane. unknown
    Where was the designer of the KX-40 crane born? Ilse Brandt was born there. Varnsund
    ");
    // The answer's context is exactly that of the last round.
    let Some(Event::Retrieved { hop: 3, candidates }) =
        answer.events.iter().rev().find(|event| matches!(event, Event::Retrieved { .. }))
    else {
        panic!("{:?}", answer.events)
    };
    let last: Vec<_> = candidates.iter().map(|found| found.chunk).collect();
    assert_eq!(answer.context.ids(), last);
    assert!(answer.context.chunks.iter().all(|held| held.hop == 3));
}

/// A round sees its own chunks and the question, neither notes nor earlier responses.
#[tokio::test]
async fn a_round_sees_its_own_chunks() {
    let chat = script(&[(Role::Answer, &[DESIGNER, VARNSUND])]);
    ask_with(rounds(2), BORN, &chat).await;
    let prompts = prompts(&chat);
    assert_eq!(prompts.len(), 2);
    for prompt in prompts {
        assert_eq!(section(&prompt, "# Question").trim(), BORN);
        assert!(!prompt.contains("# Notes") && !prompt.contains("unknown"), "{prompt}");
    }
}

/// All rounds run, even if nothing changes any more.
#[tokio::test]
async fn all_five_rounds_run() {
    let chat = script(&[(Role::Answer, &[VARNSUND; 5])]);
    let trace = trace_of(&ask("iter-retgen", BORN, &chat).await);
    assert_eq!((trace.matches(" finds:").count(), trace.matches("thinks ").count()), (5, 4));
    assert!(trace.ends_with("calls: 5 answer"), "{trace}");
}

/// One round is naive RAG.
#[tokio::test]
async fn one_round_is_naive_rag() {
    let trace = trace_of(&ask_with(rounds(1), BORN, &script(&[(Role::Answer, &[VARNSUND])])).await);
    assert!(!trace.contains("thinks") && trace.contains("answer: Varnsund"), "{trace}");
}

/// Without a response the next round retrieves with the question alone, as the first.
#[tokio::test]
async fn an_unreadable_response_counts_as_none() {
    let chat = script(&[(Role::Answer, &["Brandt.", "Brandt!", VARNSUND])]);
    let answer = ask_with(rounds(2), BORN, &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    iter-retgen (own parameters): Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    unreadable answer: no JSON object with `answer` was found in it
    hop 2 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    answer: Varnsund
    cites crane.md: born in Varnsund (NotFound)
    calls: 3 answer
    ");
    assert!(candidates(&answer).iter().all(|found| found.proposal == BORN));
}

#[tokio::test]
async fn an_unreadable_last_answer_quotes() {
    let replies: &[(Role, &[&str])] = &[(Role::Answer, &[VARNSUND, "Varnsund", "Varnsund!"])];
    let trace = trace_of(&ask_with(rounds(2), BORN, &script(replies)).await);
    assert!(trace.contains("note: The reply could not be read: the answer quotes its evidence."));
}
