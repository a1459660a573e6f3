//! Reads a picture: its recognised words by paragraph, and the picture itself as a figure.

use pikerag_knowledge::{BlockKind, Document, Image, ProblemFact};
use pikerag_layout::ocr::lay_out;
use pikerag_layout::piece::{Body, LinePlace};

use super::recognize::recognize;
use crate::ParseError;
use crate::document::file::Input;
use crate::document::writing::{LinkedText, Writing};
use pikerag_unpack::Problems;
use pikerag_unpack::image_header;

/// Longer sides, in pixels, do not come from a scanner or camera.
const LONGEST_SIDE: u32 = 65_535;

/// Reads a picture.
///
/// # Errors
/// Its words cannot be recognised, or it is not a picture.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Result<Document, ParseError> {
    let media_type = input.format.media_type();
    let (width, height) = image_header::pixels(input.bytes)
        .ok_or_else(|| input.malformed(media_type, "its header is damaged"))?;
    if width == 0 || height == 0 || LONGEST_SIDE < width.max(height) {
        let reason = format!("its header states {width} × {height} pixels");
        return Err(input.malformed(media_type, reason));
    }
    let image = Image { media_type: media_type.to_owned(), bytes: input.bytes.to_vec() };
    // One point per pixel, because a picture alone has no size on paper.
    let recognized =
        recognize(&image, 1.0, input.tools).map_err(|reason| ParseError::Unsupported {
            name: input.name.to_owned(),
            seen: "a picture".to_owned(),
            hint: reason.0,
        })?;
    let layout = lay_out(&recognized);
    if let Some(reason) = layout.problem() {
        problems.add("", reason);
    }
    if recognized.words.is_empty() {
        problems.add("", ProblemFact::NoWords);
    }
    let mut writing = Writing::new(input.limits.max_cells);
    for (area, body) in layout.pieces {
        writing.place.area = Some(area);
        write(&mut writing, body);
    }
    if writing.cut {
        problems.add("", ProblemFact::CellsSkipped);
    }
    writing.place.area = None;
    writing.figure("", Some(image));
    let mut document = input.document(None, writing);
    document.metadata.insert("pixels".to_owned(), format!("{width} × {height}"));
    Ok(document)
}

/// Writes a piece, one line of text per line of the picture.
fn write(writing: &mut Writing, body: Body) {
    match body {
        Body::Table(table) => writing.table(table.header, table.rows),
        Body::Text(lines) => {
            let (mut text, mut places) = (String::new(), Vec::with_capacity(lines.len()));
            for line in lines {
                if !text.is_empty() {
                    text.push('\n');
                }
                let start = text.len();
                text.push_str(&line.text.text);
                places.push((start..text.len(), LinePlace { page: None, area: line.area }));
            }
            writing.lines(BlockKind::Paragraph, &LinkedText::from(text.as_str()), &places);
        }
        Body::Figure(image) => writing.figure("", image),
    }
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::{Area, BlockKind};

    use super::*;
    use crate::test_support::check;
    use crate::{ExternalTools, Limits, NoTools, RecognizedWord, Unavailable, parse};

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\x03\x04";

    /// Recognises the same words on every picture.
    struct FakeOcr;

    impl ExternalTools for FakeOcr {
        fn recognize(&self, _: &Image, scale: f32) -> Result<Vec<RecognizedWord>, Unavailable> {
            let words = [
                ("Hello", 0, 0, 0.9),
                ("world", 0, 0, 0.5),
                ("stain", 0, 1, 0.1),
                ("again", 0, 1, 0.9),
                ("检", 1, 2, 0.9),
                ("索", 1, 2, 0.9),
            ];
            let word = |(at, (text, paragraph, line, confidence)): (u8, (&str, u32, u32, f32))| {
                let left = f32::from(at) * 10.0 * scale;
                let area = Area { left, top: 0.0, right: left + 9.0, bottom: 9.0 };
                RecognizedWord { text: text.to_owned(), area, line, paragraph, confidence }
            };
            Ok((0..).zip(words).map(word).collect())
        }

        fn convert(&self, bytes: &[u8], from: &str) -> Result<Vec<u8>, Unavailable> {
            NoTools.convert(bytes, from)
        }
    }

    #[test]
    fn words_and_the_picture_itself() {
        let parsed = parse("scan.png", PNG, &Limits::default(), &FakeOcr).unwrap();
        check(&parsed);
        let document = &parsed.documents[0];
        assert_eq!(document.text, "Hello world\nagain\n\n检索\n\n[Figure 1]");
        let area = document.blocks[0].area.unwrap();
        assert_eq!((area.left, area.right), (0.0, 39.0));
        assert_eq!(document.blocks[2].kind, BlockKind::Figure { image: Some(0) });
        assert_eq!(document.images[0].bytes, PNG);
        assert_eq!(document.media_type, "image/png");
        assert_eq!(parsed.problems[0].reason, "1 of 6 words were recognised with little certainty");
    }

    #[test]
    fn without_a_recognition_program_it_is_an_error() {
        let error_of = |bytes: &[u8]| {
            parse("scan.png", bytes, &Limits::default(), &NoTools).unwrap_err().to_string()
        };
        insta::assert_snapshot!(error_of(PNG), @"`scan.png` is a picture: no program for text recognition is set up");
        insta::assert_snapshot!(error_of(&PNG[..12]), @"`scan.png` is not readable as image/png: its header is damaged; open it in its program and save it again; if it is plain text, rename it to .txt");
        insta::assert_snapshot!(error_of(&[&PNG[..16], &[0xff; 8]].concat()), @"`scan.png` is not readable as image/png: its header states 4294967295 × 4294967295 pixels; open it in its program and save it again; if it is plain text, rename it to .txt");
    }
}
