//! Tests that REPLUG weighs one answer per passage (Shi et al., 2023).

use std::sync::Arc;

use pikerag_baselines::Method;
use pikerag_baselines::replug::Params;
use pikerag_knowledge::Role;
use pikerag_methods::{Models, Ports, SolveError};

use crate::common::Shelf;
use crate::methods::fixture::*;

const BORN: &str = "Where was Ilse Brandt born?";

/// Six passages, best first. Two agree up to spelling and together outweigh the surest one.
/// "Unknown" and an empty reply have no weight. The citation is from a supporter.
#[tokio::test]
async fn the_heaviest_answer_wins() {
    let chat = script(&[]);
    let scorer = scorer(&[(
        Role::Answer,
        &[
            ("Varnsund", 0.5),
            ("Oslo", 0.9),
            ("the varnsund.", 0.6),
            ("unknown", 1.0),
            ("", 0.9),
            ("", 0.9),
            ("Bergen", 0.1),
        ],
    )]);
    let answer = ask_scored("replug", BORN, &chat, &scorer).await;
    insta::assert_snapshot!(trace_of(&answer), @r"
    replug: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Jon Hale: # Jon Hale Jon Hale was born in Oslo. -> Jon Hale
      Chunks: Tea: # Tea Tea is made from leaves. -> Tea
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
      Chunks: Varnsund: # Varnsund Varnsund has 41000 inhabitants. -> Varnsund
    unreadable answer: it was empty
    Confident true -0.69 by LogProbabilities: Ilse Brandt: Varnsund
    Confident false -0.11 by LogProbabilities: KX-40 crane: Oslo
    Confident true -0.51 by LogProbabilities: Jon Hale: the varnsund
    Confident false 0.00 by LogProbabilities: Tea: unknown
    Confident false -2.30 by LogProbabilities: Varnsund: Bergen
    note: Varnsund: weight 0.237.
    note: Oslo: weight 0.148.
    note: Bergen: weight 0.013.
    answer: Varnsund
    cites brandt.md: Ilse Brandt was born in Varnsund.
    cites varnsund.md: Varnsund has 41000 inhabitants.
    calls: 7 answer
    ");
    assert_eq!(answer.context.chunks.last().unwrap().chunk.uri, "brandt.md");
    assert_eq!(answer.rationale, "2 of 6 passages say so.");
}

/// With equal confidence, the passage that retrieval ranks higher weighs more, `e^s` each.
#[tokio::test]
async fn retrieval_scores_weigh_answers() {
    let chat = script(&[]);
    let scorer = scorer(&[(Role::Answer, &[("Varnsund", 0.5), ("Oslo", 0.5)])]);
    let answer = two_passages(&chat, &scorer).await;
    let trace = trace_of(&answer);
    assert!(trace.contains("answer: Varnsund"), "{trace}");
    let weights: Vec<f64> = trace
        .lines()
        .filter_map(|line| line.strip_prefix("note: ")?.split(": weight ").nth(1))
        .map(|weight| weight.trim_end_matches('.').parse().unwrap())
        .collect();
    let [s1, s2] = candidates(&answer).iter().map(|found| found.score).collect::<Vec<_>>()[..]
    else {
        panic!("{trace}")
    };
    let expected = 0.5 / (1.0 + f64::from(s2 - s1).exp());
    assert!((weights[0] - expected).abs() < 0.001 && weights[1] < weights[0], "{trace}");
}

async fn two_passages(
    chat: &Arc<pikerag_doubles::ScriptedChat>,
    scorer: &Arc<pikerag_doubles::ScriptedScorer>,
) -> Answered {
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    let mut ports = ports(&shelf, Some(hashes()), chat);
    ports.models.scorer = Some(scorer.clone());
    let overrides = set("k", 2);
    let method = method("replug").with(&overrides);
    assert_eq!(method, Method::Replug(Params { k: 2.try_into().unwrap() }));
    solve(&ports, &question("q", BORN), method).await.unwrap()
}

#[tokio::test]
async fn each_call_sees_one_passage() {
    let (chat, scorer) = (script(&[]), scorer(&[(Role::Answer, &[("Varnsund", 0.5); 2])]));
    two_passages(&chat, &scorer).await;
    let prompts = texts_of(&scorer.requests());
    assert_eq!(prompts.len(), 2);
    for (prompt, own, other) in
        [(&prompts[0], "Ilse Brandt\n", "crane"), (&prompts[1], "KX-40 crane\n", "Varnsund")]
    {
        assert!(section(prompt, "# Context").starts_with(&format!("[1] {own}")), "{prompt}");
        assert!(!section(prompt, "# Context").contains(other), "{prompt}");
        assert_eq!(section(prompt, "# Question").trim(), BORN);
    }
}

/// No passage gives an answer: the passages are read together.
#[tokio::test]
async fn passages_are_read_together_without_an_answer() {
    let chat = script(&[(Role::Answer, &[r#"{"answer": "perhaps Varnsund"}"#])]);
    let scorer = scorer(&[(Role::Answer, &[("", 0.5), ("", 0.5), ("Unknown.", 0.5)])]);
    insta::assert_snapshot!(trace_of(&two_passages(&chat, &scorer).await), @r"
    replug (own parameters): Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    unreadable answer: it was empty
    Confident false -0.69 by LogProbabilities: KX-40 crane: Unknown
    answer: perhaps Varnsund
    calls: 4 answer
    ");
}

/// An empty base has no passages: the model answers from memory.
#[tokio::test]
async fn an_empty_base_is_answered_from_memory() {
    let shelf = Shelf::empty();
    let chat = script(&[(Role::Answer, &[r#"{"answer": "Varnsund"}"#])]);
    let mut ports = ports(&shelf, None, &chat);
    ports.models.scorer = Some(scorer(&[]));
    let answer = solve(&ports, &question("q", BORN), method("replug")).await.unwrap();
    insta::assert_snapshot!(trace_of(&answer), @r"
    replug: Where was Ilse Brandt born?
    hop 1 finds:
    answer: Varnsund
    calls: 1 answer
    ");
}

/// The model grades each answer itself, and the trace shows it.
#[tokio::test]
async fn a_model_that_grades_itself() {
    let chat = script(&[
        (Role::Answer, &["Oslo", "Varnsund", "Oslo", "Oslo", "Oslo", "Oslo"]),
        (
            Role::Grade,
            &[
                r#"{"confidence": 10}"#,
                r#"{"confidence": 90}"#,
                r#"{"confidence": 0}"#,
                "?",
                "?",
                r#"{"confidence": 5}"#,
                r#"{"confidence": "5%"}"#,
            ],
        ),
    ]);
    insta::assert_snapshot!(trace_of(&ask_self_assessed("replug", BORN, &chat).await), @r"
    replug: Where was Ilse Brandt born?
    hop 1 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Jon Hale: # Jon Hale Jon Hale was born in Oslo. -> Jon Hale
      Chunks: Tea: # Tea Tea is made from leaves. -> Tea
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
      Chunks: Varnsund: # Varnsund Varnsund has 41000 inhabitants. -> Varnsund
    unreadable grade: no JSON object with `confidence` was found in it
    Confident false -2.30 by SelfAssessment: Ilse Brandt: Oslo
    Confident true -0.11 by SelfAssessment: KX-40 crane: Varnsund
    Confident false by SelfAssessment: Jon Hale: Oslo
    Confident false by SelfAssessment: Tea: Oslo
    Confident false -3.00 by SelfAssessment: Oslo: Oslo
    Confident false -3.00 by SelfAssessment: Varnsund: Oslo
    note: Oslo: weight 0.041.
    note: Varnsund: weight 0.148.
    answer: Varnsund
    cites varnsund.md: Varnsund has 41000 inhabitants.
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 6 answer | 7 grade
    ");
}

#[tokio::test]
async fn it_needs_a_model_and_its_certainty() {
    let error = fails_without_models("replug").await;
    assert!(matches!(error, SolveError::NoModel { role: Role::Answer }), "{error}");
    let error = fails("replug", BORN, &[]).await;
    assert!(matches!(error, SolveError::NoScorer), "{error}");
    assert!(error.to_string().contains("log-probabilities"), "{error}");
}

/// A scorer alone is not enough: the answering model writes the final answer.
#[tokio::test]
async fn a_scorer_alone_is_no_model() {
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    let models = Models { scorer: Some(scorer(&[])), ..Models::default() };
    let ports = Ports::new(shelf.base.clone(), Some(hashes()), models);
    let error = solve(&ports, &question("q", BORN), method("replug")).await.unwrap_err();
    assert!(matches!(error, SolveError::NoModel { .. }), "{error}");
}

#[tokio::test]
async fn two_runs_are_equal() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let scorer = scorer(&[(Role::Answer, &[("Varnsund", 0.5), ("Oslo", 0.4)])]);
        runs.push(bytes(&two_passages(&script(&[]), &scorer).await));
    }
    assert_eq!(runs[0], runs[1]);
}
