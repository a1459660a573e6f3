//! How do the bytes of a file become documents? (PIKE-RAG §5.1.1, file parsing)
//!
//! One module per format; one `match` in [`parse`] dispatches. A binary format (PDF, Office) joins
//! as one more [`Format`], one more line there and one more module, which takes the bytes as they
//! are instead of the decoded text.
//!
//! What holds for every document: its title is not blank; the spans of its blocks rise, do not
//! overlap, lie on character boundaries and within its text; the same bytes give the same document.

mod archive;
mod asciidoc;
mod csv;
mod docx;
mod drawing;
mod eml;
mod encoding;
mod epub;
mod error;
mod file;
mod format;
mod front_matter;
mod grid;
mod helpers;
mod html;
mod image;
mod jats;
mod json;
mod layout;
mod markdown;
mod markup;
mod math;
mod odf;
mod office;
mod ooxml;
mod order;
mod org;
mod pdf;
mod picture;
mod pptx;
mod problems;
mod record;
mod rst;
mod rtf;
mod seen;
mod sheets;
#[cfg(test)]
mod sound;
mod subtitles;
mod text;
mod writing;
mod xml;
mod xml_text;

use pikerag_knowledge::{Document, Problem};
use serde::{Deserialize, Serialize};

pub use error::ParseError;
pub use format::{Format, format_of};
pub use helpers::{Helpers, SeenWord, Unaided, Unavailable};
pub use picture::pixels;

use file::{File, Input};
use problems::Problems;

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

/// How much a file may ask of us.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Bytes of a file; a larger one is [`ParseError::TooLarge`].
    pub max_bytes: usize,
    /// Records of a JSON or JSONL file; the rest is skipped, as a problem.
    pub max_records: usize,
    /// Nesting: HTML below it is read flat, JSON below it is left out, as a problem. JSON nested
    /// deeper than 128 is refused whatever this says.
    pub max_depth: usize,
    /// Cells of all tables of a file; further rows are skipped, as a problem.
    pub max_cells: usize,
    /// Pages of a document; the rest is skipped, as a problem.
    pub max_pages: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 256 << 20,
            max_records: 1_000_000,
            max_depth: 256,
            max_cells: 20_000_000,
            max_pages: 5_000,
        }
    }
}

/// Reads one file. `name` is the file's name as the user gave it: it tells the format and makes
/// the title where the file states none; `helpers` are the programs outside that may be asked.
///
/// # Errors
/// Nothing of the file can be used. What can be used comes back as documents, the rest as problems.
pub fn parse(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
    helpers: &dyn Helpers,
) -> Result<Parsed, ParseError> {
    parse_nested(name, bytes, limits, helpers, 0)
}

/// [`parse`] for a file that came inside so many others.
pub(crate) fn parse_nested(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
    helpers: &dyn Helpers,
    depth: usize,
) -> Result<Parsed, ParseError> {
    if limits.max_bytes < bytes.len() {
        let (bytes, limit) = (bytes.len(), limits.max_bytes);
        return Err(ParseError::TooLarge { name: name.to_owned(), bytes, limit });
    }
    let format = format_of(name, bytes)?;
    let mut problems = Problems::default();
    let input = Input { name, bytes, format, limits, helpers };
    if let Some(document) = office::read(&input, &mut problems)? {
        return finish(name, vec![document], problems);
    }
    let (mut documents, encoding) = match format {
        Format::Png | Format::Jpeg | Format::Gif | Format::Tiff | Format::Webp | Format::Bmp => {
            (vec![image::read(&input, &mut problems)?], None)
        }
        Format::Pdf => (vec![pdf::read(&input, &mut problems)?], None),
        Format::Epub => (vec![epub::read(&input, &mut problems)?], None),
        Format::Eml => (eml::read(&input, depth, &mut problems)?, None),
        Format::Rtf => (vec![rtf::read(&input, &mut problems)], None),
        Format::Xml => (vec![xml_text::read(&input, &mut problems)?], None),
        _ => read_text(&input, &mut problems)?,
    };
    if let Some(encoding) = encoding {
        for document in &mut documents {
            document.metadata.insert("encoding".to_owned(), encoding.to_owned());
        }
    }
    finish(name, documents, problems)
}

/// Documents without any text are no documents.
fn finish(
    name: &str,
    mut documents: Vec<Document>,
    problems: Problems,
) -> Result<Parsed, ParseError> {
    documents.retain(|document| !document.blocks.is_empty());
    if documents.is_empty() {
        return Err(ParseError::NothingInside { name: name.to_owned() });
    }
    Ok(Parsed { documents, problems: problems.finish() })
}

/// Reads a format that is text; the encoding, where it is not UTF-8.
fn read_text(
    input: &Input,
    problems: &mut Problems,
) -> Result<(Vec<Document>, Option<&'static str>), ParseError> {
    let file = File::decode(input.name, input.bytes, input.format, input.limits, problems)?;
    let encoding = file.encoding;
    let documents = match input.format {
        Format::Markdown => vec![markdown::read(file, problems)],
        Format::Html => vec![html::read(&file, problems)?],
        Format::Json => json::read(&file, problems)?,
        Format::Jsonl => json::read_lines(&file, problems)?,
        Format::Csv => vec![csv::read(&file, csv::Delimiter::Sniffed, problems)?],
        Format::Tsv => vec![csv::read(&file, csv::Delimiter::Tab, problems)?],
        Format::Subtitles => vec![subtitles::read(&file)],
        Format::Rst => vec![rst::read(&file, problems)],
        Format::AsciiDoc => vec![asciidoc::read(&file, problems)],
        Format::Org => vec![org::read(&file, problems)],
        _ => vec![text::read(file)],
    };
    Ok((documents, encoding))
}
