//! Recognises the words and rules of a picture with an external program; [`pikerag_layout::ocr`]
//! lays them out.

mod decode;
#[cfg(test)]
mod tests;

use pikerag_knowledge::Image;
use pikerag_layout::ocr::{Recognized, fill_empty_cells, tables_with_empty_cells};
use pikerag_layout::raster::{clean, strokes};

use crate::{ExternalTools, Unavailable};

/// Recognises words; `scale` is points per pixel. For a picture with ruled tables, the program gets
/// a copy without the rules. If it finds no words in the tables, or empty cells, it gets the
/// original picture too.
///
/// # Errors
/// The program is unavailable.
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
