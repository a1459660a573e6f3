//! Tests that sentences and retrieval alternate (Trivedi et al., 2023; KAR³ §A.2, Table 5).

use pikerag_baselines::{Method, ircot};
use pikerag_knowledge::Role;

use crate::methods::fixture::*;

const BORN: &str = "Where was the designer of the KX-40 crane born?";
const DESIGNER: &str =
    r#"{"next_rationale": "The KX-40 crane was designed by Ilse Brandt.", "answer": null}"#;
const BIRTHPLACE: &str =
    r#"{"next_rationale": "Ilse Brandt was born in Varnsund.", "answer": null}"#;
const SO: &str = r#"{"next_rationale": null, "answer": "Varnsund"}"#;
const NULL: &str = r#"{"next_rationale": null, "answer": null}"#;
const VARNSUND: &str = r#"{"answer": "Varnsund", "rationale": "Brandt designed it.", "citations": [{"passage": 1, "quote": "born in Varnsund"}]}"#;

const TWO_HOPS: &[(Role, &[&str])] =
    &[(Role::Reason, &[DESIGNER, BIRTHPLACE, SO]), (Role::Answer, &[VARNSUND])];

#[tokio::test]
async fn two_sentences_lead_to_an_answer() {
    let trace = run("ircot", BORN, TWO_HOPS).await;
    insta::assert_snapshot!(trace, @r"
    ircot: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    thinks 1: The KX-40 crane was designed by Ilse Brandt.
    hop 2 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    thinks 2: Ilse Brandt was born in Varnsund.
    hop 3 finds:
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
      Chunks: Varnsund: # Varnsund Varnsund has 41000 inhabitants. -> Varnsund
      Chunks: Jon Hale: # Jon Hale Jon Hale was born in Oslo. -> Jon Hale
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
    thinks 3: So the answer is: Varnsund.
    hop 3 stops: NothingProposed
    answer: Varnsund
    cites brandt.md: born in Varnsund
    calls: 1 answer | 3 reason
    ");
    let zero_shot = run("ircot-zero-shot", BORN, TWO_HOPS).await;
    assert_eq!(zero_shot.replace("ircot-zero-shot", "ircot"), trace);
}

/// All chunks so far, each once, and the rationale so far; the final read sees both.
#[tokio::test]
async fn each_step_sees_the_gathered_chunks() {
    let chat = script(TWO_HOPS);
    let answer = ask("ircot-zero-shot", BORN, &chat).await;
    let prompts = prompts(&chat);
    insta::assert_snapshot!(prompts[0], @r#"
    # Task
    The question at the end is answered by a chain of short sentences, its rationale. After each sentence a search adds passages about it to the reference context, so that the next sentence can build on them.
    - "next_rationale": the next sentence: one fact that leads from the sentences so far towards the answer, with names in full and no pronouns. Take it from the context. If the context does not state it, write it as you believe it to be: the search will check it. State facts, not plans or questions, and repeat nothing.
    - "answer": null as long as a fact is still missing from the context. As soon as the context and the rationale settle the question, close the rationale with one sentence, which may join the last facts, and give the answer with it: a name, a date, a number, yes or no, or a phrase, in the language of the question.
    Where no fact is left to state, "next_rationale" is null and "answer" is given.

    # Output format
    A JSON object and nothing else:
    {"next_rationale": "the next sentence, or null", "answer": "the short answer, or null while it is not settled"}

    # Reference context for your question
    [1] KX-40 crane
     # KX-40 crane

    The KX-40 crane was designed by Ilse Brandt. It lifts forty tons.

    [2] Oslo
     # Oslo

    Oslo is the capital of Norway.

    # Rationale so far
    (nothing yet)

    # Question
    Where was the designer of the KX-40 crane born?
    "#);
    let rationale = |prompt: &String| section(prompt, "# Rationale so far").trim().to_owned();
    assert_eq!(rationale(&prompts[1]), "The KX-40 crane was designed by Ilse Brandt.");
    assert_eq!(
        rationale(&prompts[2]),
        "The KX-40 crane was designed by Ilse Brandt.\nIlse Brandt was born in Varnsund."
    );
    let shown = |prompt: &String, heading: &str| section(prompt, heading).matches("\n[").count();
    let in_steps: Vec<usize> = prompts[..3]
        .iter()
        .map(|prompt| 1 + shown(prompt, "# Reference context for your question"))
        .collect();
    let held: Vec<usize> = answer.context.chunks.iter().map(|held| held.hop).collect();
    let by_step = |most: usize| held.iter().filter(|hop| **hop <= most).count();
    assert_eq!(in_steps, [by_step(1), by_step(2), by_step(3)]);
    assert_eq!(1 + shown(&prompts[3], "# Context"), held.len());
    insta::assert_snapshot!(section(&prompts[3], "# Notes"), @r"
    What was worked out before; it may be wrong. Where it differs from the passages, the passages are right. Mark a fact that only the notes state in the rationale.
    The KX-40 crane was designed by Ilse Brandt.
    Ilse Brandt was born in Varnsund.
    So the answer is: Varnsund.
    ");
    assert!(chat.requests().iter().all(|request| request.temperature == 0.0));
}

#[tokio::test]
async fn demonstrations_come_before_the_context() {
    let replies: &[(Role, &[&str])] = &[(Role::Reason, &[SO]), (Role::Answer, &[VARNSUND])];
    let mut firsts = Vec::new();
    for name in ["ircot", "ircot-zero-shot"] {
        let chat = script(replies);
        ask(name, BORN, &chat).await;
        firsts.push(prompts(&chat).remove(0));
    }
    let demonstrations = include_str!("../../src/prompts/ircot_demonstrations.md");
    assert_eq!(firsts[0].matches("\nAsked: ").count(), 4);
    let examples = format!("\n# Examples\n{demonstrations}\n");
    assert_eq!(firsts[0].replace(&examples, "\n"), firsts[1]);
}

/// `n + 1` calls. Only the last round may end without a sentence and without an answer.
#[tokio::test]
async fn sentences_are_limited() {
    for n in 1..=3 {
        let chat = script(&[(Role::Reason, &[DESIGNER; 9]), (Role::Answer, &[VARNSUND])]);
        let params = ircot::Params { n: n.try_into().unwrap(), ..Default::default() };
        let trace = trace_of(&ask_with(Method::Ircot(params), BORN, &chat).await);
        assert!(trace.contains(&format!("hop {n} stops: HopLimit\nanswer: Varnsund")), "{trace}");
        assert_eq!(trace.matches(" finds:").count(), n + 1);
        assert_eq!(chat.requests().len(), n + 1);
        for (place, prompt) in prompts(&chat)[..n].iter().enumerate() {
            assert_eq!(prompt.contains("Null rationale allowed"), place + 1 == n);
        }
    }
}

#[tokio::test]
async fn a_sentence_with_the_answer_is_the_last() {
    let both = r#"{"next_rationale": "Ilse Brandt was born in Varnsund.", "answer": "Varnsund"}"#;
    let replies: &[(Role, &[&str])] = &[(Role::Reason, &[both]), (Role::Answer, &[VARNSUND])];
    insta::assert_snapshot!(run("ircot", BORN, replies).await, @r"
    ircot: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    thinks 1: Ilse Brandt was born in Varnsund.
    thinks 1: So the answer is: Varnsund.
    hop 1 stops: NothingProposed
    answer: Varnsund
    cites crane.md: born in Varnsund (NotFound)
    calls: 1 answer | 1 reason
    ");
}

#[tokio::test]
async fn null_ends_the_rationale() {
    let chat = script(&[(Role::Reason, &[NULL]), (Role::Answer, &[VARNSUND])]);
    insta::assert_snapshot!(trace_of(&ask("ircot", BORN, &chat).await), @r"
    ircot: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    hop 1 stops: NothingProposed
    answer: Varnsund
    cites crane.md: born in Varnsund (NotFound)
    calls: 1 answer | 1 reason
    ");
    assert!(!prompts(&chat)[1].contains("# Notes"));
}

#[tokio::test]
async fn an_unreadable_sentence_ends_the_rationale() {
    let replies: &[(Role, &[&str])] =
        &[(Role::Reason, &[DESIGNER, "Brandt did.", "She did."]), (Role::Answer, &[VARNSUND])];
    insta::assert_snapshot!(run("ircot", BORN, replies).await, @r"
    ircot: Where was the designer of the KX-40 crane born?
    hop 1 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Oslo: # Oslo Oslo is the capital of Norway. -> Oslo
    thinks 1: The KX-40 crane was designed by Ilse Brandt.
    hop 2 finds:
      Chunks: KX-40 crane: # KX-40 crane The KX-40 crane was designed by Ilse Brandt. It lifts forty tons. -> KX-40 crane
      Chunks: Ilse Brandt: # Ilse Brandt Ilse Brandt was born in Varnsund. -> Ilse Brandt
    unreadable reason: no JSON object with `next_rationale`, `answer` was found in it
    hop 2 stops: Unreadable
    answer: Varnsund
    cites brandt.md: born in Varnsund
    calls: 1 answer | 3 reason
    ");
}

#[tokio::test]
async fn an_unreadable_final_read_quotes() {
    let replies: &[(Role, &[&str])] =
        &[(Role::Reason, &[DESIGNER, SO]), (Role::Answer, &["Varnsund", "Varnsund!"])];
    let trace = run("ircot", BORN, replies).await;
    assert!(trace.contains("note: The reply could not be read: the answer quotes its evidence."));
    assert!(trace.contains("cites brandt.md: Ilse Brandt was born in Varnsund."), "{trace}");
}
