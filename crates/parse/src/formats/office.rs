//! Selects the reader of an Office file; files from before 2007 are converted first.

mod docx;
mod drawing;
mod math;
mod numerals;
mod odf;
mod ooxml;
mod para;
mod pptx;
pub(crate) mod rtf;
mod sheets;

use pikerag_knowledge::{Document, Problem};

use crate::document::file::Input;
use crate::{Format, ParseError, format_of};
use pikerag_unpack::Problems;

/// Reads a file of an Office format; `None` if it has another format.
pub(crate) fn read(input: &Input, problems: &mut Problems) -> Result<Option<Document>, ParseError> {
    let (extension, seen) = match input.format {
        Format::Doc => ("doc", "a Word document of a format before 2007"),
        Format::Xls => ("xls", "an Excel workbook of a format before 2007"),
        Format::Ppt => ("ppt", "a PowerPoint presentation of a format before 2007"),
        _ => return read_as(input, input.format, problems),
    };
    let converted = input.tools.convert(input.bytes, extension).map_err(|unavailable| {
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
    let document = match format {
        Format::Docx => docx::read(input, problems)?,
        Format::Pptx => pptx::read(input, problems)?,
        Format::Xlsx => sheets::xlsx::read(input, problems)?,
        Format::Ods => sheets::ods::read(input, problems)?,
        Format::Odt | Format::Odp => odf::read(input, format, problems)?,
        _ => return Ok(None),
    };
    match problems.last() {
        Some(Problem { place, reason, .. }) if document.blocks.is_empty() => {
            Err(input.malformed("a document with any text", format!("`{place}` {reason}")))
        }
        _ => Ok(Some(document)),
    }
}

#[cfg(test)]
mod tests {
    use pikerag_knowledge::Image;

    use crate::test_support::{ole, packed, run};
    use crate::{ExternalTools, Limits, RecognizedWord, Unavailable, parse};

    /// Converts every file to the same document.
    struct Converter;

    impl ExternalTools for Converter {
        fn recognize(&self, _: &Image, _: f32) -> Result<Vec<RecognizedWord>, Unavailable> {
            Err(Unavailable(String::new()))
        }

        fn convert(&self, _: &[u8], from: &str) -> Result<Vec<u8>, Unavailable> {
            assert_eq!(from, "doc");
            let text = "<document><body><p><r><t>converted</t></r></p></body></document>";
            Ok(packed(&[("word/document.xml", text)]))
        }
    }

    #[test]
    fn old_formats_are_converted() {
        let bytes = ole("WordDocument");
        let parsed = parse("old.doc", &bytes, &Limits::default(), &Converter).unwrap();
        assert_eq!(parsed.documents[0].text, "converted");
        assert_eq!(parsed.documents[0].media_type, "application/msword");
        insta::assert_snapshot!([run("old.doc", bytes), run("a.docx", ole("EncryptedPackage")), run("a.xls", ole("Other"))].join("\n"), @"
        `old.doc` is a Word document of a format before 2007: no program that converts .doc files is set up
        `a.docx` is an encrypted Office document: open it with its password and save it without one
        `a.xls` is an Excel workbook: it is encrypted, damaged or of an old format: open it in its program and save it as .docx, .xlsx or .pptx, without a password
        ");
    }

    #[test]
    fn bytes_take_precedence_over_the_name() {
        let types = "<Types><Override ContentType='application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'/></Types>";
        let text = "<document><body><p><r><t>words</t></r></p></body></document>";
        let bytes = packed(&[("[Content_Types].xml", types), ("word/document.xml", text)]);
        assert_eq!(run("a.doc", &bytes), run("a.zip", bytes));
    }
}
