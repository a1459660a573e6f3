//! Links spans of a question to values of tables.

use std::ops::Range;

use pikerag_language::is_stop_word;

use super::{Links, ValueMention};
use crate::cues::Cues;
use crate::pieces::Piece;
use crate::scope::{ColumnPlace, Scope};

/// The longest value that is looked up, in words and in Chinese characters.
const MOST_WORDS: usize = 8;
const MOST_HAN: usize = 12;

/// The longest part of a value that is looked up, in words.
const MOST_PARTS: usize = 5;

/// Shorter words name no value as a part of it.
const LEAST_PART: usize = 3;

/// Links the longest spans that are whole values, from left to right.
pub(super) fn link_values(cues: &Cues, scope: &Scope<'_>, links: &mut Links, claimed: &mut [bool]) {
    let mut at = 0;
    while let Some(piece) = cues.pieces.get(at) {
        let most = if piece.is_han { MOST_HAN } else { MOST_WORDS };
        let lengths = (1..=most.min(cues.pieces.len() - at)).rev();
        let found = lengths.map(|length| at..at + length).find_map(|span| {
            let pieces = cues.pieces_in(span.clone());
            let is_claimed =
                claimed.get(span.clone()).is_some_and(|claimed| claimed.iter().all(|it| *it));
            if is_claimed || is_small_word(pieces) {
                return None;
            }
            let columns = equal_values(scope, pieces);
            (!columns.is_empty()).then_some((span, columns))
        });
        let Some((span, columns)) = found else {
            at += 1;
            continue;
        };
        for piece in claimed.get_mut(span.clone()).into_iter().flatten() {
            *piece = true;
        }
        at = span.end;
        links.values.push(ValueMention { span, columns, is_exact: true });
    }
}

/// A small word is a value only if it is written as a code: `US`.
fn is_small_word(pieces: &[Piece]) -> bool {
    let [piece] = pieces else { return false };
    let is_code = piece.raw.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        && piece.raw.contains(|c: char| c.is_ascii_uppercase());
    is_stop_word(&piece.folded) && !is_code
}

fn equal_values(scope: &Scope<'_>, pieces: &[Piece]) -> Vec<(ColumnPlace, Vec<String>)> {
    let mut columns: Vec<(ColumnPlace, Vec<String>)> = Vec::new();
    for (table, view) in scope.views.iter().enumerate() {
        for (column, value) in view.equal_values(pieces) {
            let place = ColumnPlace { table, column };
            match columns.iter_mut().find(|(held, _)| *held == place) {
                Some((_, values)) if values.contains(&value) => {}
                Some((_, values)) => values.push(value),
                None => columns.push((place, vec![value])),
            }
        }
    }
    columns
}

/// Links names that are a part of a value: `Southwest Airlines` for `Southwest Airlines Co.`.
pub(super) fn link_partial_values(
    cues: &Cues,
    scope: &Scope<'_>,
    links: &mut Links,
    claimed: &[bool],
) {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(piece) = cues.pieces.get(at) {
        let is_free = claimed.get(at) == Some(&false)
            && !links.columns.iter().any(|mention| mention.span.contains(&at))
            && !links.topic.contains(&at);
        let is_name = !piece.is_han
            && piece.is_capitalized()
            && LEAST_PART <= piece.folded.chars().count()
            && !is_stop_word(&piece.folded);
        match longest_part(cues, scope, at).filter(|_| is_free && is_name) {
            Some((span, columns)) => {
                at = span.end;
                found.push(ValueMention { span, columns, is_exact: false });
            }
            None => at += 1,
        }
    }
    links.values.extend(found);
    links.values.sort_by_key(|mention| mention.span.start);
}

type PartOfValues = (Range<usize>, Vec<(ColumnPlace, Vec<String>)>);

/// The longest span from a piece on that values contain.
fn longest_part(cues: &Cues, scope: &Scope<'_>, at: usize) -> Option<PartOfValues> {
    let most = MOST_PARTS.min(cues.pieces.len().saturating_sub(at));
    let mut longest = None;
    for length in 1..=most {
        let span = at..at + length;
        let mut columns = Vec::new();
        for (table, view) in scope.views.iter().enumerate() {
            for (column, values) in view.values_containing(cues.pieces_in(span.clone())) {
                columns.push((ColumnPlace { table, column }, values));
            }
        }
        if columns.is_empty() {
            break;
        }
        columns.sort();
        longest = Some((span, columns));
    }
    longest
}
