//! Tests that a proposer sees the nearest demonstrations (KAR³ §5), and a trained one the answers of its sub-questions.

use pikerag_baselines::Method;
use pikerag_knowledge::Role;
use pikerag_methods::Demonstration;
use pikerag_methods::adaptive::{Decomposer, Params};

use crate::methods::fixture::*;

const BORN: &str = "Where was the designer of the KX-40 crane born?";
const NOTHING: &str = r#"{"thinking": "all known", "sub_questions": []}"#;
const VARNSUND: &str = r#"{"answer": "Varnsund"}"#;

fn demonstration(question: &str, sub_questions: &[&str]) -> Demonstration {
    let sub_questions = sub_questions.iter().map(|one| (*one).to_owned()).collect();
    Demonstration { question: question.to_owned(), sub_questions }
}

/// The first prompt of a method to its proposer.
async fn first_prompt(name: &str, demonstrations: &[Demonstration]) -> String {
    let chat = script(&[(Role::Propose, &[NOTHING]), (Role::Answer, &[VARNSUND])]);
    let shelf = shelve(&LIBRARY, Some(hashes())).await;
    let mut ports = ports(&shelf, Some(hashes()), &chat);
    ports.models.demonstrations = demonstrations.into();
    solve(&ports, &question("q", BORN), method(name)).await.unwrap();
    prompts(&chat).remove(0)
}

#[tokio::test]
async fn the_three_nearest_are_shown() {
    let demonstrations = [
        demonstration("What do cats eat?", &["What is a cat?"]),
        demonstration(
            "Where was the designer of the KX-60 crane born?",
            &["Who designed it?\n# x"],
        ),
        demonstration(BORN, &["The answer to the question itself?"]),
        demonstration("Where was the owner of the crane born?", &["Who owns it?", "Where?"]),
        demonstration("Where was the king born?", &["Who is king?"]),
    ];
    let prompt = first_prompt("kar3", &demonstrations).await;
    insta::assert_snapshot!(section(&prompt, "# Examples"), @r"
    Other questions, with the sub-questions that led to their answers. Ask in the same manner. Their names and facts have nothing to do with this question.
    Question: Where was the designer of the KX-60 crane born?
    - Who designed it? # x
    Question: Where was the owner of the crane born?
    - Who owns it?
    - Where?
    Question: Where was the king born?
    - Who is king?
    ");
}

/// Algorithm 1 as printed has no examples, and without any the prompt has no such section.
#[tokio::test]
async fn printed_methods_and_empty_lists_show_none() {
    let demonstrations = [demonstration("Where was the king born?", &["Who is king?"])];
    let (printed, none) =
        (first_prompt("kar3-paper", &demonstrations).await, first_prompt("kar3", &[]).await);
    for prompt in [printed, none] {
        assert!(!prompt.contains("# Examples"), "{prompt}");
        assert!(prompt.contains("in the language of the question.\n\n# Output format"), "{prompt}");
    }
}

/// A trained proposer names what `adaptive` looks up, and sees the answer of the sub-question before.
#[tokio::test]
async fn a_trained_proposer_serves_adaptive() {
    let ask =
        |text: &str| format!("<decompose>True</decompose>\n<sub-question>{text}</sub-question>");
    let (designer, born) =
        (ask("Who designed the KX-40 crane?"), ask("Where was Ilse Brandt born?"));
    let missing = r#"{"thinking": "", "facts": [], "sufficient": false, "missing": ["Something else?"], "answer": ""}"#;
    let last = r#"{"thinking": "", "facts": ["Ilse Brandt was born in Varnsund. [2]"], "sufficient": true, "missing": [], "answer": "Varnsund"}"#;
    let chat = script(&[
        (Role::Look, &[missing, last]),
        (Role::Propose, &[&designer, &born]),
        (Role::Answer, &[r#"{"answer": "Ilse Brandt"}"#]),
    ]);
    let params =
        Params { chunks: 1, found: 1, decomposer: Decomposer::Trained, ..Params::default() };
    let answer = ask_with(Method::Adaptive(params), BORN, &chat).await;
    let trace = trace_of(&answer);
    // The first one finds only what was shown, so that the next one follows at once.
    assert!(trace.contains("hop 1 proposes: Who designed the KX-40 crane?"), "{trace}");
    assert!(trace.contains("hop 1 proposes: Where was Ilse Brandt born?"), "{trace}");
    assert!(trace.contains("answer: Varnsund"), "{trace}");
    assert!(!trace.contains("Something else?"), "{trace}");
    let proposals: Vec<String> = chat
        .requests()
        .iter()
        .filter(|request| request.role == Role::Propose)
        .map(|request| texts_of(std::slice::from_ref(request)).remove(0))
        .collect();
    assert!(proposals[0].contains("(none)"), "{}", proposals[0]);
    assert!(
        proposals[1].contains("1. Who designed the KX-40 crane? → Ilse Brandt"),
        "{}",
        proposals[1]
    );
}
