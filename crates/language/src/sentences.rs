//! Splits text into sentences.

use std::ops::Range;

use crate::language::is_chinese;

/// Bytes that are split at a time: the library's time grows with the square of a text without blank lines.
const WINDOW: usize = 64 * 1024;

/// The sentences of a text as byte ranges: in order, trimmed, none empty. A blank line also ends a
/// sentence. A sentence of more than 64 KiB is cut.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    by_windows(text, WINDOW)
}

fn by_windows(text: &str, window: usize) -> Vec<Range<usize>> {
    let code = if text.chars().take(400).any(is_chinese) { "zh" } else { "en" };
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let end = text.ceil_char_boundary(at + window);
        let mut inside = in_window(code, text, at..end);
        at = end;
        // The last sentence may go on behind the window, so the next one begins with it.
        if end < text.len() && 1 < inside.len() {
            at = inside.pop().map_or(end, |last| last.start);
        }
        found.append(&mut inside);
    }
    found
}

fn in_window(code: &str, text: &str, window: Range<usize>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut reached = window.start;
    let inside = text.get(window.clone()).unwrap_or_default();
    for boundary in sentencex::get_sentence_boundaries(code, inside) {
        // Corrects the library's offsets, so that none cuts a character or goes back.
        let start = (window.start + boundary.start_byte).max(reached);
        let end = window.start + boundary.end_byte;
        if end <= start {
            continue;
        }
        if let Some(range) = trimmed(text, reached..end) {
            found.push(range);
        }
        reached = end;
    }
    if let Some(range) = trimmed(text, reached..window.end) {
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

    #[test]
    fn windows_do_not_cut_sentences() {
        let text =
            "J. R. Hale joined in 1998. The KX-40 floats. 起重机由青岛厂制造。 Did it float? "
                .repeat(40);
        assert_eq!(by_windows(&text, 120), by_windows(&text, text.len()));
        // A sentence that is longer than the window is cut.
        let long = "word ".repeat(40);
        assert_eq!(by_windows(&long, 50).len(), 4);
    }

    proptest! {
        /// In any text, the sentences cover everything except white space, and nothing twice.
        #[test]
        fn sentences_cover_the_text(text in "\\PC{0,120}|[a-zA-Z .!?。！？\n中文]{0,120}") {
            for window in [1, 20, WINDOW] {
                let mut reached = 0;
                for range in by_windows(&text, window) {
                    prop_assert!(text[reached..range.start].trim().is_empty());
                    prop_assert!(!text[range.clone()].trim().is_empty());
                    reached = range.end;
                }
                prop_assert!(text[reached..].trim().is_empty());
            }
        }
    }
}
