//! Folds words: case, accents, possessives and apostrophes do not matter.
//!
//! Each Chinese character is a word of its own here.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::language::is_chinese;

/// A word of a text with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// As written in the text, accents and possessives included.
    pub raw: &'a str,
    /// First byte in the text.
    pub start: usize,
    /// Folded; never empty.
    pub folded: String,
}

impl Token<'_> {
    /// One past the last byte in the text.
    pub fn end(&self) -> usize {
        self.start + self.raw.len()
    }
}

/// The words of a text in order: runs of letters and digits, with apostrophes inside; Chinese
/// character by character.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next_is_word =
            chars.peek().is_some_and(|(_, next)| next.is_alphanumeric() && !is_chinese(*next));
        let inside = c.is_alphanumeric()
            || is_combining_mark(c)
            || (is_apostrophe(c) && start.is_some() && next_is_word);
        if is_chinese(c) || !inside {
            if let Some(start) = start.take() {
                push(&mut found, text, start, at);
            }
            if is_chinese(c) {
                push(&mut found, text, at, at + c.len_utf8());
            }
        } else if start.is_none() {
            start = Some(at);
        }
    }
    if let Some(start) = start {
        push(&mut found, text, start, text.len());
    }
    found
}

/// The words of a text without case and accents, a space between them.
pub fn folded(text: &str) -> String {
    let words: Vec<String> = tokens(text).into_iter().map(|token| token.folded).collect();
    words.join(" ")
}

fn push<'a>(found: &mut Vec<Token<'a>>, text: &'a str, start: usize, end: usize) {
    let Some(raw) = text.get(start..end) else { return };
    let folded = fold(raw);
    if !folded.is_empty() {
        found.push(Token { raw, start, folded });
    }
}

/// One word in lower case, without accents, apostrophes and possessives; empty if nothing remains.
pub fn fold(word: &str) -> String {
    let bare = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
    if bare.is_ascii() {
        return bare.chars().filter(|c| *c != '\'').map(|c| c.to_ascii_lowercase()).collect();
    }
    let mut folded = String::with_capacity(bare.len());
    for c in bare.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        match c {
            'ß' => folded.push_str("ss"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ı' => folded.push('i'),
            'þ' => folded.push_str("th"),
            c if is_apostrophe(c) || is_combining_mark(c) => {}
            c => folded.push(c),
        }
    }
    folded
}

/// A text with a space between letters and digits that touch each other, and before a capital behind
/// a small letter: `KX 40` for `KX40`, `Weave Draft` for `WeaveDraft`.
pub fn apart(text: &str) -> String {
    let mut apart = String::with_capacity(text.len() + 4);
    let mut before = ' ';
    for c in text.chars() {
        let is_boundary = (before.is_numeric() && c.is_alphabetic())
            || (before.is_alphabetic() && c.is_numeric())
            || (before.is_lowercase() && c.is_uppercase());
        if is_boundary {
            apart.push(' ');
        }
        apart.push(c);
        before = c;
    }
    apart
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | 'ʿ' | 'ʾ' | 'ʻ' | 'ʼ')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folded(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.folded).collect()
    }

    #[test]
    fn spelling_does_not_matter() {
        assert_eq!(
            folded("O’Brien's KX-40, Øresund & ʿAḍud"),
            ["obrien", "kx", "40", "oresund", "adud"]
        );
        assert_eq!(folded("Straße 'quoted' café"), ["strasse", "quoted", "cafe"]);
        assert_eq!(folded("起重机KX 40"), ["起", "重", "机", "kx", "40"]);
    }

    #[test]
    fn letters_and_digits_are_set_apart() {
        for (text, expected) in [
            ("KX40", "KX 40"),
            ("SL04B", "SL 04 B"),
            ("LoomV2", "Loom V 2"),
            ("KX-40", "KX-40"),
            ("起重机40", "起重机 40"),
        ] {
            assert_eq!(apart(text), expected);
        }
    }

    proptest! {
        #[test]
        fn handles_any_text(text in "\\PC{0,60}") {
            for token in tokens(&text) {
                prop_assert_eq!(&text[token.start..token.end()], token.raw);
            }
        }
    }
}
