//! Selects the reader for each format.

mod book;
mod data;
mod mail;
mod office;
mod page;
mod text;
mod web;

use pikerag_knowledge::{Document, Problem};

use crate::document::file::{Input, TextFile};
use crate::{ExternalTools, Format, Limits, NoTools, PagePicture, ParseError, format_of};
use book::epub;
use data::{csv, json, parquet, sqlite, xml};
use mail::eml;
use office::rtf;
use page::{image, pdf};
use pikerag_unpack::Problems;
use text::{asciidoc, markdown, org, plain, rst, subtitles};
use web::html;

/// The documents of a file, at least one; unreadable parts become problems. `depth` is the number
/// of messages around the file.
pub(crate) fn read(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
    tools: &dyn ExternalTools,
    depth: usize,
) -> Result<(Vec<Document>, Vec<Problem>), ParseError> {
    if limits.max_bytes < bytes.len() {
        let (bytes, limit) = (bytes.len(), limits.max_bytes);
        return Err(ParseError::TooLarge { name: name.to_owned(), bytes, limit });
    }
    let format = format_of(name, bytes)?;
    let mut problems = Problems::default();
    let input = Input { name, bytes, format, limits, tools };
    if let Some(document) = office::read(&input, &mut problems)? {
        return finish(name, vec![document], problems);
    }
    let (mut documents, encoding) = match format {
        Format::Png | Format::Jpeg | Format::Gif | Format::Tiff | Format::Webp | Format::Bmp => {
            (vec![image::read(&input, &mut problems)?], None)
        }
        Format::Pdf => (vec![pdf::read(&input, &mut problems)?], None),
        Format::Epub => (vec![epub::read(&input, &mut problems)?], None),
        Format::Eml => {
            let attachment = |name: &str, bytes: &[u8]| read(name, bytes, limits, tools, depth + 1);
            (eml::read(&input, depth, &attachment, &mut problems)?, None)
        }
        Format::Sqlite => (vec![sqlite::read(&input, &mut problems)?], None),
        Format::Parquet => (vec![parquet::read(&input, &mut problems)?], None),
        Format::Rtf => (vec![rtf::read(&input, &mut problems)], None),
        Format::Xml => (vec![xml::read(&input, &mut problems)?], None),
        _ => read_text(&input, &mut problems)?,
    };
    if let Some(encoding) = encoding {
        for document in &mut documents {
            document.metadata.insert("encoding".to_owned(), encoding.to_owned());
        }
    }
    finish(name, documents, problems)
}

/// Draws a page of a file, from 1, about `width` pixels wide. Only pages of PDF files can be drawn.
///
/// # Errors
/// The file has no such page, or it cannot be drawn.
pub fn draw(
    name: &str,
    bytes: &[u8],
    page: u32,
    width: u32,
    limits: &Limits,
) -> Result<PagePicture, ParseError> {
    let format = format_of(name, bytes)?;
    let input = Input { name, bytes, format, limits, tools: &NoTools };
    match format {
        Format::Pdf => pdf::draw(&input, page, width),
        _ => Err(ParseError::Unsupported {
            name: name.to_owned(),
            seen: "a file without pages to draw".to_owned(),
            hint: "only pages of PDF files can be drawn; save it as a PDF".to_owned(),
        }),
    }
}

/// Drops documents without any text.
fn finish(
    name: &str,
    mut documents: Vec<Document>,
    problems: Problems,
) -> Result<(Vec<Document>, Vec<Problem>), ParseError> {
    documents.retain(|document| !document.blocks.is_empty());
    if documents.is_empty() {
        return Err(ParseError::NothingInside { name: name.to_owned() });
    }
    Ok((documents, problems.finish()))
}

/// Reads a text format; stores the encoding as metadata if it is not UTF-8.
fn read_text(
    input: &Input,
    problems: &mut Problems,
) -> Result<(Vec<Document>, Option<&'static str>), ParseError> {
    let file = TextFile::decode(input.name, input.bytes, input.format, input.limits, problems)?;
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
        _ => vec![plain::read(file)],
    };
    Ok((documents, encoding))
}
