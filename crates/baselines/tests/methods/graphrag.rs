//! Tests that both GraphRAG searches read the graph and cite chunks.

use std::sync::Arc;

use pikerag_doubles::ScriptedChat;
use pikerag_indexing::Params as IngestParams;
use pikerag_knowledge::{
    AtomKind, ChatModel, ChatRequest, CorpusReader, Message, Role, Structure, WrittenBy,
};
use pikerag_methods::{Models, Ports, SolveError};

use crate::common::solve;
use crate::common::{Files, Shelf};
use crate::methods::fixture::{
    hashes, method, ports, prompts, question, script, section, trace_of,
};

const BORN: &str = "Where was the designer of the KX-40 crane born?";

const PAGES: [(&str, &str); 4] = [
    ("crane.md", "The KX-40 crane was designed by Ilse Brandt."),
    ("brandt.md", "Ilse Brandt was born in Varnsund."),
    ("hale.md", "Jon Hale was born in Oslo."),
    ("tea.md", "Tea is made from leaves."),
];

/// The entities that our model finds in each page.
const FOUND: [(&str, &str); 4] = [
    (
        "designed by",
        r#"{"entities": [{"name": "KX-40 crane", "type": "Crane", "description": "A crane."},
            {"name": "Ilse Brandt", "type": "person", "description": "Designed a crane."}],
            "relations": [{"source": "KX-40 crane", "target": "Ilse Brandt", "description": "designed by", "weight": 9}]}"#,
    ),
    (
        "in Varnsund",
        r#"{"entities": [{"name": "Ilse Brandt", "type": "person", "description": "Born in Varnsund."},
            {"name": "Varnsund", "type": "town", "description": "A town."}],
            "relations": [{"source": "Ilse Brandt", "target": "Varnsund", "description": "born in", "weight": 5}]}"#,
    ),
    (
        "in Oslo",
        r#"{"entities": ["Jon Hale", "Oslo"], "relations": [{"source": "Jon Hale", "target": "Oslo"}]}"#,
    ),
    ("leaves", r#"{"entities": [], "relations": []}"#),
];

fn indexer() -> Arc<dyn ChatModel> {
    Arc::new(ScriptedChat::by(|request: &ChatRequest| {
        let Some(Message::User { text, .. }) = request.messages.first() else { panic!() };
        Ok(match request.role {
            Role::Extract => {
                let (_, content) = text.rsplit_once("# Content").unwrap();
                let found = FOUND.iter().find(|(words, _)| content.contains(words));
                found.unwrap().1.to_owned()
            }
            _ if text.contains("Ilse Brandt") => {
                r#"{"title": "Cranes", "summary": "Ilse Brandt of Varnsund designed the KX-40.",
                    "rating": 8, "findings": ["One designer."]}"#
                    .to_owned()
            }
            _ => {
                r#"{"title": "Hale", "summary": "Jon Hale and Oslo.", "rating": 3, "findings": []}"#
                    .to_owned()
            }
        })
    }))
}

async fn shelve(chat: Option<Arc<dyn ChatModel>>) -> Shelf {
    let shelf = Shelf::empty();
    let atoms = vec![AtomKind::Sentence];
    let params = IngestParams { atoms, with: vec![Structure::Graph], ..IngestParams::default() };
    let report = shelf.index(&Files::from_iter(PAGES), chat, Some(hashes()), &params).await;
    assert!(report.is_whole(), "{report:?}");
    shelf
}

const VARNSUND: &str = r#"{"answer": "Varnsund", "rationale": "Brandt designed it.", "citations": [{"passage": 2, "quote": "born in Varnsund"}]}"#;

#[tokio::test]
async fn local_reads_around_the_entities() {
    let shelf = shelve(Some(indexer())).await;
    let chat = script(&[(Role::Answer, &[VARNSUND])]);
    let ports = ports(&shelf, Some(hashes()), &chat);
    let answer = solve(&ports, &question("q", BORN), method("graphrag-local")).await.unwrap();
    insta::assert_snapshot!(trace_of(&answer), @r"
    graphrag-local: Where was the designer of the KX-40 crane born?
    consults: Entity 0.44 KX-40 crane | Entity 0.20 Ilse Brandt | Entity 0.00 Jon Hale | Entity 0.00 Varnsund | Entity 0.00 Oslo
    consults: CommunityReport 3.00 Cranes | CommunityReport 2.00 Hale
    gathers: crane | brandt | hale
    answer: Varnsund
    cites brandt.md: born in Varnsund
    calls: 1 answer
    ");
    insta::assert_snapshot!(section(&prompts(&chat)[0], "# Notes"), @r"
    What was worked out before; it may be wrong. Where it differs from the passages, the passages are right. Mark a fact that only the notes state in the rationale.
    Entities:
    - KX-40 crane (crane): A crane.
    - Ilse Brandt (person): Born in Varnsund. Designed a crane.
    - Jon Hale
    - Varnsund (town): A town.
    - Oslo
    Relations:
    - KX-40 crane → Ilse Brandt: designed by
    - Ilse Brandt → Varnsund: born in
    - Jon Hale → Oslo
    Reports:
    Cranes
    Ilse Brandt of Varnsund designed the KX-40.
    - One designer.

    Hale
    Jon Hale and Oslo.
    ");
}

/// Without embedder and model, entities are found by name, and the chunks are quoted.
#[tokio::test]
async fn local_finds_entities_by_name() {
    let shelf = shelve(None).await;
    let ports = Ports::new(shelf.base.clone(), None, Models::default());
    let asked = question("q", "Where was Ilse Brandt born?");
    let answer = solve(&ports, &asked, method("graphrag-local")).await.unwrap();
    assert_eq!(answer.written_by, WrittenBy::Quotation);
    assert!(answer.text.contains("Ilse Brandt was born in Varnsund."), "{}", answer.text);
}

#[tokio::test]
async fn global_combines_helpful_partial_answers() {
    let shelf = shelve(Some(indexer())).await;
    let helpful = r#"{"answer": "Brandt, its designer, is of Varnsund.", "score": 80}"#;
    let chat = script(&[(Role::Answer, &[helpful, VARNSUND])]);
    let ports = ports(&shelf, Some(hashes()), &chat);
    let answer = solve(&ports, &question("q", BORN), method("graphrag-global")).await.unwrap();
    insta::assert_snapshot!(trace_of(&answer), @r"
    graphrag-global: Where was the designer of the KX-40 crane born?
    consults: CommunityReport 8.00 Cranes | CommunityReport 3.00 Hale
    thinks 1: Brandt, its designer, is of Varnsund.
    Useful true 80.00 by SelfAssessment: partial answer 1
    gathers: crane | hale | brandt
    answer: Varnsund
    cites brandt.md: born in Varnsund
    calls: 2 answer
    ");
    let prompts = prompts(&chat);
    insta::assert_snapshot!(section(&prompts[0], "# Reports"), @r"
    Cranes
    Ilse Brandt of Varnsund designed the KX-40.
    - One designer.

    Hale
    Jon Hale and Oslo.
    ");
    insta::assert_snapshot!(section(&prompts[1], "# Notes"), @r"
    What was worked out before; it may be wrong. Where it differs from the passages, the passages are right. Mark a fact that only the notes state in the rationale.
    What reports on parts of the documents say, the most helpful first:
    - (helpfulness 80) Brandt, its designer, is of Varnsund.
    ");
}

/// A question that no report is about gets plain retrieval.
#[tokio::test]
async fn plain_retrieval_replaces_useless_reports() {
    let shelf = shelve(Some(indexer())).await;
    let useless = r#"{"answer": "Nothing.", "score": 0}"#;
    let leaves = r#"{"answer": "leaves"}"#;
    let chat = script(&[(Role::Answer, &[useless, leaves])]);
    let ports = ports(&shelf, Some(hashes()), &chat);
    let asked = question("q", "What is tea made from?");
    let answer = solve(&ports, &asked, method("graphrag-global")).await.unwrap();
    insta::assert_snapshot!(trace_of(&answer), @r"
    graphrag-global: What is tea made from?
    consults: CommunityReport 8.00 Cranes | CommunityReport 3.00 Hale
    thinks 1: Nothing.
    Useful false 0.00 by SelfAssessment: partial answer 1
    note: The graph does not help here: the run uses plain retrieval.
    gathers: tea | hale | crane | brandt
    answer: leaves
    cites tea.md: Tea is made from leaves.
    calls: 2 answer
    ");
}

#[tokio::test]
async fn without_a_graph_the_error_names_the_structure() {
    let shelf = Shelf::empty();
    let params = IngestParams::default();
    shelf.index(&Files::from_iter(PAGES), None, Some(hashes()), &params).await;
    assert_eq!(shelf.base.summary().await.unwrap().entities, 0);
    for (name, structure) in
        [("graphrag-local", "graph"), ("graphrag-global", "graph"), ("raptor", "tree")]
    {
        let ports = ports(&shelf, Some(hashes()), &script(&[]));
        let error = solve(&ports, &question("q", BORN), method(name)).await.unwrap_err();
        assert!(matches!(error, SolveError::NotBuilt { .. }), "{name}: {error}");
        assert!(error.to_string().contains(&format!("the {structure} of the base")));
    }
}
