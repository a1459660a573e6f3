//! Tests that CRP-RAG builds its graph, leaves out insufficient paths, and refuses without a
//! sufficient one; also the structures and ablations of §5.

use std::sync::Arc;

use async_trait::async_trait;
use pikerag_baselines::Method;
use pikerag_doubles::ScriptedChat;
use pikerag_knowledge::{
    ChatModel, ChatModels, ChatReply, ChatRequest, Message, ModelError, Role, TokenLogprob,
};
use pikerag_methods::crp_rag::{self, Noise, Structure};
use pikerag_methods::{Certainty, Models, Ports, SolveError};

use crate::methods::fixture::*;

const BORN: &str = "Where was the designer of the KX-40 crane born?";
const WHO: &str = r#"{"next_rationale": "Who designed the KX-40 crane?", "final": false}"#;
const WHERE: &str = r#"{"next_rationale": "Where was Ilse Brandt born?", "final": true}"#;
const TEA: &str = r#"{"next_rationale": "What is tea made from?", "final": true}"#;
const END: &str = r#"{"next_rationale": null, "final": true}"#;
const VARNSUND: &str = r#"{"answer": "Varnsund", "rationale": "Brandt was born there."}"#;
const OSLO: &str = r#"{"answer": "Oslo", "rationale": "Hale was born there."}"#;

/// Sure of a step unless it contains doubtful words.
struct Sure {
    doubts: &'static [&'static str],
}

#[async_trait]
impl ChatModel for Sure {
    fn name(&self) -> &'static str {
        "sure"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ModelError> {
        let Some(Message::User { text, .. }) = request.messages.first() else { panic!() };
        let step = text.split("# The step\n").nth(1).unwrap().trim();
        let p: f32 = if self.doubts.contains(&step) { 0.25 } else { 0.8 };
        let token = TokenLogprob { token: "x".to_owned(), logprob: p.ln() };
        let reply = ScriptedChat::in_order(["So it is."]).complete(request).await?;
        Ok(ChatReply { logprobs: vec![token], ..reply })
    }
}

fn small() -> crp_rag::Params {
    crp_rag::Params { samples: 2, k: 1, perplexity: Some(2.0), ..crp_rag::Params::default() }
}

async fn solved(
    params: crp_rag::Params,
    doubts: &'static [&'static str],
    chat: &Arc<ScriptedChat>,
) -> Answered {
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    let mut ports = ports(&shelf, Some(hashes()), chat);
    ports.models.scorer = Some(Arc::new(Sure { doubts }));
    solve(&ports, &question("q", BORN), Method::CrpRag(params)).await.unwrap()
}

async fn trace(
    params: crp_rag::Params,
    doubts: &'static [&'static str],
    replies: &[(Role, &[&str])],
) -> String {
    trace_of(&solved(params, doubts, &script(replies)).await)
}

/// Two rounds; both samples of a round say the same, so that each is one step.
const CHAIN_OF_TWO: &[&str] = &[WHO, WHO, WHERE, WHERE];
const KNOWN: &[&str] = &["Ilse Brandt designed it.", "She was born in Varnsund.", "From leaves."];

#[tokio::test]
async fn a_path_of_two_steps() {
    let mut steps = CHAIN_OF_TWO.to_vec();
    steps.push("Ilse Brandt designed the crane.");
    let chat =
        script(&[(Role::Reason, &steps), (Role::Summarize, KNOWN), (Role::Answer, &[VARNSUND])]);
    let answer = solved(small(), &[], &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    crp-rag (own parameters): Where was the designer of the KX-40 crane born?
    node 0 after []: Who designed the KX-40 crane?
    node 1 after [0]: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    hop 2 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    thinks 1: Ilse Brandt designed it.
    thinks 2: She was born in Varnsund.
    Sufficient true 1.25 by LogProbabilities: Who designed the KX-40 crane?
    Sufficient true 1.25 by LogProbabilities: Where was Ilse Brandt born?
    thinks 1: Ilse Brandt designed the crane.
    path [0, 1]: Varnsund
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 3 answer | 2 summarize | 5 reason
    ");
    let prompts = prompts(&chat);
    // Round 2 knows the step before it; the reasoning knows the result before it.
    insta::assert_snapshot!(section(&prompts[2], "# Known conditions").trim(), @"1. Who designed the KX-40 crane?");
    insta::assert_snapshot!(section(prompts.last().unwrap(), "# Known conditions").trim(), @"1. Who designed the KX-40 crane? Ilse Brandt designed the crane.");
    insta::assert_snapshot!(section(prompts.last().unwrap(), "# Context").trim(), @"She was born in Varnsund.");
}

/// Eq. 5 and 6: two wordings of one question become one step that follows both sinks.
#[tokio::test]
async fn similar_steps_are_merged_and_keep_their_predecessors() {
    let params = crp_rag::Params { merge: 0.5, ..small() };
    let again =
        r#"{"next_rationale": "Where was Ilse Brandt, the designer, born?", "final": true}"#;
    let steps = [WHO, TEA_OPEN, WHERE, WHERE, again, again, "Brandt.", "Leaves."];
    let summaries = ["Where was the designer Ilse Brandt born?", "Brandt.", "Tea.", "Varnsund."];
    let replies: &[(Role, &[&str])] = &[
        (Role::Reason, &steps),
        (Role::Summarize, &summaries),
        (Role::Answer, &[VARNSUND, VARNSUND]),
    ];
    insta::assert_snapshot!(trace(params, &[], replies).await, @r"
    crp-rag (own parameters): Where was the designer of the KX-40 crane born?
    node 0 after []: Who designed the KX-40 crane?
    node 1 after []: What is tea made from?
    merges Where was Ilse Brandt born? | Where was Ilse Brandt, the designer, born? into Where was the designer Ilse Brandt born?
    node 2 after [0, 1]: Where was the designer Ilse Brandt born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    hop 2 finds:
      Chunks: Tea: # Tea Tea is made from leaves. -> Tea
    hop 3 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    thinks 1: Brandt.
    thinks 2: Tea.
    thinks 3: Varnsund.
    Sufficient true 1.25 by LogProbabilities: Who designed the KX-40 crane?
    Sufficient true 1.25 by LogProbabilities: What is tea made from?
    Sufficient true 1.25 by LogProbabilities: Where was the designer Ilse Brandt born?
    thinks 1: Brandt.
    path [0, 2]: Varnsund
    thinks 2: Leaves.
    path [1, 2]: Varnsund
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 5 answer | 4 summarize | 8 reason
    ");
}

const TEA_OPEN: &str = r#"{"next_rationale": "What is tea made from?", "final": false}"#;

/// Eq. 10: the path over a step that the knowledge does not support is left out.
#[tokio::test]
async fn insufficient_steps_remove_their_paths() {
    let steps = [WHERE, TEA];
    let replies: &[(Role, &[&str])] =
        &[(Role::Reason, &steps), (Role::Summarize, KNOWN), (Role::Answer, &[VARNSUND])];
    insta::assert_snapshot!(trace(small(), &["What is tea made from?"], replies).await, @r"
    crp-rag (own parameters): Where was the designer of the KX-40 crane born?
    node 0 after []: Where was Ilse Brandt born?
    node 1 after []: What is tea made from?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    hop 2 finds:
      Chunks: Tea: # Tea Tea is made from leaves. -> Tea
    thinks 1: Ilse Brandt designed it.
    thinks 2: She was born in Varnsund.
    Sufficient true 1.25 by LogProbabilities: Where was Ilse Brandt born?
    Sufficient false 4.00 by LogProbabilities: What is tea made from?
    path [0]: Varnsund
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 3 answer | 2 summarize | 2 reason
    ");
}

#[tokio::test]
async fn without_a_sufficient_path_it_refuses_and_reports_missing_knowledge() {
    let mut steps = CHAIN_OF_TWO.to_vec();
    steps.push("unused");
    let replies: &[(Role, &[&str])] = &[(Role::Reason, &steps), (Role::Summarize, KNOWN)];
    insta::assert_snapshot!(trace(small(), &["Where was Ilse Brandt born?"], replies).await, @r"
    crp-rag (own parameters): Where was the designer of the KX-40 crane born?
    node 0 after []: Who designed the KX-40 crane?
    node 1 after [0]: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    hop 2 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    thinks 1: Ilse Brandt designed it.
    thinks 2: She was born in Varnsund.
    Sufficient true 1.25 by LogProbabilities: Who designed the KX-40 crane?
    Sufficient false 4.00 by LogProbabilities: Where was Ilse Brandt born?
    answer: The knowledge base does not hold enough to answer this. Knowledge is missing for:
    1. Where was Ilse Brandt born?
    refused
    calls: 2 answer | 2 summarize | 4 reason
    ");
}

/// Eq. 13: several paths, several answers, one merged answer.
#[tokio::test]
async fn the_answers_of_several_paths_are_merged() {
    let steps = [WHERE, TEA];
    let chat = script(&[
        (Role::Reason, &steps),
        (Role::Summarize, KNOWN),
        (Role::Answer, &[VARNSUND, OSLO, VARNSUND]),
    ]);
    let answer = solved(small(), &[], &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    crp-rag (own parameters): Where was the designer of the KX-40 crane born?
    node 0 after []: Where was Ilse Brandt born?
    node 1 after []: What is tea made from?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    hop 2 finds:
      Chunks: Tea: # Tea Tea is made from leaves. -> Tea
    thinks 1: Ilse Brandt designed it.
    thinks 2: She was born in Varnsund.
    Sufficient true 1.25 by LogProbabilities: Where was Ilse Brandt born?
    Sufficient true 1.25 by LogProbabilities: What is tea made from?
    path [0]: Varnsund
    path [1]: Oslo
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 5 answer | 2 summarize | 2 reason
    ");
    insta::assert_snapshot!(section(prompts(&chat).last().unwrap(), "# The answers").trim(), @r"
    1. Varnsund (Brandt was born there.)
    2. Oslo (Hale was born there.)
    ");
}

#[tokio::test]
async fn modules_can_be_switched_off() {
    let named = |name: &str| match method(name) {
        Method::CrpRag(params) => {
            crp_rag::Params { samples: 2, k: 1, perplexity: Some(2.0), ..params }
        }
        other => panic!("{other}"),
    };
    let mut steps = CHAIN_OF_TWO.to_vec();
    steps.push("Ilse Brandt designed the crane.");
    // Without aggregation the passages are used unchanged, without summaries.
    let chat = script(&[(Role::Reason, &steps), (Role::Answer, &[VARNSUND])]);
    let answer = solved(named("crp-rag-no-aggregation"), &[], &chat).await;
    let shown = section(prompts(&chat).last().unwrap(), "# Context");
    assert!(shown.contains("[1] Ilse Brandt"), "{shown}");
    insta::assert_snapshot!(trace_of(&answer), @r"
    crp-rag (own parameters): Where was the designer of the KX-40 crane born?
    node 0 after []: Who designed the KX-40 crane?
    node 1 after [0]: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    hop 2 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    Sufficient true 1.25 by LogProbabilities: Who designed the KX-40 crane?
    Sufficient true 1.25 by LogProbabilities: Where was Ilse Brandt born?
    thinks 1: Ilse Brandt designed the crane.
    path [0, 1]: Varnsund
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 3 answer | 5 reason
    ");
    // Without evaluation nothing is judged: the shortest and the longest path are used, with or
    // without doubts.
    let replies: &[(Role, &[&str])] =
        &[(Role::Reason, &steps), (Role::Summarize, KNOWN), (Role::Answer, &[VARNSUND])];
    let doubts: &[&str] = &["Where was Ilse Brandt born?"];
    insta::assert_snapshot!(trace(named("crp-rag-no-evaluation"), doubts, replies).await, @r"
    crp-rag (own parameters): Where was the designer of the KX-40 crane born?
    node 0 after []: Who designed the KX-40 crane?
    node 1 after [0]: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    hop 2 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    thinks 1: Ilse Brandt designed it.
    thinks 2: She was born in Varnsund.
    thinks 1: Ilse Brandt designed the crane.
    path [0, 1]: Varnsund
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 1 answer | 2 summarize | 5 reason
    ");
    // Without iteration one call sees the whole path.
    let chat = script(&[
        (Role::Reason, CHAIN_OF_TWO),
        (Role::Summarize, KNOWN),
        (Role::Answer, &[VARNSUND]),
    ]);
    let answer = solved(named("crp-rag-no-iteration"), &[], &chat).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    crp-rag (own parameters): Where was the designer of the KX-40 crane born?
    node 0 after []: Who designed the KX-40 crane?
    node 1 after [0]: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    hop 2 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    thinks 1: Ilse Brandt designed it.
    thinks 2: She was born in Varnsund.
    Sufficient true 1.25 by LogProbabilities: Who designed the KX-40 crane?
    Sufficient true 1.25 by LogProbabilities: Where was Ilse Brandt born?
    path [0, 1]: Varnsund
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 3 answer | 2 summarize | 4 reason
    ");
    let last = prompts(&chat).pop().unwrap();
    insta::assert_snapshot!(section(&last, "# Context").trim(), @r"
    Ilse Brandt designed it.

    She was born in Varnsund.
    ");
    insta::assert_snapshot!(section(&last, "# What is left to do").trim(), @r"
    Who designed the KX-40 crane?
    Where was Ilse Brandt born?
    ");
}

/// Table 5: a tree keeps equal steps that a graph merges, a chain branches at the question alone,
/// and without structure the rewritten question is the one step.
#[tokio::test]
async fn trees_chains_and_no_structure_differ_from_the_graph() {
    let alike = crp_rag::Params { merge: 0.5, rounds: 2, ..small() };
    let again = r#"{"next_rationale": "Where was Ilse Brandt born, please?", "final": true}"#;
    let nodes = async |structure, replies: &[&str]| {
        let chat = script(&[
            (Role::Reason, replies),
            (Role::Rewrite, &["Where was the engineer born who designed the KX-40 crane?"]),
            (Role::Summarize, &["Where was Ilse Brandt born?"; 9]),
            (Role::Answer, &[VARNSUND; 9]),
        ]);
        let trace = trace_of(&solved(crp_rag::Params { structure, ..alike }, &[], &chat).await);
        let nodes =
            trace.lines().filter(|line| line.starts_with("node") || line.starts_with("path"));
        nodes.collect::<Vec<_>>().join("\n")
    };
    let rest = ["then", "then", "then", "then"];
    let two: Vec<&str> =
        [WHO, TEA_OPEN, WHERE, again, WHERE, again].into_iter().chain(rest).collect();
    insta::assert_snapshot!(nodes(Structure::Graph, &two).await, @r"
    node 0 after []: Who designed the KX-40 crane?
    node 1 after []: What is tea made from?
    node 2 after [0, 1]: Where was Ilse Brandt born?
    path [0, 2]: Varnsund
    path [1, 2]: Varnsund
    ");
    insta::assert_snapshot!(nodes(Structure::Tree, &two).await, @r"
    node 0 after []: Who designed the KX-40 crane?
    node 1 after []: What is tea made from?
    node 2 after [0]: Where was Ilse Brandt born?
    node 3 after [0]: Where was Ilse Brandt born, please?
    node 4 after [1]: Where was Ilse Brandt born?
    node 5 after [1]: Where was Ilse Brandt born, please?
    path [0, 2]: Varnsund
    path [0, 3]: Varnsund
    path [1, 4]: Varnsund
    path [1, 5]: Varnsund
    ");
    let chain: Vec<&str> = [WHO, TEA_OPEN, WHERE, again].into_iter().chain(rest).collect();
    insta::assert_snapshot!(nodes(Structure::Chain, &chain).await, @r"
    node 0 after []: Who designed the KX-40 crane?
    node 1 after []: What is tea made from?
    node 2 after [0]: Where was Ilse Brandt born?
    node 3 after [1]: Where was Ilse Brandt born, please?
    path [0, 2]: Varnsund
    path [1, 3]: Varnsund
    ");
    insta::assert_snapshot!(nodes(Structure::TextChunk, &[]).await, @"path [0]: Varnsund");
}

/// §3.2: a sink that nothing can follow is final; the bounds end endless chains.
#[tokio::test]
async fn growing_ends() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Reason, &[WHO, WHO, END, END]),
        (Role::Summarize, KNOWN),
        (Role::Answer, &[VARNSUND]),
    ];
    let ended = trace(small(), &[], replies).await;
    assert_eq!(ended.lines().filter(|line| line.starts_with("node")).count(), 1, "{ended}");
    // A sink that only its own predecessors can follow is final, too.
    let replies: &[(Role, &[&str])] = &[
        (Role::Reason, &[WHO, WHO, TEA_OPEN, TEA_OPEN, WHO, TEA_OPEN, "r"]),
        (Role::Summarize, KNOWN),
        (Role::Answer, &[VARNSUND]),
    ];
    let circled = trace(small(), &[], replies).await;
    assert_eq!(circled.lines().filter(|line| line.starts_with("node")).count(), 2, "{circled}");
    let params = crp_rag::Params { rounds: 3, samples: 1, merge: 2.0, ..small() };
    let again = r#"{"next_rationale": "Who made the tea?", "final": false}"#;
    let steps = [WHO, TEA_OPEN, again, "r", "r"];
    let replies: &[(Role, &[&str])] =
        &[(Role::Reason, &steps), (Role::Summarize, KNOWN), (Role::Answer, &[VARNSUND])];
    let bounded = trace(params, &[], replies).await;
    assert_eq!(bounded.lines().filter(|line| line.starts_with("node")).count(), 3, "{bounded}");
}

/// Figure 3: noise in nodes and in knowledge.
#[tokio::test]
async fn noise_replaces_all_but_the_source() {
    let mut steps = CHAIN_OF_TWO.to_vec();
    steps.extend(["Prune roses in March.", "Ilse Brandt designed the crane."]);
    let chat =
        script(&[(Role::Reason, &steps), (Role::Summarize, KNOWN), (Role::Answer, &[VARNSUND])]);
    solved(crp_rag::Params { noise: Noise::Nodes(50), ..small() }, &[], &chat).await;
    let last = prompts(&chat).pop().unwrap();
    assert_eq!(section(&last, "# What is left to do").trim(), "Prune roses in March.");
    let chat =
        script(&[(Role::Reason, &steps), (Role::Summarize, KNOWN), (Role::Answer, &[VARNSUND])]);
    solved(crp_rag::Params { noise: Noise::Knowledge(50), ..small() }, &[], &chat).await;
    let last = prompts(&chat).pop().unwrap();
    assert_eq!(section(&last, "# Context").trim(), "Prune roses in March.");
}

#[tokio::test]
async fn self_assessment_replaces_missing_log_probabilities() {
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    let mut steps = CHAIN_OF_TWO.to_vec();
    steps.push("Ilse Brandt designed the crane.");
    let replies: &[(Role, &[&str])] = &[
        (Role::Reason, &steps),
        (Role::Summarize, KNOWN),
        (Role::Answer, &["It was Brandt.", "In Varnsund.", VARNSUND]),
        (Role::Grade, &[r#"{"confidence": 90}"#, r#"{"confidence": "80%"}"#]),
    ];
    let chat = script(replies);
    let mut ports: Ports = ports(&shelf, Some(hashes()), &chat);
    let crp = Method::CrpRag(small());
    let error = solve(&ports, &question("q", BORN), crp).await.unwrap_err();
    assert!(matches!(error, SolveError::NoScorer), "{error}");
    insta::assert_snapshot!(error, @"this method weighs replies by token log-probabilities, and no model that gives them is set");
    // With the setting that the error names, the trace shows self-assessment.
    ports.models = Models {
        chat: ChatModels::one(script(replies)),
        certainty: Certainty::SelfAssessment,
        ..Models::default()
    };
    let answer = solve(&ports, &question("q", BORN), crp).await.unwrap();
    insta::assert_snapshot!(trace_of(&answer), @r"
    crp-rag (own parameters): Where was the designer of the KX-40 crane born?
    node 0 after []: Who designed the KX-40 crane?
    node 1 after [0]: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    hop 2 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    thinks 1: Ilse Brandt designed it.
    thinks 2: She was born in Varnsund.
    Sufficient true 1.11 by SelfAssessment: Who designed the KX-40 crane?
    Sufficient true 1.25 by SelfAssessment: Where was Ilse Brandt born?
    thinks 1: Ilse Brandt designed the crane.
    path [0, 1]: Varnsund
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 3 answer | 2 summarize | 5 reason | 2 grade
    ");
}

#[tokio::test]
async fn unreadable_replies_leave_the_question_as_the_one_step() {
    let replies: &[(Role, &[&str])] = &[
        (Role::Reason, &["?", "?", "?", "?"]),
        (Role::Summarize, &["", ""]),
        (Role::Answer, &["?", "?", "?", "?"]),
    ];
    insta::assert_snapshot!(trace(small(), &[], replies).await, @r"
    crp-rag (own parameters): Where was the designer of the KX-40 crane born?
    unreadable reason: no JSON object with `next_rationale` was found in it
    unreadable reason: no JSON object with `next_rationale` was found in it
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    unreadable summarize: it was empty
    Sufficient true 1.25 by LogProbabilities: Where was the designer of the KX-40 crane born?
    unreadable answer: no JSON object with `answer` was found in it
    unreadable answer: no JSON object with `answer` was found in it
    note: The reply could not be read: the answer quotes its evidence.
    answer: The KX-40 crane was designed by Ilse Brandt.
    cites crane.md: The KX-40 crane was designed by Ilse Brandt.
    calls: 5 answer | 2 summarize | 4 reason
    ");
}
