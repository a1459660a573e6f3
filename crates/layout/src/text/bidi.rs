//! Orders the characters of a line for reading: pages place them in visual order, so right-to-left
//! text is reversed.

use unicode_normalization::UnicodeNormalization;

use super::linked::LinkedText;
use super::radicals;
use super::script::is_right_to_left;
use crate::marks::Word;

/// The text of words from left to right; `is_space` says whether a space separates two words.
pub(crate) fn logical(
    words: &[Word],
    size: f32,
    targets: &[String],
    is_space: impl Fn(&Word, &Word, f32) -> bool,
) -> LinkedText {
    // Pieces of touching words, the space before each, and each link's target.
    let mut pieces: Vec<(String, bool, Option<usize>)> = Vec::with_capacity(words.len());
    let mut last: Option<&Word> = None;
    for word in words {
        let space = last.is_some_and(|last| is_space(last, word, size));
        pieces.push((plain(&word.text), space, word.link));
        last = Some(word);
    }
    let count = |is: fn(char) -> bool| {
        words.iter().flat_map(|word| word.text.chars()).filter(|c| is(*c)).count()
    };
    let n_right = count(is_right_to_left);
    if 0 < n_right {
        let left_to_right = |c: char| c.is_alphabetic() && !is_right_to_left(c);
        pieces = turned(pieces, count(left_to_right) < n_right);
    }
    let mut text = LinkedText::default();
    let mut pieces = pieces.into_iter().peekable();
    while let Some((mut piece, space, link)) = pieces.next() {
        if space && !text.text.is_empty() {
            text.push(" ");
        }
        while let Some((more, space, _)) =
            pieces.next_if(|(.., next)| link.is_some() && *next == link)
        {
            if space {
                piece.push(' ');
            }
            piece.push_str(&more);
        }
        match link.and_then(|link| targets.get(link)) {
            Some(target) => text.push_link(&piece, target),
            None => text.push(&piece),
        }
    }
    text
}

type Pieces = Vec<(String, bool, Option<usize>)>;

/// Converts visual order to logical order; `whole` says that the whole line runs from right to
/// left.
fn turned(pieces: Pieces, whole: bool) -> Pieces {
    // Runs of one direction: letters decide; other characters follow the run before them.
    let mut runs: Vec<(bool, Pieces)> = Vec::new();
    for (piece, space, link) in pieces {
        let right = if piece.chars().any(is_right_to_left) {
            true
        } else if piece.chars().any(char::is_alphanumeric) {
            false
        } else {
            runs.last().map_or(whole, |(right, _)| *right && whole)
        };
        match runs.last_mut() {
            Some((last, run)) if *last == right => run.push((piece, space, link)),
            _ => runs.push((right, vec![(piece, space, link)])),
        }
    }
    if whole {
        runs.reverse();
    }
    let mut turned: Pieces = Vec::new();
    for (right, run) in runs {
        if right {
            // The space before a piece comes after it when it is reversed.
            let mut space = true;
            for (piece, before, link) in run.into_iter().rev() {
                turned.push((backwards(&piece), space, link));
                space = before;
            }
        } else {
            for (index, (piece, space, link)) in run.into_iter().enumerate() {
                turned.push((piece, space || index == 0, link));
            }
        }
    }
    turned
}

/// Reverses characters, except that numbers keep their order.
fn backwards(piece: &str) -> String {
    let mut turned = String::with_capacity(piece.len());
    let mut digits = String::new();
    for c in piece.chars().rev() {
        if c.is_ascii_alphanumeric() || matches!(c, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}') {
            digits.insert(0, c);
            continue;
        }
        turned.push_str(&std::mem::take(&mut digits));
        turned.push(match c {
            '(' => ')',
            ')' => '(',
            '[' => ']',
            ']' => '[',
            other => other,
        });
    }
    turned + &digits
}

/// Replaces ligatures, shaped Arabic letters and Chinese radicals by their plain letters and
/// characters.
fn plain(text: &str) -> String {
    let shaped = |c: char| matches!(c, '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
    let odd = |c: char| {
        c.is_control()
            || c == '\u{ad}' && 1 < text.chars().count()
            || shaped(c)
            || radicals::ideograph(c).is_some()
    };
    if !text.chars().any(odd) {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_control()) {
        if shaped(c) && is_right_to_left(c) {
            // The word is reversed later, so the letters of a ligature are reversed here too.
            plain.extend(std::iter::once(c).nfkc().collect::<Vec<_>>().into_iter().rev());
        } else if shaped(c) {
            plain.extend(std::iter::once(c).nfkc());
        } else {
            plain.push(radicals::ideograph(c).unwrap_or(c));
        }
    }
    plain
}
