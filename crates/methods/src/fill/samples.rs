//! Provides answers for the tests of this folder.

use pikerag_knowledge::{Answer, Check, ChunkId, Citation, Context, Span, WrittenBy};

/// An answer of a model without citations.
pub(super) fn answer(text: &str) -> Answer {
    Answer {
        text: text.to_owned(),
        rationale: String::new(),
        refused: false,
        missing: Vec::new(),
        written_by: WrittenBy::LanguageModel { model: "fake".to_owned() },
        citations: Vec::new(),
        context: Context::default(),
        quotes: None,
        worked: None,
    }
}

/// An answer with reasons and a verified citation.
pub(super) fn cited_answer() -> Answer {
    let quote = "Oslo is the capital.";
    let citation = Citation {
        number: 1,
        chunk: ChunkId(1),
        uri: "guide.md".to_owned(),
        title: "Guide".to_owned(),
        page: None,
        span: Span { start: 0, end: quote.len() },
        boxes: Vec::new(),
        quote: quote.to_owned(),
        columns: Vec::new(),
        best: None,
        check: Check::Verified,
        replaced_by: None,
        corrected: false,
    };
    Answer { rationale: "By the guide.".to_owned(), citations: vec![citation], ..answer("Oslo") }
}
