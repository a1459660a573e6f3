//! Splits texts into comparable pieces: folded words of scripts with spaces, single characters of Chinese.

use pikerag_language::fold::fold;
use pikerag_language::{is_chinese, stem};

/// A word, a number or a Chinese character.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// As the text writes it, without a possessive ending.
    pub(crate) raw: String,
    pub(crate) folded: String,
    pub(crate) stem: String,
    /// First byte in the text.
    pub(crate) start: usize,
    /// One past the last byte in the text.
    pub(crate) end: usize,
    pub(crate) is_han: bool,
}

impl Piece {
    /// Whether it begins with a capital letter.
    pub(crate) fn is_capitalized(&self) -> bool {
        self.raw.chars().next().is_some_and(char::is_uppercase)
    }
}

/// The pieces of a text, in order. `camelCase` and `snake_case` are several words.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = None;
    let mut last: Option<char> = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let joins = |is_joined: fn(char) -> bool| {
            start.is_some() && last.is_some_and(is_joined) && next.is_some_and(is_joined)
        };
        let is_number_mark = matches!(c, '.' | ',') && joins(|c| c.is_ascii_digit());
        let is_inner = matches!(c, '\'' | '’' | '&') && joins(char::is_alphanumeric);
        let is_word = (c.is_alphanumeric() && !is_chinese(c)) || is_number_mark || is_inner;
        let is_case_break = last.is_some_and(|last| last.is_lowercase() && c.is_uppercase());
        if let Some(from) = start.filter(|_| !is_word || is_case_break) {
            pieces.push(piece(text, from, at));
            start = None;
        }
        if is_chinese(c) {
            pieces.push(piece(text, at, at + c.len_utf8()));
        } else if is_word && start.is_none() {
            start = Some(at);
        }
        last = Some(c);
    }
    if let Some(from) = start {
        pieces.push(piece(text, from, text.len()));
    }
    pieces
}

fn piece(text: &str, start: usize, end: usize) -> Piece {
    let raw = text.get(start..end).unwrap_or_default();
    let raw = raw.strip_suffix("'s").or_else(|| raw.strip_suffix("’s")).unwrap_or(raw).to_owned();
    let folded = fold(&raw);
    let is_han = raw.chars().all(is_chinese);
    let stem = if is_han { folded.clone() } else { stem(&folded) };
    Piece { raw, folded, stem, start, end, is_han }
}

/// The folded pieces with one space between them, as values are looked up.
pub(crate) fn key(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.folded.as_str()).collect::<Vec<_>>().join(" ")
}

/// The characters of the Chinese run that pieces begin with.
pub(crate) fn han_run(pieces: &[Piece]) -> Vec<char> {
    pieces.iter().take_while(|piece| piece.is_han).flat_map(|piece| piece.raw.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_split_into_words_numbers_and_characters() {
        for (text, expected) in [
            ("tempMax sched_dep_time", "temp|max|sched|dep|time"),
            ("1,200.5 of O'Neill's", "1,200.5|of|oneill"),
            ("中'是AT&T", "中|是|at&t"),
        ] {
            let folded: Vec<String> = pieces(text).into_iter().map(|piece| piece.folded).collect();
            assert_eq!(folded.join("|"), expected);
        }
    }
}
