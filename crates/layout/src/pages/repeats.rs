//! Removes repeated headers, footers, page numbers and logos, keeping each once.

use std::collections::{HashMap, HashSet};

use crate::piece::{Body, Edge, Piece};

/// The fewest pages with the same edge text for it to be a repeat.
const FEWEST_REPEATS: usize = 3;

/// Keeps the first of each header, footer and page number: a piece at the edge of many pages that
/// differs only in its numbers.
pub(crate) fn without_repeats(pieces: Vec<Piece>, n_pages: usize) -> Vec<Piece> {
    // A page that has only edge pieces is kept whole.
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

/// The common part of repeated pieces: their letters, or their signs if they have no letters; empty
/// for page numbers. `None` for a piece that is never a repeat, such as an amount.
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

/// The rise of a number at an edge: by one or two per page (sheets of two pages), and its start.
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

/// The steps of the first and the last number of a piece without letters: `3`, `- 3 -`, `3 / 12`,
/// `2-3`.
fn steps(piece: &Piece) -> Vec<Step> {
    let Some(text) = edge_text(piece).filter(|text| !text.contains(char::is_alphabetic)) else {
        return Vec::new();
    };
    let numbers: Vec<i64> = (text.split(|c| digit(c).is_none()))
        .filter(|digits| (1..=5).contains(&digits.chars().count()))
        .map(|digits| digits.chars().filter_map(digit).fold(0, |sum, digit| 10 * sum + digit))
        .collect();
    // More than two numbers are a row of figures.
    if 2 < numbers.len() {
        return Vec::new();
    }
    let ends = numbers.first().into_iter().chain(numbers.get(1));
    let page = i64::from(piece.page);
    ends.flat_map(|number| [1, 2].map(|by| (piece.edge, by, number - by * page))).collect()
}

/// The value of a decimal digit, in scripts that are common in page numbers.
fn digit(c: char) -> Option<i64> {
    let zeros = ['0', '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{ff10}'];
    let value = |zero: char| i64::from(u32::from(c)) - i64::from(u32::from(zero));
    zeros.into_iter().map(value).find(|value| (0..10).contains(value))
}

/// A hash of the bytes (FNV-1a) and their length; equal for equal pictures.
fn fingerprint(bytes: &[u8]) -> (u64, u64) {
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    (sum, bytes.len() as u64)
}
