//! How do the bytes of a file become documents? (PIKE-RAG §5.1.1, file parsing)
//!
//! One module per format; one `match` in [`parse`] dispatches. A binary format (PDF, Office) joins
//! as one more [`Format`], one more line there and one more module, which takes the bytes as they
//! are instead of the decoded text.
//!
//! What holds for every document: its title is not blank; the spans of its blocks rise, do not
//! overlap, lie on character boundaries and within its text; the same bytes give the same document.

mod csv;
mod encoding;
mod error;
mod file;
mod format;
mod front_matter;
mod helpers;
mod html;
mod json;
mod layout;
mod markdown;
mod pdf;
mod problems;
mod record;
#[cfg(test)]
mod sound;
mod text;
mod writing;

use pikerag_knowledge::{Document, Problem};
use serde::{Deserialize, Serialize};

pub use error::ParseError;
pub use format::{Format, format_of};
pub use helpers::{Helpers, SeenWord, Unaided, Unavailable};

use file::{File, Input};
use problems::Problems;

/// Version of everything this crate decides; part of the file's recipe, so a change re-reads files.
pub const VERSION: u32 = 2;

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
    if limits.max_bytes < bytes.len() {
        let (bytes, limit) = (bytes.len(), limits.max_bytes);
        return Err(ParseError::TooLarge { name: name.to_owned(), bytes, limit });
    }
    let format = format_of(name, bytes)?;
    let mut problems = Problems::default();
    if format == Format::Pdf {
        let input = Input { name, bytes, format, limits, helpers };
        let document = pdf::read(&input, &mut problems)?;
        if document.blocks.is_empty() {
            return Err(ParseError::NothingInside { name: name.to_owned() });
        }
        return Ok(Parsed { documents: vec![document], problems: problems.finish() });
    }
    let file = File::decode(name, bytes, format, limits, &mut problems)?;
    let encoding = file.encoding;
    let mut documents = match format {
        Format::Text => vec![text::read(file)],
        Format::Markdown => vec![markdown::read(file)],
        Format::Html => vec![html::read(&file, &mut problems)?],
        Format::Json => json::read(&file, &mut problems)?,
        Format::Jsonl => json::read_lines(&file, &mut problems)?,
        Format::Csv => vec![csv::read(&file, csv::Delimiter::Sniffed, &mut problems)?],
        Format::Tsv => vec![csv::read(&file, csv::Delimiter::Tab, &mut problems)?],
        Format::Pdf => Vec::new(), // Read above.
    };
    documents.retain(|document| !document.blocks.is_empty());
    if documents.is_empty() {
        return Err(ParseError::NothingInside { name: name.to_owned() });
    }
    if let Some(encoding) = encoding {
        for document in &mut documents {
            document.metadata.insert("encoding".to_owned(), encoding.to_owned());
        }
    }
    Ok(Parsed { documents, problems: problems.finish() })
}
