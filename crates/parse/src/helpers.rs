//! Which programs outside help to read? Whoever parses decides what there is (only the application
//! starts processes); where there is none, the file says so instead of coming out empty.

use pikerag_knowledge::{Area, Image};

/// Programs that read what this crate cannot.
pub trait Helpers: Send + Sync {
    /// The words on a picture, in reading order (Tesseract). `scale` is points per pixel: areas come
    /// back in points.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn recognize(&self, image: &Image, scale: f32) -> Result<Vec<SeenWord>, Unavailable>;

    /// A document of an old format (`doc`, `xls`, `ppt`) as its successor's bytes (`docx`, `xlsx`,
    /// `pptx`); `from` is the extension (`LibreOffice`).
    ///
    /// # Errors
    /// [`Unavailable`].
    fn convert(&self, bytes: &[u8], from: &str) -> Result<Vec<u8>, Unavailable>;
}

/// A word that was recognised on a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenWord {
    /// The word.
    pub text: String,
    /// Where it stands, in points from the upper left corner.
    pub area: Area,
    /// Words with equal numbers share a line; numbers rise in reading order.
    pub line: u32,
    /// Lines with equal numbers share a paragraph; numbers rise in reading order.
    pub paragraph: u32,
    /// How sure the program is, from 0 to 1.
    pub confidence: f32,
}

/// Why a helper did not help: what is missing or went wrong, and what to do, for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// No helpers at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unaided;

impl Helpers for Unaided {
    fn recognize(&self, _: &Image, _: f32) -> Result<Vec<SeenWord>, Unavailable> {
        Err(Unavailable(
            "it is a picture of text, and no program to recognise it is set up".to_owned(),
        ))
    }

    fn convert(&self, _: &[u8], from: &str) -> Result<Vec<u8>, Unavailable> {
        Err(Unavailable(format!("no program that converts .{from} files is set up")))
    }
}
