//! Words quotes: their grade, rows with their columns, the sentence that fits best; and places the
//! numbers of citations in an answer.

use std::collections::BTreeMap;

use pikerag_knowledge::{Citation, Grade};
use pikerag_language::{content_words, sentences, stem, with_columns};

use crate::language::{InWords, Words};

/// A number goes behind a sentence that shares at least this number of words with its quote.
const SHARED: usize = 2;

impl InWords for Grade {
    fn words(&self) -> Words {
        match self {
            Self::Found => Words::new("Found", "找到"),
            Self::Possibly => Words::new("Possibly", "可能"),
            Self::NotFound => Words::new("Not found; nearest passages", "未找到；最接近的段落"),
        }
    }
}

/// The words of a quote on one line. A row names its columns; the sentence that fits the question
/// best is between ▸ and ◂ if the quote has others.
pub fn quoted_text(citation: &Citation) -> String {
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !citation.columns.is_empty() {
        return with_columns(&citation.columns, &line(&citation.quote));
    }
    let parts = citation.best.and_then(|best| {
        let start = best.start.checked_sub(citation.span.start)?;
        let end = best.end.checked_sub(citation.span.start)?;
        let quote = &citation.quote;
        let has_others = end.checked_sub(start)? < quote.len();
        let parts = (quote.get(..start)?, quote.get(start..end)?, quote.get(end..)?);
        has_others.then_some(parts)
    });
    match parts {
        Some((before, best, after)) => line(&format!("{before} ▸{}◂ {after}", best.trim())),
        None => line(&citation.quote),
    }
}

/// An answer with the numbers of its citations, each behind the sentence that shares most words with
/// the quote; those of other quotes are at the end. Numbers that the text has already stay there.
pub fn with_marks(text: &str, citations: &[Citation]) -> String {
    let mark = |citation: &Citation| format!("[{}]", citation.number);
    let mut at_end = String::new();
    let mut behind: BTreeMap<usize, String> = BTreeMap::new();
    let is_marked = citations.iter().any(|citation| text.contains(&mark(citation)));
    let spans = sentences(text);
    let words_of =
        |text: &str| -> Vec<String> { content_words(text).iter().map(|word| stem(word)).collect() };
    let written: Vec<Vec<String>> =
        spans.iter().map(|span| words_of(text.get(span.clone()).unwrap_or_default())).collect();
    for citation in citations {
        if text.contains(&mark(citation)) {
            continue;
        }
        let quoted = words_of(&citation.quote);
        let shared = |words: &Vec<String>| words.iter().filter(|it| quoted.contains(it)).count();
        // The first of equals.
        let mut best: Option<(usize, usize)> = None;
        for (span, words) in spans.iter().zip(&written) {
            let count = shared(words);
            if best.is_none_or(|(most, _)| most < count) {
                best = Some((count, span.end));
            }
        }
        match best {
            Some((count, end)) if SHARED <= count && 1 < spans.len() && !is_marked => {
                behind.entry(end).or_default().push_str(&mark(citation));
            }
            _ => at_end.push_str(&mark(citation)),
        }
    }
    let mut marked = text.to_owned();
    for (end, marks) in behind.into_iter().rev() {
        marked.insert_str(end, &format!(" {marks}"));
    }
    match at_end.is_empty() {
        true => marked,
        false => format!("{} {at_end}", marked.trim_end()).trim_start().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::{Check, ChunkId, Span};

    use super::*;

    fn citation(number: usize, quote: &str) -> Citation {
        Citation {
            number,
            chunk: ChunkId(1),
            uri: "a.md".to_owned(),
            title: "A".to_owned(),
            page: None,
            span: Span { start: 10, end: 10 + quote.len() },
            boxes: Vec::new(),
            quote: quote.to_owned(),
            columns: Vec::new(),
            best: None,
            check: Check::Verified,
            replaced_by: None,
            corrected: false,
        }
    }

    #[test]
    fn numbers_follow_their_own_sentences() {
        let citations = [
            citation(1, "The pump was built by Keswin in Brackness."),
            citation(2, "The seals of all pumps come from Hexley."),
            citation(3, "Rain is wet."),
        ];
        let text = "Keswin built the pump in Brackness. Its seals come from Hexley.";
        let marked = "Keswin built the pump in Brackness. [1] Its seals come from Hexley. [2] [3]";
        assert_eq!(with_marks(text, &citations), marked);
        assert_eq!(with_marks("Keswin", &citations), "Keswin [1][2][3]");
        assert_eq!(with_marks("One [2]. Two words.", &citations), "One [2]. Two words. [1][3]");
        assert_eq!(with_marks("Keswin", &[]), "Keswin");
    }

    #[test]
    fn rows_name_their_columns_and_sentences_are_marked() {
        let row = Citation {
            columns: vec!["Pump".to_owned(), "Flow".to_owned()],
            ..citation(1, "| P-1 | 40 |")
        };
        assert_eq!(quoted_text(&row), "Pump: P-1 | Flow: 40");
        let quote = "A hotel costs £115. In London\nit costs £150.";
        let start = 10 + quote.find("In London").unwrap_or_default();
        let best = Some(Span { start, end: 10 + quote.len() });
        let long = Citation { best, ..citation(1, quote) };
        assert_eq!(quoted_text(&long), "A hotel costs £115. ▸In London it costs £150.◂");
        let whole = Some(Span { start: 10, end: 10 + quote.len() });
        let whole = Citation { best: whole, ..citation(1, quote) };
        assert_eq!(quoted_text(&whole), "A hotel costs £115. In London it costs £150.");
    }

    #[test]
    fn grades_have_words() {
        let grades = [Grade::Found, Grade::Possibly, Grade::NotFound];
        let english = grades.map(|grade| grade.words().english);
        assert_eq!(english, ["Found", "Possibly", "Not found; nearest passages"]);
    }
}
