//! What does a picture say? Its recognised words, paragraph by paragraph, and itself as a figure.

use std::fmt::Write;

use pikerag_knowledge::{BlockKind, Document, Image};

use crate::file::Input;
use crate::problems::Problems;
use crate::writing::Writing;
use crate::{ParseError, SeenWord, picture};

/// A word that the program is less sure of is most likely a stain or a line of the drawing.
const LEAST_CONFIDENCE: f32 = 0.3;
/// Words below this are read, but worth a look.
const SHAKY: f32 = 0.6;
/// More pixels on a side than any scanner or camera gives.
const LONGEST_SIDE: u32 = 65_535;

/// Reads a picture.
///
/// # Errors
/// Its words cannot be recognised, so nothing could be found of it; or it is no picture.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Result<Document, ParseError> {
    let media_type = input.format.media_type();
    let (width, height) = picture::pixels(input.bytes)
        .ok_or_else(|| input.malformed(media_type, "its header is damaged"))?;
    if width == 0 || height == 0 || LONGEST_SIDE < width.max(height) {
        let reason = format!("its header states {width} × {height} pixels");
        return Err(input.malformed(media_type, reason));
    }
    let image = Image { media_type: media_type.to_owned(), bytes: input.bytes.to_vec() };
    // One point per pixel: a picture alone has no size on paper.
    let words = input.helpers.recognize(&image, 1.0).map_err(|reason| ParseError::Unsupported {
        name: input.name.to_owned(),
        seen: "a picture".to_owned(),
        hint: reason.0,
    })?;
    let mut writing = Writing::new(input.limits.max_cells);
    let shaky = write_words(&mut writing, &words);
    if 0 < shaky {
        problems.add(
            "",
            format!("{shaky} of {} words were recognised with little certainty", words.len()),
        );
    }
    if words.is_empty() {
        problems.add("", "no words were recognised on it: it is kept as a figure");
    }
    writing.place.area = None;
    writing.figure("", Some(image));
    let title =
        writing.blocks.first().filter(|block| matches!(block.kind, BlockKind::Heading { .. }));
    let title = title.and_then(|block| block.span.of(&writing.text)).map(str::to_owned);
    let mut document = input.document(title, writing);
    document.metadata.insert("pixels".to_owned(), format!("{width} × {height}"));
    Ok(document)
}

/// Writes recognised words, a piece per paragraph, a line per line; how many of them are shaky.
pub(crate) fn write_words(writing: &mut Writing, words: &[SeenWord]) -> usize {
    let mut shaky = 0;
    for paragraph in words.chunk_by(|a, b| a.paragraph == b.paragraph) {
        let mut text = String::new();
        let mut area = None;
        let mut last: Option<&SeenWord> = None;
        for word in paragraph.iter().filter(|word| LEAST_CONFIDENCE <= word.confidence) {
            shaky += usize::from(word.confidence < SHAKY);
            match last {
                Some(last) if last.line != word.line => text.push('\n'),
                Some(last) if !joins(&last.text, &word.text) => text.push(' '),
                _ => {}
            }
            // Writing to a string cannot fail.
            let _ = write!(text, "{}", word.text);
            area = Some(
                area.map_or(word.area, |area: pikerag_knowledge::Area| area.around(word.area)),
            );
            last = Some(word);
        }
        writing.place.area = area;
        writing.plain(BlockKind::Paragraph, &text);
    }
    shaky
}

/// Chinese is recognised character by character; no space belongs between them.
fn joins(left: &str, right: &str) -> bool {
    let (Some(left), Some(right)) = (left.chars().next_back(), right.chars().next()) else {
        return true;
    };
    is_wide(left) && is_wide(right)
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}
