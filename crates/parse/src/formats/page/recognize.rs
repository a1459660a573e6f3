//! Which words and rules does a picture show? The words are those that a program outside recognises;
//! what they say as a page is told by [`pikerag_layout::ocr`].

mod decode;
#[cfg(test)]
mod tests;

use pikerag_knowledge::Image;
use pikerag_layout::ocr::{Recognized, fill_empty_cells, tables_with_empty_cells};
use pikerag_layout::raster::{clean, strokes};

use crate::{ExternalTools, Unavailable};

/// Looks at a picture; `scale` is points per pixel. One with ruled tables is shown to the program
/// without their rules; where it finds no words in them, or empty cells, it is asked about the picture
/// itself, too.
///
/// # Errors
/// The program cannot be asked.
pub(crate) fn recognize(
    image: &Image,
    scale: f32,
    tools: &dyn ExternalTools,
) -> Result<Recognized, Unavailable> {
    let (rules, clean) = match decode::decode(image) {
        Some(grey) => {
            let strokes = strokes::find(&grey);
            let clean = clean::without_frames(&grey, &strokes);
            let clean = clean.and_then(|clean| decode::encode(&clean));
            (strokes.into_iter().map(|stroke| stroke.rule.scaled(scale)).collect(), clean)
        }
        None => (Vec::new(), None),
    };
    let Some(clean) = clean else {
        return Ok(Recognized { words: tools.recognize(image, scale)?, rules });
    };
    let mut recognized = Recognized { words: tools.recognize(&clean, scale)?, rules };
    match tables_with_empty_cells(&recognized).as_deref() {
        Some([]) => {}
        Some(tables) => {
            let more = tools.recognize(image, scale).unwrap_or_default();
            fill_empty_cells(&mut recognized.words, more, tables);
        }
        None => {
            if let Ok(words) = tools.recognize(image, scale) {
                recognized.words = words;
            }
        }
    }
    Ok(recognized)
}
