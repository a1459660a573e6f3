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
/// Where the words of a page are less certain on average, it may lie upside down.
const SHAKY: f32 = 0.7;
/// By so much more certain they must be the other way up.
const MUCH_SURER: f32 = 0.15;

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
    let seen = seen.map(|words| match turned_words(&all, area, &words, helpers) {
        Some(better) => better,
        None => words,
    });
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

/// What a page says that was scanned upside down, in the page's coordinates: asked for only where the
/// words make little sense; `None` where they make no more sense the other way up.
fn turned_words(
    pictures: &[&Picture],
    on: Area,
    words: &[SeenWord],
    helpers: &dyn Helpers,
) -> Option<Vec<SeenWord>> {
    if words.iter().all(|word| word.text.trim().is_empty()) || SHAKY <= certainty(words) {
        return None;
    }
    let (image, scale) = picture::upside_down(pictures, on)?;
    let mut turned = helpers.recognize(&image, scale).ok()?;
    // One good word must not stand for a page of poor ones.
    let is_less = 2 * turned.len() < words.len();
    if is_less || certainty(&turned) < certainty(words) + MUCH_SURER {
        return None;
    }
    let (width, height) = (on.right - on.left, on.bottom - on.top);
    for SeenWord { area, .. } in &mut turned {
        *area = Area {
            left: width - area.right,
            top: height - area.bottom,
            right: width - area.left,
            bottom: height - area.top,
        };
    }
    Some(turned)
}

/// How sure the program is of its words, from 0 to 1.
fn certainty(words: &[SeenWord]) -> f32 {
    let words = words.iter().filter(|word| !word.text.trim().is_empty());
    let (sum, n) = words.fold((0.0, 0), |(sum, n), word| (sum + word.confidence, n + 1));
    sum / n.max(1) as f32
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

#[cfg(test)]
mod tests {
    use hayro_interpret::kurbo::Affine;

    use super::*;

    /// Reads a picture of two pixels only where the dark one comes first.
    struct Reads;

    impl Helpers for Reads {
        fn recognize(&self, image: &Image, _: f32) -> Result<Vec<SeenWord>, Unavailable> {
            let mut reader =
                png::Decoder::new(std::io::Cursor::new(&image.bytes)).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            let (text, confidence) =
                if pixels[0] == 0 { ("package", 0.9) } else { ("oseoed", 0.3) };
            let area = Area { left: 10.0, top: 20.0, right: 60.0, bottom: 30.0 };
            Ok(vec![SeenWord { text: text.to_owned(), area, line: 0, paragraph: 0, confidence }])
        }

        fn convert(&self, _: &[u8], _: &str) -> Result<Vec<u8>, Unavailable> {
            Err(Unavailable("not asked".to_owned()))
        }
    }

    fn run(data: [u8; 2]) -> (String, Area) {
        let area = Area { left: 0.0, top: 0.0, right: 100.0, bottom: 200.0 };
        let pictures = [Picture::of_pixels(1, 2, &data, Affine::scale(100.0), area)];
        let sheet = Sheet { number: 1, area };
        let scan = read(sheet, &pictures, &Reads, &mut Room::new());
        let [_, Piece { body: Body::Text(lines), area, .. }] = &scan.pieces[..] else { panic!() };
        (lines[0].text.text.clone(), *area)
    }

    #[test]
    fn a_page_that_lies_upside_down_is_turned() {
        let upright = Area { left: 10.0, top: 20.0, right: 60.0, bottom: 30.0 };
        assert_eq!(run([0, 255]), ("package".to_owned(), upright));
        let turned = Area { left: 40.0, top: 170.0, right: 90.0, bottom: 180.0 };
        assert_eq!(run([255, 0]), ("package".to_owned(), turned));
        assert_eq!(run([255, 255]), ("oseoed".to_owned(), upright));
    }
}
