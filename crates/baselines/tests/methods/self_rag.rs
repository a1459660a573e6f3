//! Tests that the judgements of Self-RAG decide the answer (Asai et al., 2024).

use std::future::pending;
use std::sync::Arc;

use pikerag_baselines::self_rag::Params;
use pikerag_baselines::{Method, answer};
use pikerag_doubles::{ScriptedChat, prompt};
use pikerag_knowledge::{ChatModels, Event, ModelError, Role};
use pikerag_methods::{Models, Ports, Retrace, RunParams, SolveError};
use pikerag_models::{Mode, Recorded};

use crate::common::Shelf;
use crate::methods::fixture::*;

const BORN: &str = "Where was Ilse Brandt born?";
const RETRIEVE: &str = r#"{"retrieve": true}"#;
const RELEVANT: &str = r#"{"relevant": true}"#;
const BESIDE: &str = r#"{"relevant": false}"#;
const FULLY: &str = r#"{"supported": "fully"}"#;
const PARTIALLY: &str = r#"{"supported": "partially"}"#;
const NO: &str = r#"{"supported": "no"}"#;
const USEFUL: &str = r#"{"useful": 5}"#;
const USELESS: &str = r#"{"useful": 1}"#;
const VARNSUND: &str = r#"{"answer": "Varnsund", "rationale": "It says so."}"#;
const OSLO: &str = r#"{"answer": "Oslo", "rationale": "Hale was."}"#;

/// The best three passages.
async fn ask_of_three(chat: &Arc<ScriptedChat>) -> Answered {
    let params = Params { k: 3.try_into().unwrap(), ..Params::default() };
    ask_with(Method::SelfRag(params), BORN, chat).await
}

#[tokio::test]
async fn no_retrieval_is_needed() {
    let chat = script(&[(Role::Know, &[r#"{"retrieve": "no"}"#]), (Role::Answer, &[VARNSUND])]);
    insta::assert_snapshot!(trace_of(&ask("self-rag", BORN, &chat).await), @r"
    self-rag: Where was Ilse Brandt born?
    NeedsRetrieval false by Verdict: Where was Ilse Brandt born?
    answer: Varnsund
    calls: 1 answer | 1 know
    ");
    // The closed-book prompt contains no passages.
    assert!(!prompts(&chat)[1].contains("passages"));
}

/// Of three passages one is irrelevant and gets no segment. The first scores 1 + 0.5 + 0.5 · 0.5 =
/// 1.75, the last 1 + 1 + 0.5 · 1 = 2.5 and wins.
#[tokio::test]
async fn the_best_segment_is_the_answer() {
    let chat = script(&[
        (Role::Know, &[RETRIEVE]),
        (Role::Relevant, &[RELEVANT, BESIDE, RELEVANT]),
        (Role::Answer, &[VARNSUND, OSLO]),
        (Role::Grade, &[PARTIALLY, r#"{"useful": 4}"#, FULLY, USEFUL]),
    ]);
    insta::assert_snapshot!(trace_of(&ask_of_three(&chat).await), @r"
    self-rag (own parameters): Where was Ilse Brandt born?
    NeedsRetrieval true by Verdict: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Jon Hale: # Jon Hale Jon Hale was born in Oslo. -> Jon Hale
    Relevant true by Verdict: Ilse Brandt
    thinks 1: Varnsund
    Supported true 0.50 by Verdict: Varnsund
    Useful true 4.00 by Verdict: Varnsund
    note: Ilse Brandt: score 1.75.
    Relevant false by Verdict: KX-40 crane
    Relevant true by Verdict: Jon Hale
    thinks 1: Oslo
    Supported true 1.00 by Verdict: Oslo
    Useful true 5.00 by Verdict: Oslo
    note: Jon Hale: score 2.50.
    answer: Oslo
    cites hale.md: Jon Hale was born in Oslo.
    calls: 2 answer | 1 know | 3 relevant | 4 grade
    ");
}

/// A content filter rejects one passage: the others are paid, and answer. A replay from the record
/// alone is the same run.
#[tokio::test]
async fn a_refused_passage_leaves_the_others_their_segments() {
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    let models = |mode| {
        let chat = ScriptedChat::by(|request| {
            let is_of_hale = prompt(request).unwrap().contains("Jon Hale was born");
            match request.role {
                Role::Know => Ok(RETRIEVE.to_owned()),
                Role::Relevant if is_of_hale => Err(ModelError::Refused {
                    model: "fake".to_owned(),
                    source: "HTTP 400: the content filter was triggered".into(),
                }),
                Role::Relevant => Ok(RELEVANT.to_owned()),
                Role::Answer => Ok(VARNSUND.to_owned()),
                _ => Ok(r#"{"supported": "fully", "useful": 5}"#.to_owned()),
            }
        });
        let chat = Recorded::new(chat, shelf.base.clone(), mode);
        Models::from(ChatModels::one(Arc::new(chat)))
    };
    let run = async |models, retrace| {
        let ports = Ports::new(shelf.base.clone(), Some(hashes()), models);
        let params = Params { k: 3.try_into().unwrap(), ..Params::default() };
        let run = RunParams { retrace, ..RunParams::default() };
        answer(&ports, &question("q", BORN), Method::SelfRag(params), run, pending()).await
    };
    let live = models(Mode::Record);
    let first = run(live.clone(), None).await;
    assert_eq!(first.result.as_ref().unwrap().text, "Varnsund");
    let refused = |event: &&Event| matches!(event, Event::Unreadable { role: Role::Relevant, .. });
    assert_eq!(first.trace().filter(refused).count(), 1);
    let retrace = Retrace::whole(&first.record, &first.events);
    let recorded = retrace.models(&live, &models(Mode::ReplayOnly));
    let again = run(recorded, Some(retrace)).await;
    assert_eq!(again.result.unwrap(), first.result.unwrap());
}

/// Full support outweighs full usefulness: 1 + 1 - 0.5 against 1 + 0 + 0.5.
#[tokio::test]
async fn the_weights_decide() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Know, &[RETRIEVE]),
        (Role::Relevant, &[RELEVANT, RELEVANT, BESIDE]),
        (Role::Answer, &[OSLO, VARNSUND]),
        (Role::Grade, &[NO, USEFUL, FULLY, USELESS]),
    ];
    let answer = ask_of_three(&script(replies)).await;
    assert!(trace_of(&answer).contains("score 1.50"), "{}", trace_of(&answer));
    assert_eq!(answer.text, "Oslo"); // A tie: the first passage wins.
    let params = Params { k: 3.try_into().unwrap(), w_use: 0.25, ..Params::default() };
    let answer = ask_with(Method::SelfRag(params), BORN, &script(replies)).await;
    assert_eq!(answer.text, "Varnsund");
}

#[tokio::test]
async fn each_judgement_sees_its_own_inputs() {
    let chat = script(&[
        (Role::Know, &[RETRIEVE]),
        (Role::Relevant, &[RELEVANT, BESIDE]),
        (Role::Answer, &[VARNSUND]),
        (Role::Grade, &[FULLY, USEFUL]),
    ]);
    let overrides = set("k", 2);
    ask_with(method("self-rag").with(&overrides), BORN, &chat).await;
    let prompts = prompts(&chat);
    let [know, relevant, segment, support, usefulness, second] = &prompts[..] else {
        panic!("{prompts:#?}")
    };
    for prompt in &prompts {
        assert_eq!(section(prompt, "# Question").trim(), BORN);
    }
    assert!(!know.contains("# Context") && !usefulness.contains("# Context"));
    for prompt in [relevant, segment, support] {
        let context = section(prompt, "# Context");
        assert!(context.starts_with("[1] Ilse Brandt\n") && !context.contains("[2]"), "{prompt}");
    }
    assert!(section(second, "# Context").starts_with("[1] KX-40 crane\n"), "{second}");
    for prompt in [support, usefulness] {
        assert_eq!(section(prompt, "# The reply").trim(), "Varnsund");
    }
}

#[tokio::test]
async fn without_relevant_passages_the_model_answers_from_memory() {
    let chat = script(&[
        (Role::Know, &[RETRIEVE]),
        (Role::Relevant, &[BESIDE; 3]),
        (Role::Answer, &[VARNSUND]),
    ]);
    let answer = ask_of_three(&chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    self-rag (own parameters): Where was Ilse Brandt born?
    NeedsRetrieval true by Verdict: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Jon Hale: # Jon Hale Jon Hale was born in Oslo. -> Jon Hale
    Relevant false by Verdict: Ilse Brandt
    Relevant false by Verdict: KX-40 crane
    Relevant false by Verdict: Jon Hale
    note: No relevant passage gave an answer: the model answers from memory.
    answer: Varnsund
    calls: 1 answer | 1 know | 3 relevant
    ");
    assert!(answer.context.chunks.is_empty());
}

/// No verdict on retrieval: retrieve. None on relevance: irrelevant. No segment: no candidate. None
/// on support and usefulness: the segment scores its relevance alone.
#[tokio::test]
async fn unreadable_replies_have_defaults_at_each_step() {
    let chat = script(&[
        (Role::Know, &["?", "?"]),
        (Role::Relevant, &["?", "?", RELEVANT, RELEVANT]),
        (Role::Answer, &["?", "?", VARNSUND]),
        (Role::Grade, &["?", "?", r#"{"useful": 9}"#, "?"]),
    ]);
    insta::assert_snapshot!(trace_of(&ask_of_three(&chat).await), @r"
    self-rag (own parameters): Where was Ilse Brandt born?
    unreadable know: no JSON object with `retrieve` was found in it
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Jon Hale: # Jon Hale Jon Hale was born in Oslo. -> Jon Hale
    unreadable relevant: no JSON object with `relevant` was found in it
    Relevant true by Verdict: KX-40 crane
    unreadable answer: no JSON object with `answer` was found in it
    Relevant true by Verdict: Jon Hale
    thinks 1: Varnsund
    unreadable grade: no JSON object with `supported` was found in it
    unreadable grade: no JSON object with `useful` was found in it
    note: Jon Hale: score 1.00.
    answer: Varnsund
    calls: 3 answer | 2 know | 4 relevant | 4 grade
    ");
}

#[tokio::test]
async fn an_empty_base_is_answered_from_memory() {
    let shelf = Shelf::empty();
    let chat = script(&[(Role::Know, &[RETRIEVE]), (Role::Answer, &[VARNSUND])]);
    let ports = ports(&shelf, None, &chat);
    let answer = solve(&ports, &question("q", BORN), method("self-rag")).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.spent.calls()), ("Varnsund", 2));
}

#[tokio::test]
async fn it_needs_a_model() {
    let error = fails_without_models("self-rag").await;
    assert!(matches!(error, SolveError::NoModel { role: Role::Know }), "{error}");
}

#[tokio::test]
async fn two_runs_are_equal() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let chat = script(&[
            (Role::Know, &[RETRIEVE]),
            (Role::Relevant, &[RELEVANT, RELEVANT, BESIDE]),
            (Role::Answer, &[VARNSUND, OSLO]),
            (Role::Grade, &[FULLY, USEFUL, NO, USEFUL]),
        ]);
        runs.push(bytes(&ask_of_three(&chat).await));
    }
    assert_eq!(runs[0], runs[1]);
}
