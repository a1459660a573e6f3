//! Which words of a passage bear out what a model says of it? The same words where they stand there, else the
//! sentence that says as much.

use std::collections::HashSet;

use pikerag_knowledge::Chunk;
use pikerag_language::fold::tokens;
use pikerag_language::{content_words, sentences};

use crate::cite::find;

/// The least share of what is said that a sentence has to share.
const SHARED: f32 = 0.6;

/// The words of `chunk` that bear out `said`: these very words where they stand in it (white space may differ), else
/// the one sentence of it that shares at least three fifths of its words, title included, and every number in it. `None` where nothing
/// does.
pub fn bearing_words(chunk: &Chunk, said: &str) -> Option<String> {
    if let Some(span) = find(chunk, said) {
        let (start, end) = (span.start - chunk.span.start, span.end - chunk.span.start);
        return chunk.text.get(start..end).map(str::to_owned);
    }
    let wanted: HashSet<String> = content_words(said).into_iter().collect();
    if wanted.is_empty() {
        return None;
    }
    let title: HashSet<String> = content_words(&chunk.full_title()).into_iter().collect();
    let figures = figures(said);
    let mut best: Option<(usize, &str)> = None;
    for range in sentences(&chunk.text) {
        let Some(sentence) = chunk.text.get(range) else { continue };
        let words: HashSet<String> = content_words(sentence).into_iter().collect();
        // A sentence below a title is about it: but the title alone bears nothing out.
        let own = wanted.intersection(&words).count();
        let shared =
            wanted.iter().filter(|word| words.contains(*word) || title.contains(*word)).count();
        let is_enough = SHARED * wanted.len() as f32 <= shared as f32 && 0 < own;
        let has_figures = figures.is_subset(&self::figures(sentence));
        if is_enough && has_figures && best.is_none_or(|(most, _)| most < own) {
            best = Some((own, sentence));
        }
    }
    best.map(|(_, sentence)| sentence.trim().to_owned())
}

/// The words that have a digit in them.
fn figures(text: &str) -> HashSet<String> {
    let words = tokens(text).into_iter().map(|token| token.folded);
    words.filter(|word| word.contains(|c: char| c.is_ascii_digit())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn borne(text: &str, said: &str) -> Option<String> {
        bearing_words(&pikerag_doubles::chunk(1, "Ilse Brandt", text), said)
    }

    const LIFE: &str =
        "She was born in Varnsund in 1871. From 1899 on she built cranes for a shipyard.";

    #[test]
    fn the_same_words_or_a_sentence_that_says_as_much() {
        let born = Some("She was born in Varnsund in 1871.".to_owned());
        assert_eq!(borne(LIFE, "born in  Varnsund").as_deref(), Some("born in Varnsund"));
        assert_eq!(borne(LIFE, "Ilse Brandt was born in Varnsund in 1871."), born);
        assert_eq!(borne(LIFE, "Ilse Brandt was born in Varnsund"), born);
    }

    #[test]
    fn another_figure_or_hardly_a_word_bears_nothing_out() {
        assert_eq!(borne(LIFE, "Ilse Brandt was born in Varnsund in 1872."), None);
        assert_eq!(borne(LIFE, "Ilse Brandt married a painter from Oslo"), None);
        assert_eq!(borne(LIFE, "Ilse Brandt"), None);
        assert_eq!(borne(LIFE, ""), None);
    }

    #[test]
    fn chinese_too() {
        let text = "质保期为两年。自2024年3月1日起，保证金为合同价的百分之五。";
        let chunk = pikerag_doubles::chunk(1, "设备合同", text);
        let said = "保证金是合同价的百分之五";
        assert_eq!(
            bearing_words(&chunk, said).as_deref(),
            Some("自2024年3月1日起，保证金为合同价的百分之五。")
        );
        assert_eq!(bearing_words(&chunk, "交货期为三个月"), None);
    }
}
