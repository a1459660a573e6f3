//! Reads scanned pages through the words that an external program recognises on their picture.

use pikerag_knowledge::{Area, Image, ProblemFact};
use pikerag_layout::figures::covered;
use pikerag_layout::ocr::{Recognized, lay_out};
use pikerag_layout::piece::{Body, Edge, LinePlace, Piece, Sheet};

use super::super::recognize::recognize;
use super::collector::PageContent;
use super::picture::{self, Picture, PictureBudget};
use crate::{ExternalTools, RecognizedWord, Unavailable};

/// A picture page with fewer characters was scanned, and perhaps stamped.
const FEW_CHARS: usize = 40;
/// If the average confidence of a page's words is lower, it may lie upside down.
const LOW_CONFIDENCE: f32 = 0.7;
/// The words must be this much more certain the other way up.
const CONFIDENCE_GAIN: f32 = 0.15;

/// Whether the page is a picture of text.
pub(crate) fn is_scan(content: &PageContent, page: Area) -> bool {
    let n_chars: usize = content.words.iter().map(|word| word.text.len()).sum();
    n_chars < FEW_CHARS && 0.5 < covered(content.pictures.iter().map(|picture| picture.area), page)
}

/// The content of a scanned page.
pub(crate) struct Scan {
    /// The picture, then the recognised text.
    pub(crate) pieces: Vec<Piece>,
    /// The problem of its words.
    pub(crate) problem: Option<ProblemFact>,
    /// The reason why nothing was recognised.
    pub(crate) failure: Option<Unavailable>,
}

/// Reads the pictures of a page as one picture.
pub(crate) fn read(
    sheet: Sheet,
    pictures: &[Picture],
    tools: &dyn ExternalTools,
    budget: &mut PictureBudget,
) -> Scan {
    let area = pictures.iter().map(|picture| picture.area).reduce(Area::around);
    let all: Vec<&Picture> = pictures.iter().collect();
    let Some((area, (image, scale))) =
        area.and_then(|area| Some((area, picture::compose(&all, area)?)))
    else {
        let failure = Unavailable("its picture is too large or cannot be decoded".to_owned());
        return Scan { pieces: Vec::new(), problem: None, failure: Some(failure) };
    };
    let recognized = recognize(&image, scale, tools);
    let mut pieces = vec![figure(sheet, area, image, budget)];
    let recognized = match recognized {
        Ok(recognized) => recognized,
        Err(failure) => return Scan { pieces, problem: None, failure: Some(failure) },
    };
    let turned = turned(&all, area, &recognized.words, tools);
    let layout = lay_out(turned.as_ref().unwrap_or(&recognized));
    let problem = layout.problem();
    for (place, body) in layout.pieces {
        // Lines of a scan have no font, so only their places are converted.
        let on_page = |place: Area| {
            let place = if turned.is_some() { upside_down(place, area) } else { place };
            Area {
                left: area.left + place.left,
                top: area.top + place.top,
                right: area.left + place.right,
                bottom: area.top + place.bottom,
            }
        };
        let page = Some(sheet.number);
        let lines = match &body {
            Body::Text(lines) => {
                lines.iter().map(|line| LinePlace { page, area: on_page(line.area) }).collect()
            }
            _ => Vec::new(),
        };
        let area = on_page(place);
        pieces.push(Piece { page: sheet.number, area, hidden: false, edge: Edge::No, body, lines });
    }
    Scan { pieces, problem, failure: None }
}

/// Reads a page upside down, if its words are uncertain; `None` if they are no more certain that
/// way.
fn turned(
    pictures: &[&Picture],
    on: Area,
    words: &[RecognizedWord],
    tools: &dyn ExternalTools,
) -> Option<Recognized> {
    if words.iter().all(|word| word.text.trim().is_empty()) || LOW_CONFIDENCE <= certainty(words) {
        return None;
    }
    let (image, scale) = picture::upside_down(pictures, on)?;
    let turned = recognize(&image, scale, tools).ok()?;
    // One good word must not replace a page of poor ones.
    let is_less = 2 * turned.words.len() < words.len();
    (!is_less && certainty(words) + CONFIDENCE_GAIN <= certainty(&turned.words)).then_some(turned)
}

/// The place on the picture `on` after it is turned back.
fn upside_down(area: Area, on: Area) -> Area {
    let (width, height) = (on.right - on.left, on.bottom - on.top);
    Area {
        left: width - area.right,
        top: height - area.bottom,
        right: width - area.left,
        bottom: height - area.top,
    }
}

/// The average confidence of the words, from 0 to 1.
fn certainty(words: &[RecognizedWord]) -> f32 {
    let words = words.iter().filter(|word| !word.text.trim().is_empty());
    let (sum, n) = words.fold((0.0, 0), |(sum, n), word| (sum + word.confidence, n + 1));
    sum / n.max(1) as f32
}

fn figure(sheet: Sheet, area: Area, image: Image, budget: &mut PictureBudget) -> Piece {
    let body = Body::Figure(picture::kept(image, budget));
    Piece { page: sheet.number, area, hidden: false, edge: Edge::No, body, lines: Vec::new() }
}

#[cfg(test)]
mod tests {
    use hayro_interpret::kurbo::Affine;

    use super::*;

    /// Recognises words on a picture of two pixels only if the dark one comes first.
    struct Reads;

    impl ExternalTools for Reads {
        fn recognize(&self, image: &Image, _: f32) -> Result<Vec<RecognizedWord>, Unavailable> {
            let mut reader =
                png::Decoder::new(std::io::Cursor::new(&image.bytes)).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            let (text, confidence) =
                if pixels[0] == 0 { ("package", 0.9) } else { ("oseoed", 0.3) };
            let area = Area { left: 10.0, top: 20.0, right: 60.0, bottom: 30.0 };
            Ok(vec![RecognizedWord {
                text: text.to_owned(),
                area,
                line: 0,
                paragraph: 0,
                confidence,
            }])
        }

        fn convert(&self, _: &[u8], _: &str) -> Result<Vec<u8>, Unavailable> {
            Err(Unavailable("not asked".to_owned()))
        }
    }

    fn run(data: [u8; 2]) -> (String, Area, Option<String>) {
        let area = Area { left: 0.0, top: 0.0, right: 100.0, bottom: 200.0 };
        let pictures = [Picture::of_pixels(1, 2, &data, Affine::scale(100.0), area)];
        let sheet = Sheet { number: 1, area };
        let scan = read(sheet, &pictures, &Reads, &mut PictureBudget::new());
        let [_, Piece { body: Body::Text(lines), area, .. }] = &scan.pieces[..] else { panic!() };
        (lines[0].text.text.clone(), *area, scan.problem.map(|fact| fact.to_string()))
    }

    #[test]
    fn a_page_that_lies_upside_down_is_turned() {
        let upright = Area { left: 10.0, top: 20.0, right: 60.0, bottom: 30.0 };
        assert_eq!(run([0, 255]), ("package".to_owned(), upright, None));
        let turned = Area { left: 40.0, top: 170.0, right: 90.0, bottom: 180.0 };
        assert_eq!(run([255, 0]), ("package".to_owned(), turned, None));
        let problem = "1 of 1 words were recognised with little certainty".to_owned();
        assert_eq!(run([255, 255]), ("oseoed".to_owned(), upright, Some(problem)));
    }
}
