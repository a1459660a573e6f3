//! Finds the words of a passage that support a model's statement about it: the same words if the
//! passage holds them, else the closest sentence.

use std::collections::HashSet;

use pikerag_knowledge::Chunk;
use pikerag_language::fold::tokens;
use pikerag_language::{content_words, sentences};

use crate::cite::find;

/// The smallest share of the statement's words that a sentence must hold.
const SHARED: f32 = 0.6;

/// The words of `chunk` that support `statement`: these very words if the chunk holds them (white
/// space may differ). Otherwise the one sentence that shares at least three fifths of the
/// statement's words, title included, and every number in it. `None` if nothing supports it.
pub fn bearing_words(chunk: &Chunk, statement: &str) -> Option<String> {
    if let Some(span) = find(chunk, statement) {
        let (start, end) = (span.start - chunk.span.start, span.end - chunk.span.start);
        return chunk.text.get(start..end).map(str::to_owned);
    }
    let wanted: HashSet<String> = content_words(statement).into_iter().collect();
    if wanted.is_empty() {
        return None;
    }
    let title: HashSet<String> = content_words(&chunk.full_title()).into_iter().collect();
    let figures = figures(statement);
    let mut best: Option<(usize, &str)> = None;
    for range in sentences(&chunk.text) {
        let Some(sentence) = chunk.text.get(range) else { continue };
        let words: HashSet<String> = content_words(sentence).into_iter().collect();
        // A sentence below a title is about it, but the title alone supports nothing.
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

    fn supporting(text: &str, statement: &str) -> Option<String> {
        bearing_words(&pikerag_doubles::chunk(1, "Ilse Brandt", text), statement)
    }

    const LIFE: &str =
        "She was born in Varnsund in 1871. From 1899 on she built cranes for a shipyard.";

    #[test]
    fn the_same_words_or_an_equivalent_sentence_support() {
        let born = Some("She was born in Varnsund in 1871.".to_owned());
        assert_eq!(supporting(LIFE, "born in  Varnsund").as_deref(), Some("born in Varnsund"));
        assert_eq!(supporting(LIFE, "Ilse Brandt was born in Varnsund in 1871."), born);
        assert_eq!(supporting(LIFE, "Ilse Brandt was born in Varnsund"), born);
    }

    #[test]
    fn other_figures_or_few_shared_words_do_not_support() {
        assert_eq!(supporting(LIFE, "Ilse Brandt was born in Varnsund in 1872."), None);
        assert_eq!(supporting(LIFE, "Ilse Brandt married a painter from Oslo"), None);
        assert_eq!(supporting(LIFE, "Ilse Brandt"), None);
        assert_eq!(supporting(LIFE, ""), None);
    }

    #[test]
    fn chinese_sentences_support_statements() {
        let text = "质保期为两年。自2024年3月1日起，保证金为合同价的百分之五。";
        let chunk = pikerag_doubles::chunk(1, "设备合同", text);
        let statement = "保证金是合同价的百分之五";
        assert_eq!(
            bearing_words(&chunk, statement).as_deref(),
            Some("自2024年3月1日起，保证金为合同价的百分之五。")
        );
        assert_eq!(bearing_words(&chunk, "交货期为三个月"), None);
    }
}
