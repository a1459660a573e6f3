//! What does a scanned page say? The words that a program outside recognises on its picture.

use pikerag_knowledge::{Area, Image};

use super::ink::Ink;
use super::lines::Line;
use super::page::{Body, Edge, Piece, Sheet, covered};
use super::picture::{self, Picture, Room};
use crate::layout::is_wide;
use crate::writing::Linked;
use crate::{Helpers, SeenWord, Unavailable};

/// Fewer characters than this on a page that is a picture: it was scanned, and perhaps stamped.
const FEW_CHARS: usize = 40;

/// Is the page a picture of text?
pub(crate) fn is_scan(ink: &Ink, page: Area) -> bool {
    let n_chars: usize = ink.words.iter().map(|word| word.text.len()).sum();
    n_chars < FEW_CHARS && 0.5 < covered(&ink.pictures, page)
}

/// What was read of a scanned page.
pub(crate) struct Scan {
    /// The picture, and under it the paragraphs recognised.
    pub(crate) pieces: Vec<Piece>,
    /// Why nothing was recognised.
    pub(crate) failure: Option<Unavailable>,
}

/// Reads the pictures of a page as one.
pub(crate) fn read(
    sheet: Sheet,
    pictures: &[Picture],
    helpers: &dyn Helpers,
    room: &mut Room,
) -> Scan {
    let area = pictures.iter().map(|picture| picture.area).reduce(Area::around);
    let all: Vec<&Picture> = pictures.iter().collect();
    let Some((area, (image, scale))) =
        area.and_then(|area| Some((area, picture::compose(&all, area)?)))
    else {
        let failure = Unavailable("its picture is too large or cannot be decoded".to_owned());
        return Scan { pieces: Vec::new(), failure: Some(failure) };
    };
    let seen = helpers.recognize(&image, scale);
    let mut pieces = vec![figure(sheet, area, image, room)];
    let failure = match seen {
        Ok(words) => {
            pieces.extend(paragraphs(sheet, area, words));
            None
        }
        Err(failure) => Some(failure),
    };
    Scan { pieces, failure }
}

fn figure(sheet: Sheet, area: Area, image: Image, room: &mut Room) -> Piece {
    let body = Body::Figure(picture::kept(image, room));
    Piece { page: sheet.number, area, hidden: false, edge: Edge::No, body }
}

fn paragraphs(sheet: Sheet, on: Area, words: Vec<SeenWord>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut last: Option<(u32, u32)> = None;
    for word in words {
        if word.text.trim().is_empty() {
            continue;
        }
        let area = Area {
            left: on.left + word.area.left,
            top: on.top + word.area.top,
            right: on.left + word.area.right,
            bottom: on.top + word.area.bottom,
        };
        let same_paragraph = last.is_some_and(|(paragraph, _)| paragraph == word.paragraph);
        let same_line = last == Some((word.paragraph, word.line));
        last = Some((word.paragraph, word.line));
        match pieces.last_mut().filter(|_| same_paragraph) {
            Some(Piece { area: around, body: Body::Text(lines), .. }) => {
                *around = around.around(area);
                match lines.last_mut().filter(|_| same_line) {
                    Some(line) => {
                        let wide = |c: Option<char>| c.is_some_and(is_wide);
                        let text = &mut line.text.text;
                        if !(wide(text.chars().last()) && wide(word.text.chars().next())) {
                            text.push(' ');
                        }
                        text.push_str(word.text.trim());
                        line.area = line.area.around(area);
                    }
                    None => lines.push(line(&word.text, area)),
                }
            }
            _ => {
                let body = Body::Text(vec![line(&word.text, area)]);
                pieces.push(Piece {
                    page: sheet.number,
                    area,
                    hidden: false,
                    edge: Edge::No,
                    body,
                });
            }
        }
    }
    pieces
}

/// A line whose font is not known.
fn line(text: &str, area: Area) -> Line {
    Line {
        text: Linked::from(text.trim()),
        area,
        base: area.bottom,
        size: 0.0,
        weight: 0.0,
        mono: false,
        first: 0.0,
    }
}
