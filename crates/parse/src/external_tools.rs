//! Which programs outside help to read? Whoever parses decides what there is (only the application
//! starts processes); where there is none, the file says so instead of coming out empty.

use pikerag_knowledge::Image;
use pikerag_layout::ocr::RecognizedWord;

/// Programs that read what this crate cannot.
pub trait ExternalTools: Send + Sync {
    /// The words on a picture, in reading order (Tesseract). `scale` is points per pixel: areas come
    /// back in points.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn recognize(&self, image: &Image, scale: f32) -> Result<Vec<RecognizedWord>, Unavailable>;

    /// A document of an old format (`doc`, `xls`, `ppt`) as its successor's bytes (`docx`, `xlsx`,
    /// `pptx`); `from` is the extension (`LibreOffice`).
    ///
    /// # Errors
    /// [`Unavailable`].
    fn convert(&self, bytes: &[u8], from: &str) -> Result<Vec<u8>, Unavailable>;
}

/// Why a program could not help: what is missing or went wrong, and what to do, for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// No program at all: pictures are not read, old Office files not converted, and the error says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTools;

impl ExternalTools for NoTools {
    fn recognize(&self, _: &Image, _: f32) -> Result<Vec<RecognizedWord>, Unavailable> {
        Err(Unavailable(
            "it is a picture of text, and no program to recognise it is set up".to_owned(),
        ))
    }

    fn convert(&self, _: &[u8], from: &str) -> Result<Vec<u8>, Unavailable> {
        Err(Unavailable(format!("no program that converts .{from} files is set up")))
    }
}
