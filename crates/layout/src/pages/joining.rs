//! Joins paragraphs that continue in the next column or on the next page, and words hyphenated at
//! line ends.

use std::collections::HashSet;
use std::ops::Range;

use crate::piece::{Body, Edge, Piece};
use crate::text::script::is_wide;
use crate::text::{Line, LinkedText, markers};

/// Joins paragraphs that continue in the next column or on the next page.
pub(crate) fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let goes_on = match (joined.last(), &piece.body) {
            (
                Some(Piece {
                    body: Body::Text(before), hidden: false, edge: Edge::No, page, ..
                }),
                Body::Text(lines),
            ) if !piece.hidden && piece.edge == Edge::No => {
                piece.page <= page + 1 && goes_on(before, lines)
            }
            _ => false,
        };
        match joined.last_mut().filter(|_| goes_on) {
            // The box is that of the first part; the lines keep their own places.
            Some(Piece { body: Body::Text(before), lines: places, .. }) => {
                if let Body::Text(lines) = piece.body {
                    before.extend(lines);
                    places.extend(piece.lines);
                }
            }
            _ => joined.push(piece),
        }
    }
    joined
}

fn goes_on(before: &[Line], lines: &[Line]) -> bool {
    let (Some(last), Some(first)) = (before.last(), lines.first()) else { return false };
    let alike = (last.size - first.size).abs() < 0.05 * last.size.max(first.size)
        && !(last.mono && first.mono)
        && (first.weight - last.weight).abs() < 0.2 * last.weight.max(first.weight).max(1.0);
    let end = last.text.text.trim_end();
    let begins = first.text.text.chars().next().is_some_and(char::is_lowercase);
    let open = end.ends_with(|c: char| c.is_alphanumeric() || "-,;(–—".contains(c));
    // A short line ended on purpose, as in a list of names.
    let long = 24 < end.chars().count();
    let label = before.len() == 1 && markers::is_caption(end) && end.chars().count() < 12;
    let under =
        (first.base - last.base) < 2.0 * last.size.max(first.size) && last.base < first.base;
    alike && begins && open && long && !markers::is_item(&first.text.text)
        || label && under && (last.size - first.size).abs() < 2.0
}

/// Words with a hyphen inside a line, in lower case; they also keep it at a line's end.
pub(crate) fn hyphened(pieces: &[Piece]) -> HashSet<String> {
    let mut words = HashSet::new();
    for piece in pieces {
        let Body::Text(lines) = &piece.body else { continue };
        for word in lines.iter().flat_map(|line| line.text.text.split_whitespace()) {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            if word.contains('-') {
                words.insert(word.to_lowercase());
            }
        }
    }
    words
}

/// A text with the byte range of each of its lines.
pub(crate) struct TextOfLines {
    pub(crate) text: LinkedText,
    pub(crate) ranges: Vec<Range<usize>>,
}

/// The lines of a paragraph as one text, with their links.
pub(crate) fn text_of(lines: &[Line], hyphened: &HashSet<String>) -> TextOfLines {
    let mut text = LinkedText::default();
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(lines.len());
    for line in lines {
        let next = &line.text.text;
        if let Some(cut) = line_end_hyphen(&text.text, next, hyphened) {
            text.text.truncate(cut);
            text.links.iter_mut().for_each(|(_, end, _)| *end = (*end).min(cut));
            for range in &mut ranges {
                range.end = range.end.min(cut);
            }
        } else {
            let wide = |c: Option<char>| c.is_some_and(is_wide);
            let close = wide(text.text.chars().last()) && wide(next.chars().next())
                || text.text.ends_with(['-', '‐', '/'])
                    && next.starts_with(char::is_alphanumeric)
                    && !text.text.ends_with(" -");
            if !text.text.is_empty() && !close {
                text.text.push(' ');
            }
        }
        let start = text.text.len();
        text.text.push_str(next);
        ranges.push(start..text.text.len());
        let moved = line.text.links.iter();
        text.links
            .extend(moved.map(|(from, to, target)| (start + from, start + to, target.clone())));
    }
    text.links.retain(|(from, to, _)| from < to);
    TextOfLines { text, ranges }
}

/// The index of a hyphen that exists only because the line ends there.
fn line_end_hyphen(text: &str, next: &str, hyphened: &HashSet<String>) -> Option<usize> {
    let stem = text.strip_suffix(['-', '\u{2010}', '\u{ad}'])?;
    let before = stem.chars().last()?;
    let after = next.chars().next()?;
    if !before.is_alphabetic() || !after.is_lowercase() {
        return None;
    }
    let last = stem.rsplit(char::is_whitespace).next().unwrap_or(stem);
    let first = next.split(char::is_whitespace).next().unwrap_or(next);
    let last = last.trim_start_matches(|c: char| !c.is_alphanumeric());
    let whole = format!("{last}-{}", first.trim_end_matches(|c: char| !c.is_alphanumeric()));
    (!hyphened.contains(&whole.to_lowercase())).then_some(stem.len())
}

/// The text from `cut` on.
pub(crate) fn behind(TextOfLines { text, ranges }: TextOfLines, cut: usize) -> TextOfLines {
    let rest = text.text.get(cut..).unwrap_or_default().to_owned();
    let links = (text.links.into_iter())
        .filter(|(_, to, _)| cut < *to)
        .map(|(from, to, target)| (from.saturating_sub(cut), to - cut, target))
        .collect();
    let shifted = ranges.iter().map(|it| it.start.saturating_sub(cut)..it.end.saturating_sub(cut));
    TextOfLines { text: LinkedText { text: rest, links }, ranges: shifted.collect() }
}

pub(crate) fn is_code(lines: &[Line]) -> bool {
    2 <= lines.len() && lines.iter().filter(|line| line.mono).count() * 10 >= lines.len() * 9
}

/// Program text, one line each, with indentation computed from the left ends of the lines.
pub(crate) fn code(lines: &[Line]) -> TextOfLines {
    let left = lines.iter().map(|line| line.area.left).fold(f32::MAX, f32::min);
    let mut text = String::new();
    let mut ranges = Vec::with_capacity(lines.len());
    for line in lines {
        if !text.is_empty() {
            text.push('\n');
        }
        let width =
            (line.area.right - line.area.left) / line.text.text.chars().count().max(1) as f32;
        let indent = ((line.area.left - left) / width.max(1.0)).round().clamp(0.0, 200.0) as usize;
        text.extend(std::iter::repeat_n(' ', indent));
        let start = text.len();
        text.push_str(&line.text.text);
        ranges.push(start..text.len());
    }
    TextOfLines { text: LinkedText::from(text.as_str()), ranges }
}
