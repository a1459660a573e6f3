//! Tests that an instruction on how to answer reaches the model, and no search (FEVER, LawBench).

use std::sync::Arc;

use pikerag_baselines::Method;
use pikerag_doubles::{HashEmbedder, ScriptedChat, ScriptedEmbedder, prompt};
use pikerag_knowledge::{Question, Role};
use pikerag_methods::{Certainty, LabelledQuestion};
use serde_json::json;

use super::fixture::{LIBRARY, method, ports, shelve, solve};

const CLAIM: &str = "Ilse Brandt was born in Varnsund.";

fn claim() -> Question {
    let text = format!("Answer with SUPPORTS or REFUTES.\nClaim: {CLAIM}");
    Question { lookup: Some(CLAIM.to_owned()), ..Question::new("q", text) }
}

/// Whatever the model replies, no method sends the instruction to the embedder: here all replies are
/// unreadable, so that methods fall back to the question itself, and a rewriting repeats its prompt.
#[tokio::test]
async fn no_method_looks_up_the_instruction() {
    let embedder =
        Arc::new(ScriptedEmbedder::by(|texts| Ok(HashEmbedder::new(256).vectors(texts))));
    let shelf = shelve(&LIBRARY, Some(embedder.clone())).await;
    let before = embedder.requests().len();
    for name in Method::names() {
        let chat = ScriptedChat::by(|request| {
            let shown = prompt(request).unwrap_or_default();
            let asked = shown.rsplit("# Question\n").next().unwrap_or_default();
            Ok(match request.role {
                Role::Rewrite => json!({ "question": asked }).to_string(),
                Role::Know => json!({"clear": false, "can_answer": false}).to_string(),
                _ => "x".to_owned(),
            })
        });
        let chat = Arc::new(chat);
        let mut ports = ports(&shelf, Some(embedder.clone()), &chat);
        ports.models.certainty = Certainty::SelfAssessment;
        ports.models.labelled = [LabelledQuestion { text: "Who?".into(), known: false }].into();
        let solved = solve(&ports, &claim(), method(name)).await;
        // Structures are not built here: their methods end before they search.
        let is_asked = solved.is_err() || chat.prompts().iter().any(|it| it.contains("SUPPORTS"));
        assert!(is_asked, "{name}: the instruction must reach the model");
    }
    let looked_up: Vec<String> = embedder.requests().split_off(before).concat();
    assert!(looked_up.iter().any(|text| text == CLAIM), "{looked_up:?}");
    let wrong: Vec<&String> = looked_up.iter().filter(|text| text.contains("SUPPORTS")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// A rewritten claim is searched for, and answered in the form of the instruction.
#[tokio::test]
async fn a_rewritten_claim_keeps_its_instruction() {
    let shelf = shelve(&LIBRARY, None).await;
    let chat = ScriptedChat::by(|request| {
        Ok(match request.role {
            Role::Know => json!({"clear": false, "can_answer": false}),
            Role::Rewrite => json!({"question": "Ilse Brandt is from Varnsund."}),
            _ => json!({"answer": "SUPPORTS", "rationale": "", "citations": []}),
        }
        .to_string())
    });
    let chat = Arc::new(chat);
    let ports = ports(&shelf, None, &chat);
    solve(&ports, &claim(), method("think-then-act")).await.unwrap();
    let last = chat.prompts().pop().unwrap();
    let asked = "Answer with SUPPORTS or REFUTES.\nClaim: Ilse Brandt is from Varnsund.";
    assert!(last.contains(asked), "{last}");
}
