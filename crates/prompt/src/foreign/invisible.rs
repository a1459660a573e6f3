//! Removes invisible characters from text: zero width, direction marks, tags, controls. A model
//! would read them.

use pikerag_language::is_invisible;

use super::Placed;

/// The text without invisible characters, except those that its script or an emoji needs at their
/// place.
pub(super) fn without_invisible(text: &str) -> Vec<Placed> {
    let mut seen: Vec<Placed> = Vec::with_capacity(text.len());
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let before = seen.last().map(|placed| placed.c);
        let after = chars.peek().map(|(_, next)| *next);
        if !is_invisible(c) || is_needed(c, before, after) {
            seen.push(Placed { c, of: at..at + c.len_utf8() });
        }
    }
    seen
}

/// Persian, Hindi and similar scripts use joiners; emoji have joiners and colours; Chinese and
/// Mongolian have variants of a character. One such mark is allowed after the character it belongs
/// to, never a row of them, because rows can hide bytes.
fn is_needed(c: char, before: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    let after = after.unwrap_or('\n');
    let coloured = matches!(before, '\u{fe0e}' | '\u{fe0f}') || is_skin(before);
    match c {
        '\u{200c}' => is_joining(before) && is_joining(after),
        '\u{200d}' => {
            (is_joining(before) && is_joining(after))
                || ((is_pictured(before) || coloured) && is_pictured(after))
        }
        '\u{fe0e}' | '\u{fe0f}' => is_pictured(before) || after == '\u{20e3}',
        '\u{180b}'..='\u{180e}' => ('\u{1820}'..='\u{18aa}').contains(&before),
        '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' => is_han(before),
        _ => false,
    }
}

fn is_joining(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{109f}' | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{180a}' | '\u{1820}'..='\u{18aa}')
        && !is_invisible(c)
}

fn is_pictured(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{2049}' | '\u{2100}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

fn is_skin(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
