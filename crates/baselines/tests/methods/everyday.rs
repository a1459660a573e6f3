//! Tests that everyday English words find the formal words of documents, if the documents do not have them.

use pikerag_knowledge::{Grade, Question};
use pikerag_methods::{Models, Ports};

use super::fixture::{Answered, Page, method, shelve, solve};

const TEXTS: [Page<'static>; 3] = [
    (
        "crossings.md",
        "# Conditions of carriage\n\nEach person carries up to 20 kg of baggage. A bicycle travels at no \
         additional fee. Tickets are shown at the gangway.\n\nMotor vehicles are stowed on the lower deck.",
        &[],
    ),
    (
        "receivables.md",
        "# Receivables\n\nInvoices are sent on the first of the month. Reminders follow for outstanding \
         invoices after 30 days. Goods are delivered by our own drivers.",
        &[],
    ),
    (
        "contents.md",
        "# Contents cover\n\nThe insurer indemnifies the loss of personal belongings on company premises up to \
         150 euros. Leave without pay does not end the cover.",
        &[],
    ),
];

async fn quoted(question: &str) -> Answered {
    let shelf = shelve(&TEXTS, None).await;
    let ports = Ports::new(shelf.base.clone(), None, Models::default());
    solve(&ports, &Question::new("q", question), method("naive-rag")).await.unwrap()
}

#[tokio::test]
async fn everyday_words_find_the_formal_ones() {
    for (question, quote, searched) in [
        ("May I take my bike?", "A bicycle travels", "“bicycle”, because no passage has “bike”."),
        ("What follows for unpaid invoices?", "Reminders follow", "“outstanding”, because"),
        ("Does an unpaid leave end the cover?", "Leave without pay", "“without pay”, because"),
        (
            "Is the loss of an umbrella on company premises indemnified?",
            "The insurer indemnifies",
            "“personal belongings”, because no passage has “umbrella”.",
        ),
        ("Where are cars stowed?", "Motor vehicles are stowed", "“motor vehicle”, because"),
    ] {
        let answer = quoted(question).await;
        assert!(answer.text.starts_with(quote), "{question} {}", answer.text);
        let rationale = &answer.rationale;
        assert!(rationale.contains(&format!("Searched for {searched}")), "{question} {rationale}");
        assert_ne!(answer.quotes.as_ref().unwrap().grade, Grade::NotFound, "{question}");
    }
}

/// Words of the documents, names, and words of several meanings stay as they are.
#[tokio::test]
async fn other_words_keep_their_meaning() {
    for question in [
        "How much baggage does each person carry?",
        "What did Anna Bike pay?",
        "What is the flat fee?",
        "Is leave a fine policy?",
    ] {
        let answer = quoted(question).await;
        assert!(!answer.rationale.contains("Searched for"), "{question} {}", answer.rationale);
    }
}
