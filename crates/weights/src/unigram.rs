//! Splits a text into the pieces of a vocabulary that cover it with the highest sum of scores (Kudo
//! 2018, `SentencePiece`'s unigram model), after the normalization of XLM-RoBERTa.

use std::collections::HashMap;
use std::ops::Range;

/// The symbol of `SentencePiece` for a space: pieces at the beginning of a word start with it.
const SPACE: char = '\u{2581}';
/// The score of a character that no piece covers is lower by this much than the rarest piece's.
const UNKNOWN: f32 = 10.0;

/// A vocabulary, and the replacements of characters before they are looked up.
pub(super) struct Unigram {
    /// The bytes of all pieces, sorted.
    bytes: Vec<u8>,
    /// The end of each piece in `bytes`; it begins at the end of the one before.
    ends: Vec<u32>,
    /// Token and score of each piece, in the order of `ends`.
    pieces: Vec<(u32, f32)>,
    /// The pieces that begin with a character: this saves most of the search.
    by_first: HashMap<char, Range<usize>>,
    replaced: HashMap<char, String>,
    unknown: u32,
    unknown_score: f32,
}

/// The best cover of a text up to some byte: its score, its last piece, and that piece's length in
/// bytes.
#[derive(Clone, Copy)]
struct Step {
    score: f32,
    token: u32,
    length: u32,
}

impl Unigram {
    /// A vocabulary of pieces with their scores, by token; of two equal pieces the first counts.
    /// The `unknown` piece, empty pieces, and pieces that are not text are never looked up.
    pub(super) fn new(
        pieces: &[(&[u8], f32)],
        unknown: u32,
        replaced: HashMap<char, String>,
    ) -> Self {
        let lowest = pieces.iter().map(|(_, score)| *score).fold(f32::INFINITY, f32::min);
        let mut sorted: Vec<(u64, u32, &str, f32)> = Vec::with_capacity(pieces.len());
        for (token, (piece, score)) in (0_u32..).zip(pieces) {
            let Ok(piece) = std::str::from_utf8(piece) else { continue };
            if token != unknown && !piece.is_empty() {
                sorted.push((head(piece.as_bytes()), token, piece, *score));
            }
        }
        // The first eight bytes, as one number, distinguish most pieces.
        sorted.sort_unstable_by(|a, b| (a.0, a.2, a.1).cmp(&(b.0, b.2, b.1)));
        sorted.dedup_by(|later, first| later.2 == first.2);
        let mut unigram = Self {
            bytes: Vec::with_capacity(sorted.iter().map(|(_, _, piece, _)| piece.len()).sum()),
            ends: Vec::with_capacity(sorted.len()),
            pieces: Vec::with_capacity(sorted.len()),
            by_first: HashMap::new(),
            replaced,
            unknown,
            unknown_score: lowest - UNKNOWN,
        };
        for (at, (_, token, piece, score)) in sorted.into_iter().enumerate() {
            unigram.bytes.extend_from_slice(piece.as_bytes());
            let Ok(end) = u32::try_from(unigram.bytes.len()) else { break };
            unigram.ends.push(end);
            unigram.pieces.push((token, score));
            if let Some(first) = piece.chars().next() {
                unigram.by_first.entry(first).or_insert(at..at).end = at + 1;
            }
        }
        unigram
    }

    /// The token of a character that no piece covers.
    pub(super) fn unknown(&self) -> u32 {
        self.unknown
    }

    /// The tokens of a text, without marks for its beginning or end.
    pub(super) fn tokens(&self, text: &str) -> Vec<u32> {
        self.cover(&self.normalize(text, |_| ())).into_iter().map(|(token, _)| token).collect()
    }

    /// As [`Unigram::tokens`], each token with the place of the last byte of its text.
    pub(super) fn located_tokens(&self, text: &str) -> Vec<(u32, usize)> {
        let mut places = vec![0; SPACE.len_utf8()];
        let normal = self.normalize(text, |(place, character)| {
            places.resize(places.len() + character.len_utf8(), place);
        });
        let mut tokens = self.cover(&normal);
        for (_, end) in &mut tokens {
            *end = places.get(end.saturating_sub(1)).copied().unwrap_or_default();
        }
        tokens
    }

    /// Replaces characters, puts a space first, merges runs of spaces, and writes `▁` for each. It
    /// calls `emit` for every character after the first space, with the place of the last byte of
    /// its origin.
    fn normalize(&self, text: &str, mut emit: impl FnMut((usize, char))) -> String {
        let mut normal = String::with_capacity(text.len() + SPACE.len_utf8());
        normal.push(SPACE);
        let mut after_space = true;
        let mut push = |character: char, place: usize| {
            let is_space = character == ' ';
            if !(is_space && after_space) {
                let character = if is_space { SPACE } else { character };
                normal.push(character);
                emit((place, character));
            }
            after_space = is_space;
        };
        for (start, character) in text.char_indices() {
            let place = start + character.len_utf8() - 1;
            match self.replaced.get(&character) {
                Some(others) => others.chars().for_each(|other| push(other, place)),
                None => push(character, place),
            }
        }
        normal
    }

    /// The best cover of the text (Viterbi), tokens with their ends; of equal covers, the one whose
    /// last piece is longest.
    fn cover(&self, text: &str) -> Vec<(u32, usize)> {
        let start = Step { score: 0.0, token: self.unknown, length: 0 };
        let unreached = Step { score: f32::NEG_INFINITY, ..start };
        let mut steps = vec![start];
        steps.resize(text.len() + 1, unreached);
        for (at, character) in text.char_indices() {
            let (_, rest) = text.split_at(at);
            let Some(&Step { score: before, .. }) = steps.get(at) else { break };
            let mut reach = |length: usize, token: u32, score: f32| {
                let (Some(step), Ok(length)) = (steps.get_mut(at + length), u32::try_from(length))
                else {
                    return;
                };
                if step.score < before + score || step.length == 0 {
                    *step = Step { score: before + score, token, length };
                }
            };
            self.pieces_of(rest, &mut reach);
            reach(character.len_utf8(), self.unknown, self.unknown_score);
        }
        let mut tokens = Vec::new();
        let mut at = text.len();
        while let Some(step) = steps.get(at)
            && step.length != 0
        {
            tokens.push((step.token, at));
            at = at.saturating_sub(step.length as usize);
        }
        tokens.reverse();
        tokens
    }

    /// Calls `found` with length, token and score of each piece that the text begins with, shortest
    /// first.
    fn pieces_of(&self, text: &str, found: &mut impl FnMut(usize, u32, f32)) {
        let mut characters = text.char_indices();
        let Some((_, first)) = characters.next() else { return };
        let Some(range) = self.by_first.get(&first) else { return };
        let mut range = range.clone();
        let mut length = first.len_utf8();
        loop {
            // All pieces in the range begin with `length` bytes of the text; a piece of exactly
            // that length comes first.
            if self.piece(range.start).len() == length
                && let Some((token, score)) = self.pieces.get(range.start)
            {
                found(length, *token, *score);
                range.start += 1;
            }
            let Some((_, next)) = characters.next() else { return };
            let mut bytes = [0; 4];
            for byte in next.encode_utf8(&mut bytes).bytes() {
                let start =
                    self.first_where(range.clone(), |piece| Some(&byte) <= piece.get(length));
                range = start
                    ..self.first_where(start..range.end, |piece| Some(&byte) < piece.get(length));
                length += 1;
            }
            if range.is_empty() {
                return;
            }
        }
    }

    /// The first piece of a range from which on `is` holds, or the range's end.
    fn first_where(&self, range: Range<usize>, is: impl Fn(&[u8]) -> bool) -> usize {
        let Range { mut start, mut end } = range;
        while start < end {
            let middle = start.midpoint(end);
            match is(self.piece(middle)) {
                true => end = middle,
                false => start = middle + 1,
            }
        }
        start
    }

    fn piece(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before));
        let (Some(start), Some(end)) = (start, self.ends.get(at)) else { return &[] };
        self.bytes.get(*start as usize..*end as usize).unwrap_or_default()
    }
}

/// The first eight bytes as a number that sorts as they do.
fn head(bytes: &[u8]) -> u64 {
    let mut head = [0; 8];
    for (to, from) in head.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_be_bytes(head)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pieces of many lengths over a few letters, two of them equal; the first is the unknown one.
    const PIECES: [(&str, f32); 17] = [
        ("<unk>", 0.0),
        ("▁", -2.1),
        ("a", -3.3),
        ("b", -3.9),
        ("ab", -5.2),
        ("aba", -9.7),
        ("▁ab", -6.1),
        ("▁ba", -11.4),
        ("bb", -8.3),
        ("abab", -10.6),
        ("法", -7.7),
        ("法律", -8.8),
        ("律a", -12.9),
        ("é", -9.1),
        ("è", -9.2),
        ("ab", -1.0),
        ("", -1.0),
    ];

    fn unigram() -> Unigram {
        let pieces = PIECES.map(|(piece, score)| (piece.as_bytes(), score));
        let replaced = [('\t', " "), ('Ａ', "a"), ('\u{1}', ""), ('㏂', "a b")];
        let replaced = replaced.map(|(from, to)| (from, to.to_owned())).into();
        Unigram::new(&pieces, 0, replaced)
    }

    /// Every cover of a text, by pieces or unknown characters: tokens and their score.
    fn covers(text: &str) -> Vec<(Vec<u32>, f32)> {
        let Some(first) = text.chars().next() else { return vec![(Vec::new(), 0.0)] };
        let mut all = Vec::new();
        let mut begin = |length: usize, token: u32, score: f32| {
            for (rest, rest_score) in covers(&text[length..]) {
                all.push(([vec![token], rest].concat(), score + rest_score));
            }
        };
        begin(first.len_utf8(), 0, -12.9 - 10.0);
        for (token, (piece, score)) in (0..15).zip(PIECES).skip(1) {
            if text.starts_with(piece) {
                begin(piece.len(), token, score);
            }
        }
        all
    }

    /// In three steps, as in the paper of `SentencePiece` and the reference code.
    fn naive_normal(text: &str) -> String {
        let text =
            text.replace(['\t'], " ").replace('Ａ', "a").replace('\u{1}', "").replace('㏂', "a b");
        let mut text = if text.starts_with(' ') { text } else { format!(" {text}") };
        while text.contains("  ") {
            text = text.replace("  ", " ");
        }
        text.replace(' ', "▁")
    }

    proptest! {
        #[test]
        fn covers_a_text_at_the_best_score(text in "[ab ▁\t\u{1}法律éè😀Ａ㏂]{0,9}") {
            let unigram = unigram();
            let normal = naive_normal(&text);
            prop_assert_eq!(&unigram.normalize(&text, |_| ()), &normal);
            let tokens = unigram.tokens(&text);
            let covers = covers(&normal);
            let best = covers.iter().map(|(_, score)| *score).fold(f32::NEG_INFINITY, f32::max);
            let ours = covers.iter().find(|(cover, _)| *cover == tokens);
            prop_assert!(ours.is_some_and(|(_, score)| (score - best).abs() < 1e-3), "{:?}", tokens);
            let located = unigram.located_tokens(&text);
            prop_assert_eq!(located.iter().map(|(token, _)| *token).collect::<Vec<_>>(), tokens);
            prop_assert!(located.is_sorted_by_key(|(_, place)| *place), "{:?}", located);
            prop_assert!(located.iter().all(|(_, place)| *place < text.len().max(1)));
        }
    }

    #[test]
    fn a_token_ends_where_its_text_does() {
        let located = unigram().located_tokens("ab\tＡ 法律 ㏂");
        let pieces: Vec<_> =
            located.iter().map(|(token, at)| (PIECES[*token as usize].0, *at)).collect();
        // Bytes: a0 b1 tab2 Ａ3-5 space6 法7-9 律10-12 space13 ㏂14-16, which means "a b".
        let expected = [
            ("▁ab", 1),
            ("▁", 2),
            ("a", 5),
            ("▁", 6),
            ("法律", 12),
            ("▁", 13),
            ("a", 16),
            ("▁", 16),
            ("b", 16),
        ];
        assert_eq!(pieces, expected);
    }

    #[test]
    fn of_equal_covers_the_longest_last_piece_wins() {
        let pieces: [(&[u8], f32); 4] =
            [(b"?", 0.0), ("▁".as_bytes(), -1.0), (b"a", -1.0), (b"aa", -2.0)];
        let unigram = Unigram::new(&pieces, 0, HashMap::new());
        assert_eq!(unigram.tokens("aa"), [1, 3]);
        assert_eq!(unigram.tokens("aaa"), [1, 2, 3], "not aa, a: ends of words are kept whole");
    }

    #[test]
    fn an_empty_vocabulary_knows_nothing() {
        let unigram = Unigram::new(&[], 7, HashMap::new());
        assert_eq!(unigram.tokens("a法"), [7, 7, 7]);
        assert_eq!(unigram.tokens(""), [7]);
    }
}
