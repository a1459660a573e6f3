//! Tests that the methods with one retrieval retrieve once and answer from it alone: naive RAG by
//! chunks, by chunks and atoms, by words and meaning; hop RAG.

use pikerag_knowledge::Role;

use crate::methods::fixture::*;

const BORN: &str = "Where was the designer of the KX-40 crane born?";
const VARNSUND: &str = r#"{"answer": "Varnsund", "rationale": "So it says.", "citations": []}"#;

async fn trace(name: &str) -> String {
    run(name, BORN, &[(Role::Answer, &[VARNSUND])]).await
}

/// KAR³ §A.3, `R`: all chunks of at least 0.2.
#[tokio::test]
async fn naive_rag_reads_chunks() {
    insta::assert_snapshot!(trace("naive-rag").await, @r"
    naive-rag: Where was the designer of the KX-40 crane born?
    gathers: KX-40 crane | Oslo
    answer: Varnsund
    calls: 1 answer
    ");
}

/// The prompt tells a model to leave the answer empty if nothing suggests one. Some write null.
#[tokio::test]
async fn an_empty_answer_is_reported_as_not_found() {
    for empty in ["null", "\"\""] {
        let reply = format!(
            r#"{{"answer": {empty}, "rationale": "No passage names it.", "lacking": "the birthplace", "citations": [{{"passage": 2, "quote": "Oslo"}}]}}"#
        );
        let chat = script(&[(Role::Answer, &[&reply])]);
        let answered = ask("naive-rag", BORN, &chat).await.answer;
        assert_eq!(answered.text, "No answer was found.");
        assert_eq!(answered.missing, ["the birthplace"]);
        assert!(answered.refused && answered.citations.is_empty(), "{answered:?}");
        assert_eq!(chat.requests().len(), 1);
    }
}

/// `H-R`: chunks of at least 0.5, then those of atoms of at least 0.5.
#[tokio::test]
async fn naive_rag_adds_atoms() {
    insta::assert_snapshot!(trace("naive-rag-hr").await, @r"
    naive-rag-hr: Where was the designer of the KX-40 crane born?
    gathers: KX-40 crane
    answer: Varnsund
    calls: 1 answer
    ");
}

#[tokio::test]
async fn hybrid_rag_joins_words_and_meaning() {
    insta::assert_snapshot!(trace("hybrid-rag").await, @r"
    hybrid-rag: Where was the designer of the KX-40 crane born?
    gathers: KX-40 crane | Jon Hale | Ilse Brandt | Oslo | Tea | Varnsund
    answer: Varnsund
    cites varnsund.md: Varnsund has 41000 inhabitants.
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 1 answer
    ");
}

/// The chunks in the order of the walk: the crane, then its designer, whom it names.
#[tokio::test]
async fn hop_rag_reads_in_the_order_of_the_walk() {
    insta::assert_snapshot!(trace("hop-rag").await, @r"
    hop-rag: Where was the designer of the KX-40 crane born?
    gathers: KX-40 crane | Ilse Brandt | Oslo | Varnsund | Jon Hale | Tea
    answer: Varnsund
    cites varnsund.md: Varnsund has 41000 inhabitants.
    cites brandt.md: Ilse Brandt was born in Varnsund.
    calls: 1 answer
    ");
}

/// The first chunk at any length, then those that fit the rest of the budget; the papers' own
/// methods count no tokens.
#[tokio::test]
async fn chunks_are_read_up_to_the_token_budget() {
    let mut gathered = Vec::new();
    for (name, tokens) in [("hop-rag", 1), ("hop-rag", 40), ("hybrid-rag", 40), ("auto-rag", 40)] {
        let method = method(name).with(&set("context_tokens", tokens));
        let answer = ask_with(method, BORN, &script(&[(Role::Answer, &[VARNSUND])])).await;
        let titles: Vec<String> =
            answer.context.chunks.iter().map(|held| held.chunk.title.clone()).collect();
        gathered.push(format!("{name} within {tokens}: {}", titles.join(" | ")));
    }
    insta::assert_snapshot!(gathered.join("\n"), @r"
    hop-rag within 1: KX-40 crane
    hop-rag within 40: KX-40 crane | Oslo
    hybrid-rag within 40: KX-40 crane | Jon Hale
    auto-rag within 40: KX-40 crane | Oslo
    ");
    assert_eq!(method("naive-rag").parameters().get("context_tokens"), None);
    assert_eq!(method("hybrid-rag").parameters()["context_tokens"], 2000);
}
