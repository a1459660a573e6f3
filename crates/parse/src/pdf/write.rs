//! How do the pieces of all pages become one document? What repeats at the edges comes once, words
//! cut at line ends are joined, and text larger or bolder than most is a heading.

use std::collections::{HashMap, HashSet};

use pikerag_knowledge::BlockKind;

use super::lines::Line;
use super::marks;
use super::page::{Body, Edge, Piece};
use super::style::Styles;
use crate::layout::is_wide;
use crate::writing::{Linked, Place, Writing};

/// Pages from which on what stands at their edges is a repeat.
const FEWEST_REPEATS: usize = 3;

/// Writes the document; the text of its highest heading on the first page that has text comes back.
pub(crate) fn write(
    pieces: Vec<Piece>,
    n_pages: usize,
    max_cells: usize,
) -> (Writing, Option<String>) {
    let pieces = joined(without_repeats(pieces, n_pages));
    let styles = Styles::of(&pieces);
    let hyphened = hyphened(&pieces);
    let mut writing = Writing::new(max_cells);
    let mut title: Option<(u8, u32, String)> = None;
    for piece in pieces {
        writing.place =
            Place { page: Some(piece.page), area: Some(piece.area), hidden: piece.hidden };
        match piece.body {
            Body::Figure(image) => writing.figure("", image),
            Body::Table(grid) => writing.table(grid.header, grid.rows),
            Body::Text(lines) if is_code(&lines) => {
                writing.plain(BlockKind::Code, &code(&lines));
            }
            Body::Text(lines) => {
                let mut text = text_of(&lines, &hyphened);
                let heading = styles.heading(&lines, &text.text);
                let kind = match heading.filter(|_| piece.edge != Edge::Lower) {
                    _ if piece.hidden => BlockKind::Paragraph,
                    _ if marks::is_caption(&text.text) => BlockKind::Caption,
                    Some(level) => BlockKind::Heading { level },
                    None if marks::is_item(&text.text) => BlockKind::Item,
                    None => BlockKind::Paragraph,
                };
                if let BlockKind::Heading { level } = kind {
                    let page = title.as_ref().map_or(piece.page, |(_, page, _)| *page);
                    let higher = title.as_ref().is_none_or(|(best, ..)| level < *best);
                    if higher && piece.page == page {
                        title = Some((level, page, text.text.clone()));
                    }
                }
                if kind == BlockKind::Item {
                    let cut = text.text.len() - marks::without_bullet(&text.text).len();
                    text = behind(text, cut);
                }
                writing.piece(kind, &text);
            }
        }
    }
    (writing, title.map(|(.., text)| text))
}

/// Headers, footers and page numbers: what stands at the edge of many pages, and differs in its
/// numbers only, is kept where it comes first.
fn without_repeats(pieces: Vec<Piece>, n_pages: usize) -> Vec<Piece> {
    // A page that has nothing but its edges is kept whole.
    let full: HashSet<u32> = (pieces.iter())
        .filter(|piece| piece.edge == Edge::No && !matches!(piece.body, Body::Figure(_)))
        .map(|piece| piece.page)
        .collect();
    let running = running(&pieces);
    let repeat_key =
        |piece: &Piece| repeat_key(piece, &running).filter(|_| full.contains(&piece.page));
    let mut seen: HashMap<(Edge, String), HashSet<u32>> = HashMap::new();
    for piece in &pieces {
        if let Some(key) = repeat_key(piece) {
            seen.entry(key).or_default().insert(piece.page);
        }
    }
    let often = |pages: &HashSet<u32>| {
        FEWEST_REPEATS <= pages.len() && n_pages <= pages.len().saturating_mul(8)
    };
    let mut came: HashMap<(Edge, String), u32> = HashMap::new();
    let mut pictures: HashSet<(u64, u64)> = HashSet::new();
    let is_new = |piece: &Piece| match repeat_key(piece) {
        Some(key) if seen.get(&key).is_some_and(often) => {
            let number = key.1.is_empty();
            *came.entry(key).or_insert(piece.page) == piece.page && !number
        }
        _ => match &piece.body {
            // A logo.
            Body::Figure(Some(image)) => pictures.insert(fingerprint(&image.bytes)),
            _ => true,
        },
    };
    pieces.into_iter().filter(is_new).collect()
}

/// What all that repeats has in common: its letters, or its signs where it has none; nothing for
/// the number of a page. `None` for what is never a repeat, as an amount.
fn repeat_key(piece: &Piece, running: &HashSet<Step>) -> Option<(Edge, String)> {
    let text = edge_text(piece)?;
    let letters = text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase);
    let key: String = letters.take(80).collect();
    if !key.is_empty() {
        return Some((piece.edge, key));
    }
    if text.chars().any(|c| digit(c).is_some()) {
        let is_running = steps(piece).iter().any(|step| running.contains(step));
        return is_running.then(|| (piece.edge, String::new()));
    }
    Some((piece.edge, text))
}

fn edge_text(piece: &Piece) -> Option<String> {
    let Body::Text(lines) = &piece.body else { return None };
    let shown = piece.edge != Edge::No && !piece.hidden && lines.len() <= 3;
    shown.then(|| lines.iter().map(|line| line.text.text.as_str()).collect::<Vec<_>>().join(" "))
}

/// How a number at an edge goes up with the pages: by one or two (sheets of two pages), from where.
type Step = (Edge, i64, i64);

/// The steps that the numbers of several pages have in common.
fn running(pieces: &[Piece]) -> HashSet<Step> {
    let mut pages: HashMap<Step, HashSet<u32>> = HashMap::new();
    for piece in pieces {
        for step in steps(piece) {
            pages.entry(step).or_default().insert(piece.page);
        }
    }
    let often =
        |(step, pages): (Step, HashSet<u32>)| (FEWEST_REPEATS <= pages.len()).then_some(step);
    pages.into_iter().filter_map(often).collect()
}

/// Of the first and the last number of a piece without letters: `3`, `- 3 -`, `3 / 12`, `2-3`.
fn steps(piece: &Piece) -> Vec<Step> {
    let Some(text) = edge_text(piece).filter(|text| !text.contains(char::is_alphabetic)) else {
        return Vec::new();
    };
    let numbers: Vec<i64> = (text.split(|c| digit(c).is_none()))
        .filter(|digits| (1..=5).contains(&digits.chars().count()))
        .map(|digits| digits.chars().filter_map(digit).fold(0, |sum, digit| 10 * sum + digit))
        .collect();
    // More of them are a row of figures.
    if 2 < numbers.len() {
        return Vec::new();
    }
    let ends = numbers.first().into_iter().chain(numbers.get(1));
    let page = i64::from(piece.page);
    ends.flat_map(|number| [1, 2].map(|by| (piece.edge, by, number - by * page))).collect()
}

/// The value of a decimal digit, in the scripts whose page numbers are common.
fn digit(c: char) -> Option<i64> {
    let zeros = ['0', '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{ff10}'];
    let value = |zero: char| i64::from(u32::from(c)) - i64::from(u32::from(zero));
    zeros.into_iter().map(value).find(|value| (0..10).contains(value))
}

/// Two sums over the bytes (FNV-1a and its length): equal for equal pictures.
fn fingerprint(bytes: &[u8]) -> (u64, u64) {
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    (sum, bytes.len() as u64)
}

/// Paragraphs that go on in the next column or on the next page, as one.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
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
            // Its box is that of the first part.
            Some(Piece { body: Body::Text(before), .. }) => {
                if let Body::Text(lines) = piece.body {
                    before.extend(lines);
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
    let label = before.len() == 1 && marks::is_caption(end) && end.chars().count() < 12;
    let under =
        (first.base - last.base) < 2.0 * last.size.max(first.size) && last.base < first.base;
    alike && begins && open && long && !marks::is_item(&first.text.text)
        || label && under && (last.size - first.size).abs() < 2.0
}

/// Words with a hyphen inside a line, in lower case: they keep it at a line's end, too.
fn hyphened(pieces: &[Piece]) -> HashSet<String> {
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

/// Lines as one text.
fn text_of(lines: &[Line], hyphened: &HashSet<String>) -> Linked {
    let mut text = Linked::default();
    for line in lines {
        let next = &line.text.text;
        if let Some(cut) = hyphen(&text.text, next, hyphened) {
            text.text.truncate(cut);
            text.links.iter_mut().for_each(|(_, end, _)| *end = (*end).min(cut));
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
        let moved = line.text.links.iter();
        text.links
            .extend(moved.map(|(from, to, target)| (start + from, start + to, target.clone())));
    }
    text.links.retain(|(from, to, _)| from < to);
    text
}

/// Where the hyphen stands that only the line's end put there.
fn hyphen(text: &str, next: &str, hyphened: &HashSet<String>) -> Option<usize> {
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
fn behind(text: Linked, cut: usize) -> Linked {
    let rest = text.text.get(cut..).unwrap_or_default().to_owned();
    let links = (text.links.into_iter())
        .filter(|(_, to, _)| cut < *to)
        .map(|(from, to, target)| (from.saturating_sub(cut), to - cut, target))
        .collect();
    Linked { text: rest, links }
}

fn is_code(lines: &[Line]) -> bool {
    2 <= lines.len() && lines.iter().filter(|line| line.mono).count() * 10 >= lines.len() * 9
}

/// Program text with its indentation.
fn code(lines: &[Line]) -> String {
    let left = lines.iter().map(|line| line.area.left).fold(f32::MAX, f32::min);
    let mut text = String::new();
    for line in lines {
        if !text.is_empty() {
            text.push('\n');
        }
        let width =
            (line.area.right - line.area.left) / line.text.text.chars().count().max(1) as f32;
        let indent = ((line.area.left - left) / width.max(1.0)).round().clamp(0.0, 200.0) as usize;
        text.extend(std::iter::repeat_n(' ', indent));
        text.push_str(&line.text.text);
    }
    text
}
