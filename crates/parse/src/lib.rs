//! Turns the bytes of a file into documents (PIKE-RAG §5.1.1, file parsing).
//!
//! From the bottom up: [`pikerag_unpack`] unpacks and decodes files, `format` detects and describes
//! their format, `document` writes documents, and `formats` has one reader per format and the
//! `match` that selects it. A new format needs one more [`Format`] with its extensions and its
//! [`FormatGroup`], one more line there and one more module. [`pikerag_layout`] handles the layout
//! of pages.
//!
//! Every document has a title that is not blank. The spans of its blocks rise, do not overlap, and
//! lie within the text on character boundaries. The same bytes give the same document.

mod document;
mod external_tools;
mod format;
mod formats;
mod limits;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod test_support;

use pikerag_knowledge::ProblemFact;
use pikerag_knowledge::{Document, Problem};
use serde::{Deserialize, Serialize};

use pikerag_unpack::Problems;
use pikerag_unpack::archive::Archive;

pub use external_tools::{ExternalTools, NoTools, Unavailable};
pub use format::detect::format_of;
pub use format::group::{FormatGroup, FormatWords, Tool};
pub use format::refused::{RefusedKind, RefusedWords};
pub use format::{Evidence, Format};
pub use formats::draw;
pub use limits::Limits;
pub use pikerag_layout::ocr::RecognizedWord;
pub use pikerag_unpack::ParseError;
pub use pikerag_unpack::image_header::pixels;

/// Version of all decisions of this crate; part of the file's recipe, so a change reads files
/// again.
pub const VERSION: u32 = 5;

/// The documents of a file, and the problems of its unreadable parts.
///
/// Hostile files belong in a process of their own, which returns this type as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parsed {
    /// At least one, in the order of the file.
    pub documents: Vec<Document>,
    /// Skipped and repaired parts, in the order of discovery; at most a thousand and one, of which
    /// the last counts the rest.
    pub problems: Vec<Problem>,
}

/// A page as people see it.
#[derive(Clone, Debug, PartialEq)]
pub struct PagePicture {
    /// The picture, as PNG.
    pub png: Vec<u8>,
    /// Width and height of the page in points, the unit of places in chunks and citations.
    pub points: (f32, f32),
    /// The number of pages of the whole file.
    pub pages: u32,
}

/// Unpacks a ZIP archive and passes each file to `taken`, in the order of the archive, with `/`
/// between folders and under a name inside the archive. Damaged files, repeated names, and files
/// that `taken` refuses become problems.
///
/// # Errors
/// It is not an archive, is encrypted, or exceeds a limit when unpacked (512 MiB, 50,000 files).
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
            problems.add(file, ProblemFact::NotTaken { reason });
        }
    }
    Ok(problems.finish())
}

/// Reads one file. `name` is the file's name from the user: it helps to detect the format and gives
/// a title if the file has none. `tools` are the external programs that may be used.
///
/// # Errors
/// Nothing of the file is usable. Otherwise unreadable parts become problems.
pub fn parse(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
    tools: &dyn ExternalTools,
) -> Result<Parsed, ParseError> {
    let (documents, problems) = formats::read(name, bytes, limits, tools, 0)?;
    Ok(Parsed { documents, problems })
}
