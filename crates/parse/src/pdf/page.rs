//! What stands on a page, in reading order?

use pikerag_knowledge::{Area, Image};

use super::aligned;
use super::blocks;
use super::frame::Frame;
use super::grid::Grid;
use super::ink::{Ink, Rule, Word};
use super::leaders;
use super::lines::{self, Line};
use super::order::reading_order;
use super::picture::{self, Picture, Room};
use super::ruled;
use super::turned;

/// A piece of a page.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) page: u32,
    pub(crate) area: Area,
    pub(crate) hidden: bool,
    /// Where pages repeat themselves.
    pub(crate) edge: Edge,
    pub(crate) body: Body,
}

/// Does a piece stand at an edge of its page?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Edge {
    Upper,
    Lower,
    No,
}

/// What the piece is.
#[derive(Debug)]
pub(crate) enum Body {
    Text(Vec<Line>),
    Table(Grid),
    /// A picture; `None` where it could not be kept.
    Figure(Option<Image>),
}

/// A page as it is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sheet {
    pub(crate) number: u32,
    pub(crate) area: Area,
}

impl Sheet {
    fn piece(self, area: Area, hidden: bool, body: Body) -> Piece {
        let high = self.area.bottom.max(1.0);
        let edge = match () {
            () if area.bottom < 0.11 * high => Edge::Upper,
            () if 0.89 * high < area.top => Edge::Lower,
            () => Edge::No,
        };
        Piece { page: self.number, area, hidden, edge, body }
    }
}

/// The pieces of a page, what is hidden last.
pub(crate) fn pieces(sheet: Sheet, ink: Ink, targets: &[String], room: &mut Room) -> Vec<Piece> {
    let Ink { words, rules, fills, pictures, .. } = ink;
    let (hidden, words) = part(words, |word| is_hidden(word, sheet.area, &fills, &pictures));
    // Text that the file gives no meaning for is counted elsewhere, not shown; single characters are
    // mostly the marks of items.
    let (_, words) = part(words, |word| {
        2 < word.text.chars().count() && word.text.chars().all(|c| c == '\u{fffd}')
    });
    let mut pieces = Vec::new();
    let mut groups = by_angle(words);
    // Rules and pictures go with the direction of most words.
    let first = groups.first().map_or(Frame::new(0), |(frame, _)| *frame);
    let rules: Vec<Rule> = rules.iter().filter_map(|rule| turned_rule(*rule, first)).collect();
    let fills: Vec<Area> = fills.iter().map(|fill| first.turn_area(*fill)).collect();
    let mut figures = match groups.first() {
        Some((_, words)) => figures(&pictures, words, sheet, room),
        None => Vec::new(),
    };
    let mut grids = turned::tables(&ruled::with_shades(&rules, &fills), &mut groups);
    for (frame, these) in groups {
        let (grids, figures) = (std::mem::take(&mut grids), std::mem::take(&mut figures));
        for (area, body) in flow(these, grids, figures, frame, targets) {
            pieces.push(sheet.piece(frame.back(area), false, body));
        }
    }
    for (frame, these) in by_angle(hidden) {
        for (area, body) in flow(these, Vec::new(), Vec::new(), frame, targets) {
            pieces.push(sheet.piece(frame.back(area), true, body));
        }
    }
    pieces
}

/// Words by their direction, that of most first; at least one group, perhaps empty.
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

/// Nobody who looks at the page sees the word.
fn is_hidden(word: &Word, page: Area, fills: &[Area], pictures: &[Picture]) -> bool {
    let area = Frame::new(word.angle).back(word.area());
    let (x, y) = (f32::midpoint(area.left, area.right), f32::midpoint(area.top, area.bottom));
    let on = |area: &Area| area.left <= x && x <= area.right && area.top <= y && y <= area.bottom;
    if word.size < 1.0 || !on(&page) {
        return true;
    }
    let on_picture = || pictures.iter().any(|picture| on(&picture.area));
    // Recognised text lies unseen on the picture of the page.
    word.invisible && !on_picture() || word.white && !fills.iter().any(on) && !on_picture()
}

/// The rule in other coordinates; `None` where it is slanted there.
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

/// Pictures that touch are one figure; what lies under the text of the whole page is none.
fn figures(
    pictures: &[Picture],
    words: &[Word],
    sheet: Sheet,
    room: &mut Room,
) -> Vec<(Area, Body)> {
    let mut groups: Vec<(Area, Vec<&Picture>)> = Vec::new();
    for picture in pictures.iter().take(500) {
        let mut group = (picture.area, vec![picture]);
        let mut apart = Vec::with_capacity(groups.len());
        for (area, members) in groups {
            if touches(area, group.0) {
                group.0 = group.0.around(area);
                group.1.splice(0..0, members);
            } else {
                apart.push((area, members));
            }
        }
        groups = apart;
        groups.push(group);
    }
    let page = size(sheet.area).max(1.0);
    let mut figures = Vec::new();
    for (area, members) in groups {
        let whole = Picture { area, content: picture::Content::Lost };
        if !whole.is_figure() || 0.7 * page < size(area) && !words.is_empty() {
            continue;
        }
        let image = picture::compose(&members, area);
        let image = image.and_then(|(image, _)| picture::kept(image, room));
        figures.push((area, Body::Figure(image)));
    }
    figures
}

/// The share of the page under pictures.
pub(crate) fn covered(pictures: &[Picture], page: Area) -> f32 {
    let sum: f32 = pictures.iter().map(|picture| size(picture.area)).sum();
    sum / size(page).max(1.0)
}

fn size(area: Area) -> f32 {
    (area.right - area.left).max(0.0) * (area.bottom - area.top).max(0.0)
}

fn touches(a: Area, b: Area) -> bool {
    a.left <= b.right + 1.5
        && b.left <= a.right + 1.5
        && a.top <= b.bottom + 1.5
        && b.top <= a.bottom + 1.5
}

/// What stands in one direction, with the tables already found there, in reading order, in the coordinates of that direction.
fn flow(
    words: Vec<Word>,
    mut grids: Vec<Grid>,
    figures: Vec<(Area, Body)>,
    frame: Frame,
    targets: &[String],
) -> Vec<(Area, Body)> {
    let mut rows = lines::rows(words);
    grids.extend(leaders::tables(&mut rows));
    grids.extend(aligned::tables(&mut rows));
    let mut elements: Vec<(Area, Element)> = Vec::new();
    elements.extend(
        figures.into_iter().map(|(area, body)| (frame.turn_area(area), Element::Body(body))),
    );
    elements.extend(grids.into_iter().map(|grid| (grid.area, Element::Body(Body::Table(grid)))));
    for column in blocks::columns(lines::lines(&rows, targets)) {
        elements.push((column.area, Element::Column(column)));
    }
    let areas: Vec<Area> = elements.iter().map(|(area, _)| *area).collect();
    let mut elements: Vec<Option<(Area, Element)>> = elements.into_iter().map(Some).collect();
    let mut pieces = Vec::new();
    for at in reading_order(&areas) {
        match elements.get_mut(at).and_then(Option::take) {
            Some((area, Element::Body(body))) => pieces.push((area, body)),
            Some((_, Element::Column(column))) => {
                for lines in blocks::paragraphs(column) {
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
    Column(blocks::Column),
}

/// Those for which it holds, and the others, in order.
fn part<T>(all: Vec<T>, holds: impl Fn(&T) -> bool) -> (Vec<T>, Vec<T>) {
    all.into_iter().partition(|one| holds(one))
}
