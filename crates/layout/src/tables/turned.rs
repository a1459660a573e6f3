//! Adds words in other directions to the table around them.
//!
//! A header that is too long for its column is often turned upright.

use pikerag_knowledge::Area;

use super::page_table::PageTable;
use super::ruled;
use crate::frame::Frame;
use crate::marks::{Rule, Word};
use crate::text::lines;

/// Takes the words of ruled tables out of `groups`, which are words by direction. The tables, like
/// the rules, have the direction of the first group.
pub(crate) fn tables(rules: &[Rule], groups: &mut [(Frame, Vec<Word>)]) -> Vec<PageTable> {
    let Some(((frame, words), others)) = groups.split_first_mut() else { return Vec::new() };
    let Some(level) = words.first().map(|word| word.angle) else { return Vec::new() };
    if rules.is_empty() || others.iter().all(|(_, words)| words.is_empty()) {
        return ruled::tables(rules, words);
    }
    // Each turned line becomes one word at its place in the table as readers see it.
    let mut lines: Vec<(usize, Vec<Word>, Word)> = Vec::new();
    for (group, (other, words)) in others.iter_mut().enumerate() {
        // A slanted word is a stamp.
        let is_upright = |word: &Word| (word.angle - level).rem_euclid(180) == 90;
        if !words.first().is_some_and(is_upright) {
            continue;
        }
        for line in lines_of(std::mem::take(words)) {
            match seen(&line, *other, *frame) {
                Some(word) => lines.push((group, line, word)),
                None => words.extend(line),
            }
        }
    }
    words.extend(lines.iter().map(|(.., word)| word.clone()));
    let tables = ruled::tables(rules, words);
    let mut left = Vec::new();
    words.retain(|word| {
        let is_level = word.angle == level;
        if !is_level {
            left.push((word.left, word.base, word.text.clone()));
        }
        is_level
    });
    // Lines that no table took return to their place in the order.
    let mut left = left.into_iter().peekable();
    for (group, line, word) in lines {
        let is_left = left.peek().is_some_and(|(x, y, text)| {
            x.total_cmp(&word.left).is_eq() && y.total_cmp(&word.base).is_eq() && *text == word.text
        });
        if is_left {
            left.next();
            if let Some((_, words)) = others.get_mut(group) {
                words.extend(line);
            }
        }
    }
    tables
}

/// Groups words into lines.
fn lines_of(words: Vec<Word>) -> Vec<Vec<Word>> {
    let mut parts = Vec::new();
    for row in lines::rows(words) {
        let gaps = lines::gaps(&row);
        let mut words = row.words.into_iter();
        let mut from = 0;
        for end in gaps.iter().map(|gap| gap.word) {
            parts.push(words.by_ref().take(end - from).collect());
            from = end;
        }
        parts.push(words.collect());
    }
    parts
}

/// The line as one word with the line's box, in the coordinates of `frame`.
fn seen(line: &[Word], own: Frame, frame: Frame) -> Option<Word> {
    let area = line.iter().map(Word::area).reduce(Area::around)?;
    let Area { left, top, right, bottom } = frame.turn_area(own.back(area));
    let size = bottom - top;
    // The space separates it from another line close beside it.
    let text = format!(" {}", lines::line(line, &[])?.text.text);
    Some(Word { text, left, right, base: bottom - 0.22 * size, size, ..line.first()?.clone() })
}
