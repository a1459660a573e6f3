//! How do the bytes of a file become documents? (PIKE-RAG §5.1.1, file parsing)
//!
//! From below: `bytes` opens what a file is packed in, `format` tells what it is, `document` writes
//! documents, `formats` has a reader per format and the one `match` that dispatches. A new format
//! joins as one more [`Format`], one more line there and one more module. Where words stand on a page
//! is the business of [`pikerag_layout`].
//!
//! What holds for every document: its title is not blank; the spans of its blocks rise, do not
//! overlap, lie on character boundaries and within its text; the same bytes give the same document.

mod bytes;
mod document;
mod error;
mod external_tools;
mod format;
mod formats;
mod limits;
mod problems;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod test_support;

use pikerag_knowledge::{Document, Problem};
use serde::{Deserialize, Serialize};

use bytes::archive::Archive;
use problems::Problems;

pub use bytes::image_header::pixels;
pub use error::ParseError;
pub use external_tools::{ExternalTools, NoTools, Unavailable};
pub use format::Format;
pub use format::detect::format_of;
pub use formats::draw;
pub use limits::Limits;
pub use pikerag_layout::ocr::RecognizedWord;

/// Version of everything this crate decides; part of the file's recipe, so a change re-reads files.
pub const VERSION: u32 = 5;

/// What a file gave: its documents, and what could not be read of it.
///
/// Parsing hostile files belongs into a process of its own; this is what comes back as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parsed {
    /// At least one, in the order of the file.
    pub documents: Vec<Document>,
    /// What was skipped or repaired, in the order found; at most a thousand and one, the last one
    /// then counts the rest.
    pub problems: Vec<Problem>,
}

/// A page as people see it.
#[derive(Clone, Debug, PartialEq)]
pub struct PagePicture {
    /// The picture, as PNG.
    pub png: Vec<u8>,
    /// Width and height of the page in points: places on it, as chunks and citations have them, count in these.
    pub points: (f32, f32),
    /// Pages of the whole file.
    pub pages: u32,
}

/// Unpacks a ZIP archive: each file of it goes to `taken`, in the order of the archive, with `/` between folders, under a name
/// that does not lead out of it. What is damaged, hidden in the archive twice, or refused by `taken` comes back as a problem.
///
/// # Errors
/// It is no archive, is encrypted, or unpacks to more than is taken (512 MiB, 50,000 files).
pub fn unpack(
    name: &str,
    bytes: &[u8],
    mut taken: impl FnMut(&str, Vec<u8>) -> Result<(), String>,
) -> Result<Vec<Problem>, ParseError> {
    let mut problems = Problems::default();
    let mut archive = Archive::open(name, bytes, &mut problems)?;
    let names: Vec<String> = archive.names().map(str::to_owned).collect();
    for file in names {
        let Some(bytes) = archive.entry(&file, &mut problems) else { continue };
        if let Err(reason) = taken(&file, bytes) {
            problems.add(file, reason);
        }
    }
    Ok(problems.finish())
}

/// Reads one file. `name` is the file's name as the user gave it: it tells the format and makes
/// the title where the file states none; `tools` are the programs outside that may be asked.
///
/// # Errors
/// Nothing of the file can be used. What can be used comes back as documents, the rest as problems.
pub fn parse(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
    tools: &dyn ExternalTools,
) -> Result<Parsed, ParseError> {
    let (documents, problems) = formats::read(name, bytes, limits, tools, 0)?;
    Ok(Parsed { documents, problems })
}
