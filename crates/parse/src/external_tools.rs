//! Declares the external programs that help to read files.
//!
//! The caller decides which programs exist, because only the application starts processes. Without
//! a program, reading the file fails with an error instead of giving an empty document.

use pikerag_knowledge::Image;
use pikerag_layout::ocr::RecognizedWord;

/// Programs that read what this crate cannot.
pub trait ExternalTools: Send + Sync {
    /// The words on a picture, in reading order (Tesseract). `scale` is points per pixel; areas are
    /// in points.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn recognize(&self, image: &Image, scale: f32) -> Result<Vec<RecognizedWord>, Unavailable>;

    /// Converts a document of an old format (`doc`, `xls`, `ppt`) to its successor (`docx`, `xlsx`,
    /// `pptx`) with `LibreOffice`; `from` is the extension.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn convert(&self, bytes: &[u8], from: &str) -> Result<Vec<u8>, Unavailable>;
}

/// Why a program could not help, and what to do, in words for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// No external programs: pictures and old Office files give an error.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTools;

impl ExternalTools for NoTools {
    fn recognize(&self, _: &Image, _: f32) -> Result<Vec<RecognizedWord>, Unavailable> {
        Err(Unavailable("no program for text recognition is set up".to_owned()))
    }

    fn convert(&self, _: &[u8], from: &str) -> Result<Vec<u8>, Unavailable> {
        Err(Unavailable(format!("no program that converts .{from} files is set up")))
    }
}
