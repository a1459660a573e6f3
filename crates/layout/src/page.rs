//! Finds the pieces of one page in reading order.
//!
//! It first takes out tables, by rules, leaders and alignment. The remaining words form columns,
//! and columns form paragraphs.

use pikerag_knowledge::Area;

use crate::figures::{Compose, figures};
use crate::frame::Frame;
use crate::marks::{PageMarks, Rule, Word};
use crate::order::reading_order;
use crate::piece::{Body, LinePlace, Piece, Sheet};
use crate::tables::{PageTable, aligned, leaders, ruled, turned};
use crate::text::{lines, paragraphs};

/// The pieces of a page in reading order, one direction after the other, the direction of most
/// words first; hidden pieces come last. `targets` are the targets of the page's links
/// ([`Word::link`]).
pub fn pieces(
    sheet: Sheet,
    marks: PageMarks,
    targets: &[String],
    compose: &mut Compose<'_>,
) -> Vec<Piece> {
    let PageMarks { words, rules, fills, images } = marks;
    let (hidden, words) = part(words, |word| is_hidden(word, sheet.area, &fills, &images));
    // Replacement characters are counted elsewhere, not shown. Single ones are mostly bullets, so
    // they stay.
    let (_, words) = part(words, |word| {
        2 < word.text.chars().count() && word.text.chars().all(|c| c == '\u{fffd}')
    });
    let mut pieces = Vec::new();
    let mut groups = by_angle(words);
    // Rules and pictures belong to the direction of most words.
    let first = groups.first().map_or(Frame::new(0), |(frame, _)| *frame);
    let rules: Vec<Rule> = rules.iter().filter_map(|rule| turned_rule(*rule, first)).collect();
    let fills: Vec<Area> = fills.iter().map(|fill| first.turn_area(*fill)).collect();
    let mut figures = match groups.first() {
        Some((_, words)) => figures(&images, words, sheet, compose),
        None => Vec::new(),
    };
    let mut tables = turned::tables(&ruled::with_shades(&rules, &fills), &mut groups);
    for (frame, these) in groups {
        let (tables, figures) = (std::mem::take(&mut tables), std::mem::take(&mut figures));
        for (area, body) in flow(these, tables, figures, frame, targets) {
            pieces.push(placed(sheet.piece(frame.back(area), false, body), frame));
        }
    }
    for (frame, these) in by_angle(hidden) {
        for (area, body) in flow(these, Vec::new(), Vec::new(), frame, targets) {
            pieces.push(placed(sheet.piece(frame.back(area), true, body), frame));
        }
    }
    pieces
}

/// Sets the places of a piece's lines, which come in the coordinates of their direction.
fn placed(piece: Piece, frame: Frame) -> Piece {
    let page = Some(piece.page);
    let lines = match &piece.body {
        Body::Text(lines) => {
            lines.iter().map(|line| LinePlace { page, area: frame.back(line.area) }).collect()
        }
        _ => Vec::new(),
    };
    Piece { lines, ..piece }
}

/// Groups words by direction, the direction of most words first; at least one group, possibly
/// empty.
fn by_angle(words: Vec<Word>) -> Vec<(Frame, Vec<Word>)> {
    let mut groups: Vec<(i16, usize, Vec<Word>)> = vec![(0, 0, Vec::new())];
    for word in words {
        let n = word.text.len();
        match groups.iter_mut().find(|(angle, ..)| *angle == word.angle) {
            Some((_, sum, group)) => {
                *sum += n;
                group.push(word);
            }
            None => groups.push((word.angle, n, vec![word])),
        }
    }
    groups.sort_by_key(|(angle, n, _)| (std::cmp::Reverse(*n), *angle));
    groups.into_iter().map(|(angle, _, group)| (Frame::new(angle), group)).collect()
}

/// Whether the word is invisible on the page.
fn is_hidden(word: &Word, page: Area, fills: &[Area], images: &[Area]) -> bool {
    let area = Frame::new(word.angle).back(word.area());
    let (x, y) = (f32::midpoint(area.left, area.right), f32::midpoint(area.top, area.bottom));
    let on = |area: &Area| area.left <= x && x <= area.right && area.top <= y && y <= area.bottom;
    if word.size < 1.0 || !on(&page) {
        return true;
    }
    let on_image = || images.iter().any(on);
    // Recognised text lies invisible on the picture of its page.
    word.invisible && !on_image() || word.white && !fills.iter().any(on) && !on_image()
}

/// The rule in other coordinates; `None` if it is slanted there.
fn turned_rule(rule: Rule, frame: Frame) -> Option<Rule> {
    let (a, b) = if rule.flat {
        (frame.turn(rule.from, rule.at), frame.turn(rule.to, rule.at))
    } else {
        (frame.turn(rule.at, rule.from), frame.turn(rule.at, rule.to))
    };
    let (wide, high) = ((a.0 - b.0).abs(), (a.1 - b.1).abs());
    let flat = high < wide;
    let (from, to, at) = if flat { (a.0, b.0, a.1) } else { (a.1, b.1, a.0) };
    (wide.min(high) < 1.0).then(|| Rule { flat, at, from: from.min(to), to: from.max(to) })
}

/// The pieces of one direction, with the tables already found there, in reading order and in the
/// coordinates of that direction.
fn flow(
    words: Vec<Word>,
    mut tables: Vec<PageTable>,
    figures: Vec<(Area, Body)>,
    frame: Frame,
    targets: &[String],
) -> Vec<(Area, Body)> {
    let mut rows = lines::rows(words);
    tables.extend(leaders::tables(&mut rows));
    tables.extend(aligned::tables(&mut rows));
    let mut elements: Vec<(Area, Element)> = Vec::new();
    elements.extend(
        figures.into_iter().map(|(area, body)| (frame.turn_area(area), Element::Body(body))),
    );
    elements
        .extend(tables.into_iter().map(|table| (table.area, Element::Body(Body::Table(table)))));
    for column in paragraphs::columns(lines::lines(&rows, targets)) {
        elements.push((column.area, Element::Column(column)));
    }
    let areas: Vec<Area> = elements.iter().map(|(area, _)| *area).collect();
    let mut elements: Vec<Option<(Area, Element)>> = elements.into_iter().map(Some).collect();
    let mut pieces = Vec::new();
    for at in reading_order(&areas) {
        match elements.get_mut(at).and_then(Option::take) {
            Some((area, Element::Body(body))) => pieces.push((area, body)),
            Some((_, Element::Column(column))) => {
                for lines in paragraphs::paragraphs(column) {
                    let areas = lines.iter().map(|line| line.area);
                    if let Some(area) = areas.reduce(Area::around) {
                        pieces.push((area, Body::Text(lines)));
                    }
                }
            }
            None => {}
        }
    }
    pieces
}

enum Element {
    Body(Body),
    Column(paragraphs::Column),
}

/// Splits items by a condition, in order: first those that meet it.
fn part<T>(all: Vec<T>, holds: impl Fn(&T) -> bool) -> (Vec<T>, Vec<T>) {
    all.into_iter().partition(|one| holds(one))
}
