//! Detects the format of a file from its first bytes and its name.

use super::refused::RefusedKind;
use super::{Evidence, Format};
use crate::ParseError;
use pikerag_unpack::encoding::{self, Bytes};
use pikerag_unpack::{archive, image_header};

/// Detects the format from the name's extension, unless the bytes contradict it.
///
/// # Errors
/// [`ParseError::Empty`], [`ParseError::Unsupported`] or [`ParseError::NotText`].
pub fn format_of(name: &str, bytes: &[u8]) -> Result<Format, ParseError> {
    if bytes.is_empty() {
        return Err(ParseError::Empty { name: name.to_owned() });
    }
    let extension = extension_of(name);
    let named = Format::of_extension(&extension);
    let found = picture(bytes).or_else(|| packed_or_rich(named, bytes));
    if let Some(format) = found.or_else(|| office_format(named, bytes)) {
        return Ok(format);
    }
    if is_pdf(named, bytes) {
        return Ok(Format::Pdf);
    }
    if bytes.starts_with(SQLITE) {
        return Ok(Format::Sqlite);
    }
    // The end tells it from a text that begins like that; one that was cut off has its name.
    let is_named_parquet = named == Some(Format::Parquet);
    if bytes.starts_with(PARQUET) && (bytes.ends_with(PARQUET) || is_named_parquet) {
        return Ok(Format::Parquet);
    }
    let refused = |seen: &str, kind: RefusedKind| {
        let (seen, hint) = (seen.to_owned(), kind.advice().to_owned());
        Err(ParseError::Unsupported { name: name.to_owned(), seen, hint })
    };
    if let Some((seen, kind)) = binary_format(&extension, named, bytes) {
        return refused(seen, kind);
    }
    if encoding::kind_of(bytes) == Bytes::Binary {
        // The reader of PDFs says that the file is damaged.
        if named == Some(Format::Pdf) {
            return Ok(Format::Pdf);
        }
        return Err(ParseError::NotText { name: name.to_owned(), found: "zero bytes".to_owned() });
    }
    // Text under a binary name is usually an error page saved instead of the file.
    let mismatch = |expected: &str| {
        let seen = format!("named like {expected}, but holds something else");
        refused(&seen, RefusedKind::Mismatch)
    };
    match (named, extension.as_str()) {
        (Some(format), _) => match format.evidence() {
            Evidence::Extension => Ok(format),
            Evidence::Content => mismatch(called(format)),
        },
        (None, OUTLOOK) => mismatch(AN_OUTLOOK_MESSAGE),
        // These are text, but as plain text they are mostly noise.
        (None, "mbox") => refused("a mailbox", RefusedKind::Mailbox),
        (None, "svg") => refused("an SVG image", RefusedKind::Drawing),
        (None, _) if looks_like_html(bytes) => Ok(Format::Html),
        (None, _) => Ok(Format::Text),
    }
}

/// The kind of picture that the first bytes indicate.
fn picture(bytes: &[u8]) -> Option<Format> {
    Some(match image_header::media_type(bytes)? {
        "image/png" => Format::Png,
        "image/gif" => Format::Gif,
        "image/tiff" => Format::Tiff,
        "image/webp" => Format::Webp,
        "image/bmp" => Format::Bmp,
        _ => Format::Jpeg,
    })
}

/// An EPUB book or a document in Rich Text Format.
fn packed_or_rich(named: Option<Format>, bytes: &[u8]) -> Option<Format> {
    let is_book = bytes.starts_with(b"PK\x03\x04")
        && (named == Some(Format::Epub) || holds(bytes, b"mimetypeapplication/epub+zip"));
    match bytes {
        _ if is_book => Some(Format::Epub),
        [b'{', b'\\', b'r', b't', b'f', ..] => Some(Format::Rtf),
        _ => None,
    }
}

/// Lower-case extension without its dot; empty if there is none.
fn extension_of(name: &str) -> String {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    base.rsplit_once('.').map_or_else(String::new, |(_, extension)| extension.to_ascii_lowercase())
}

const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
const SQLITE: &[u8] = b"SQLite format 3\0";
const PARQUET: &[u8] = b"PAR1";
/// A Parquet file whose footer is encrypted.
const PARQUET_ENCRYPTED: &[u8] = b"PARE";
const OLE: &[u8] = b"\xd0\xcf\x11\xe0";
const OUTLOOK: &str = "msg";
const AN_OUTLOOK_MESSAGE: &str = "an Outlook message";

/// Detects an Office format from the file's own declaration, or from its extension if it has none.
fn office_format(named: Option<Format>, bytes: &[u8]) -> Option<Format> {
    const DECLARED: [(&str, Format); 14] = [
        ("opendocument.text", Format::Odt),
        ("opendocument.spreadsheet", Format::Ods),
        ("opendocument.presentation", Format::Odp),
        ("wordprocessingml.document.main+xml", Format::Docx),
        ("wordprocessingml.template.main+xml", Format::Docx),
        ("ms-word.document.macroEnabled.main+xml", Format::Docx),
        ("presentationml.presentation.main+xml", Format::Pptx),
        ("presentationml.slideshow.main+xml", Format::Pptx),
        ("presentationml.template.main+xml", Format::Pptx),
        ("ms-powerpoint.presentation.macroEnabled.main+xml", Format::Pptx),
        ("spreadsheetml.sheet.main+xml", Format::Xlsx),
        ("spreadsheetml.template.main+xml", Format::Xlsx),
        ("ms-excel.sheet.macroEnabled.main+xml", Format::Xlsx),
        ("ms-excel.template.macroEnabled.main+xml", Format::Xlsx),
    ];
    if ZIP.iter().any(|magic| bytes.starts_with(magic)) {
        if let Some(declared) = archive::declared_type(bytes) {
            let found = DECLARED
                .iter()
                .find(|(name, _)| declared.contains(name))
                .map(|(_, format)| *format);
            if found.is_some() {
                return found;
            }
        }
        return named.filter(|format| DECLARED.iter().any(|(_, declared)| declared == format));
    }
    if bytes.starts_with(OLE) && !is_encrypted(bytes) {
        let found = [
            ("WordDocument", Format::Doc),
            ("Workbook", Format::Xls),
            ("PowerPoint Document", Format::Ppt),
        ];
        return found
            .iter()
            .find(|(stream, _)| has_stream(bytes, stream))
            .map(|(_, format)| *format);
    }
    None
}

/// Whether an OLE file contains an Office document with a password.
fn is_encrypted(bytes: &[u8]) -> bool {
    has_stream(bytes, "EncryptedPackage")
}

/// Whether an OLE file has a stream of this name; its directory stores names in UTF-16.
fn has_stream(bytes: &[u8], name: &str) -> bool {
    let name: Vec<u8> = name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect();
    bytes.windows(name.len()).any(|window| window == name)
}

/// Detects a binary file that is refused from its first bytes, then from its extension; returns its
/// name in messages and its kind.
fn binary_format(
    extension: &str,
    named: Option<Format>,
    bytes: &[u8],
) -> Option<(&'static str, RefusedKind)> {
    const MAGIC: &[(&[u8], &str, RefusedKind)] = &[
        (b"\x1f\x8b", "a gzip archive", RefusedKind::Archive),
        (b"BZh9", "a bzip2 archive", RefusedKind::Archive),
        (b"\xfd7zXZ\0", "an xz archive", RefusedKind::Archive),
        (b"\x28\xb5\x2f\xfd", "a Zstandard archive", RefusedKind::Archive),
        (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", RefusedKind::Archive),
        (b"Rar!\x1a\x07", "a RAR archive", RefusedKind::Archive),
        (b"\x7fELF", "a program", RefusedKind::Program),
    ];
    if ZIP.iter().any(|magic| bytes.starts_with(magic)) {
        return Some(match holds(bytes, b"[Content_Types].xml") {
            true => ("an Office document", RefusedKind::OtherOffice),
            false => ("a ZIP archive", RefusedKind::Archive),
        });
    }
    if bytes.starts_with(PARQUET_ENCRYPTED) && bytes.ends_with(PARQUET_ENCRYPTED) {
        return Some(("an encrypted Parquet file", RefusedKind::EncryptedParquet));
    }
    if bytes.starts_with(OLE) && is_encrypted(bytes) {
        return Some(("an encrypted Office document", RefusedKind::Encrypted));
    }
    if bytes.starts_with(OLE) {
        let is_binary = |format: &Format| format.evidence() == Evidence::Content;
        return Some(match named.filter(is_binary) {
            _ if extension == OUTLOOK => (AN_OUTLOOK_MESSAGE, RefusedKind::OutlookMessage),
            Some(format) => (called(format), RefusedKind::DamagedOffice),
            None => ("an Office file", RefusedKind::DamagedOffice),
        });
    }
    MAGIC.iter().find(|(magic, ..)| bytes.starts_with(magic)).map(|&(_, seen, kind)| (seen, kind))
}

/// A file of the format in messages.
fn called(format: Format) -> &'static str {
    match format {
        Format::Docx | Format::Doc => "a Word document",
        Format::Xlsx | Format::Xls => "an Excel workbook",
        Format::Pptx | Format::Ppt => "a PowerPoint presentation",
        Format::Odt | Format::Ods | Format::Odp => "an OpenDocument file",
        Format::Epub => "an EPUB book",
        Format::Pdf => "a PDF",
        Format::Parquet => "a Parquet file",
        Format::Rtf => "an RTF document",
        Format::Sqlite => "an SQLite database",
        Format::Png | Format::Jpeg | Format::Gif | Format::Tiff | Format::Webp | Format::Bmp => {
            "an image"
        }
        Format::Text
        | Format::Markdown
        | Format::Html
        | Format::Json
        | Format::Jsonl
        | Format::Csv
        | Format::Tsv
        | Format::Xml
        | Format::Eml
        | Format::Subtitles
        | Format::Rst
        | Format::AsciiDoc
        | Format::Org => "a text file",
    }
}

/// Whether the file is a PDF; a file named as one may begin with other bytes.
fn is_pdf(named: Option<Format>, bytes: &[u8]) -> bool {
    let start = bytes.get(..1024).unwrap_or(bytes);
    let inside = || start.windows(5).any(|window| window == b"%PDF-");
    bytes.starts_with(b"%PDF") || named == Some(Format::Pdf) && inside()
}

/// Whether the start of a ZIP file names an entry.
fn holds(bytes: &[u8], entry: &[u8]) -> bool {
    bytes.get(..4096).unwrap_or(bytes).windows(entry.len()).any(|window| window == entry)
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let begins =
        |with: &[u8]| start.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    begins(b"<!doctype html") || begins(b"<html")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, bytes: &[u8]) -> String {
        match format_of(name, bytes) {
            Ok(format) => format!("{format:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn formats_are_detected_from_names_and_bytes() {
        let seen = [
            run("a.TXT", b"x"),
            run("README", b"x"),
            run("a.md", b"x"),
            run("page", b"\n<!DOCTYPE HTML><p>x"),
            run("a.jsonl", b"{}"),
            run("a.txt", b"%PDF-1.7"),
            run(
                "a.txt",
                "x".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>().as_slice(),
            ),
        ];
        assert_eq!(
            seen,
            [
                "Text",
                "Text",
                "Markdown",
                "Html",
                "Jsonl",
                "Pdf",
                "`a.txt` is not text: it holds zero bytes; if it is a document, convert it to text first"
            ]
        );
    }

    #[test]
    fn unsupported_formats_are_named() {
        insta::assert_snapshot!(
            [
                run("a.txt", b""),
                run("a.txt", b"%PDF-1.7"),
                run("a.epub", b"PK\x03\x04"),
                run("a.txt", b"PK\x03\x04"),
                run("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
                run("a.pdf", b"<html>log in first</html>"),
                run("a.eml", b"From: x"),
                run("a.bin", b"a\0b"),
                run("a.pdf", b"a\0b"),
            ]
            .join("\n"),
            @"
        `a.txt` is empty: check that it was saved or copied completely
        Pdf
        Epub
        `a.txt` is a ZIP archive: unpack it and give the files inside
        `a.doc` is a Word document: it is encrypted, damaged or of an old format: open it in its program and save it as .docx, .xlsx or .pptx, without a password
        `a.pdf` is named like a PDF, but holds something else: open it and see whether the right file was saved; if it is text, rename it to .txt
        Eml
        `a.bin` is not text: it holds zero bytes; if it is a document, convert it to text first
        Pdf
        "
        );
    }
}
