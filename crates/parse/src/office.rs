//! Which reader takes an Office file? Files of the formats before 2007 are converted first.

use pikerag_knowledge::Document;

use crate::ParseError;
use crate::file::Input;
use crate::format::{Format, format_of};
use crate::problems::Problems;
use crate::{docx, odf, pptx, sheets};

/// Reads a file of an Office format; `None` where it is of another.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Result<Option<Document>, ParseError> {
    let (extension, seen) = match input.format {
        Format::Doc => ("doc", "a Word document of a format before 2007"),
        Format::Xls => ("xls", "an Excel workbook of a format before 2007"),
        Format::Ppt => ("ppt", "a PowerPoint presentation of a format before 2007"),
        _ => return read_as(input, input.format, problems),
    };
    let converted = input.helpers.convert(input.bytes, extension).map_err(|unavailable| {
        let (name, seen) = (input.name.to_owned(), seen.to_owned());
        ParseError::Unsupported { name, seen, hint: unavailable.0 }
    })?;
    let format = format_of(&format!("converted.{extension}x"), &converted)?;
    let converted = Input { bytes: &converted, ..*input };
    read_as(&converted, format, problems)
}

fn read_as(
    input: &Input,
    format: Format,
    problems: &mut Problems,
) -> Result<Option<Document>, ParseError> {
    Ok(Some(match format {
        Format::Docx => docx::read(input, problems)?,
        Format::Pptx => pptx::read(input, problems)?,
        Format::Xlsx => sheets::xlsx::read(input, problems)?,
        Format::Ods => sheets::ods::read(input, problems)?,
        Format::Odt | Format::Odp => odf::read(input, format, problems)?,
        _ => return Ok(None),
    }))
}
