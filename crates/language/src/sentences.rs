//! Splits text into sentences.

use std::ops::Range;

use crate::language::is_chinese;

/// The sentences of a text as byte ranges: in order, trimmed, none empty. A blank line also ends a
/// sentence.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let code = if text.chars().take(400).any(is_chinese) { "zh" } else { "en" };
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut reached = 0;
    for boundary in sentencex::get_sentence_boundaries(code, text) {
        // Corrects the library's offsets, so that none cuts a character or goes back.
        let (start, end) = (boundary.start_byte.max(reached), boundary.end_byte);
        if end <= start {
            continue;
        }
        if let Some(range) = trimmed(text, reached..end) {
            found.push(range);
        }
        reached = end;
    }
    if let Some(range) = trimmed(text, reached..text.len()) {
        found.push(range);
    }
    found
}

fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let piece = text.get(range.clone())?;
    let start = range.start + (piece.len() - piece.trim_start().len());
    let end = range.start + piece.trim_end().len();
    (start < end).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn english_with_initials_and_abbreviations() {
        let text = "J. R. Hale joined Dr. Moss in 1998. They built the KX-40. Did it float?";
        assert_eq!(
            split(text),
            ["J. R. Hale joined Dr. Moss in 1998.", "They built the KX-40.", "Did it float?"]
        );
    }

    #[test]
    fn chinese() {
        assert_eq!(
            split("起重机由青岛厂制造。它重四十吨！谁负责维护？"),
            ["起重机由青岛厂制造。", "它重四十吨！", "谁负责维护？"]
        );
    }

    proptest! {
        /// In any text, the sentences cover everything except white space, and nothing twice.
        #[test]
        fn sentences_cover_the_text(text in "\\PC{0,120}|[a-zA-Z .!?。！？\n中文]{0,120}") {
            let mut reached = 0;
            for range in sentences(&text) {
                prop_assert!(text[reached..range.start].trim().is_empty());
                prop_assert!(!text[range.clone()].trim().is_empty());
                reached = range.end;
            }
            prop_assert!(text[reached..].trim().is_empty());
        }
    }
}
