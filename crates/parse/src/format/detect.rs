//! Detects the format of a file from its first bytes and its name.

use super::Format;
use crate::ParseError;
use pikerag_unpack::encoding::{self, Bytes};
use pikerag_unpack::{archive, image_header};

const LATER: &str =
    "this format comes in a later version; until then, save it as text, Markdown or HTML";
const UNPACK: &str = "unpack it and give the files inside";
const DECRYPT: &str = "open it with its password and save it without one";
const RESAVE: &str = "it is encrypted, damaged or of an old format: open it in its program and save it as .docx, .xlsx or .pptx, without a password";
const NO_DOCUMENT: &str = "it is not a document";

/// Detects the format from the name's extension, unless the bytes contradict it.
///
/// # Errors
/// [`ParseError::Empty`], [`ParseError::Unsupported`] or [`ParseError::NotText`].
pub fn format_of(name: &str, bytes: &[u8]) -> Result<Format, ParseError> {
    if bytes.is_empty() {
        return Err(ParseError::Empty { name: name.to_owned() });
    }
    let extension = extension_of(name);
    let found = picture(bytes).or_else(|| packed_or_rich(&extension, bytes));
    if let Some(format) = found.or_else(|| office_format(&extension, bytes)) {
        return Ok(format);
    }
    if is_pdf(&extension, bytes) {
        return Ok(Format::Pdf);
    }
    if bytes.starts_with(SQLITE) {
        return Ok(Format::Sqlite);
    }
    // The end tells it from a text that begins like that; one that was cut off has its name.
    if bytes.starts_with(PARQUET) && (bytes.ends_with(PARQUET) || extension == "parquet") {
        return Ok(Format::Parquet);
    }
    if let Some((seen, hint)) = binary_format(&extension, bytes) {
        let (seen, hint) = (seen.to_owned(), hint.to_owned());
        return Err(ParseError::Unsupported { name: name.to_owned(), seen, hint });
    }
    if encoding::kind_of(bytes) == Bytes::Binary {
        // The reader of PDFs says that the file is damaged.
        if extension == "pdf" {
            return Ok(Format::Pdf);
        }
        return Err(ParseError::NotText { name: name.to_owned(), found: "zero bytes".to_owned() });
    }
    match extension.as_str() {
        "md" | "markdown" | "mdown" | "mkd" => Ok(Format::Markdown),
        "html" | "htm" | "xhtml" | "xht" => Ok(Format::Html),
        "json" => Ok(Format::Json),
        "jsonl" | "ndjson" => Ok(Format::Jsonl),
        "csv" => Ok(Format::Csv),
        "tsv" | "tab" => Ok(Format::Tsv),
        "txt" | "text" | "log" => Ok(Format::Text),
        "xml" | "nxml" => Ok(Format::Xml),
        "eml" => Ok(Format::Eml),
        "vtt" | "srt" => Ok(Format::Subtitles),
        "rst" => Ok(Format::Rst),
        "adoc" | "asciidoc" => Ok(Format::AsciiDoc),
        "org" => Ok(Format::Org),
        other => match format_named(other) {
            // E-mail and similar formats are text, but as plain text they are mostly noise. Text
            // under a binary name is usually an error page saved instead of the file.
            Some((seen, Family::Textual)) => Err(ParseError::Unsupported {
                name: name.to_owned(),
                seen: seen.to_owned(),
                hint: LATER.to_owned(),
            }),
            Some((seen, _)) => Err(ParseError::Unsupported {
                name: name.to_owned(),
                seen: format!("named like {seen}, but holds something else"),
                hint: "open it and see whether the right file was saved; if it is text, rename it to .txt".to_owned(),
            }),
            None if looks_like_html(bytes) => Ok(Format::Html),
            None => Ok(Format::Text),
        },
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
fn packed_or_rich(extension: &str, bytes: &[u8]) -> Option<Format> {
    let is_book = bytes.starts_with(b"PK\x03\x04")
        && (extension == "epub" || holds(bytes, b"mimetypeapplication/epub+zip"));
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

/// Detects an Office format from the file's own declaration, or from its extension if it has none.
fn office_format(extension: &str, bytes: &[u8]) -> Option<Format> {
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
        return match extension {
            "docx" | "docm" => Some(Format::Docx),
            "pptx" | "pptm" => Some(Format::Pptx),
            "xlsx" | "xlsm" => Some(Format::Xlsx),
            "odt" => Some(Format::Odt),
            "ods" => Some(Format::Ods),
            "odp" => Some(Format::Odp),
            _ => None,
        };
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

/// Detects a binary file from its first bytes, then from its extension; returns its name and an
/// advice.
fn binary_format(extension: &str, bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const MAGIC: &[(&[u8], &str, &str)] = &[
        (b"\x1f\x8b", "a gzip archive", UNPACK),
        (b"BZh9", "a bzip2 archive", UNPACK),
        (b"\xfd7zXZ\0", "an xz archive", UNPACK),
        (b"\x28\xb5\x2f\xfd", "a Zstandard archive", UNPACK),
        (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", UNPACK),
        (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
        (b"\x7fELF", "a program", NO_DOCUMENT),
    ];
    if ZIP.iter().any(|magic| bytes.starts_with(magic)) {
        return Some(match format_named(extension) {
            Some((seen, Family::Zipped)) => (seen, LATER),
            _ if holds(bytes, b"[Content_Types].xml") => ("an Office document", LATER),
            _ => ("a ZIP archive", UNPACK),
        });
    }
    if bytes.starts_with(PARQUET_ENCRYPTED) && bytes.ends_with(PARQUET_ENCRYPTED) {
        return Some(("an encrypted Parquet file", "save it without encryption"));
    }
    if bytes.starts_with(OLE) && is_encrypted(bytes) {
        return Some(("an encrypted Office document", DECRYPT));
    }
    if bytes.starts_with(OLE) {
        let named = format_named(extension).filter(|(_, family)| *family != Family::Textual);
        return Some((named.map_or("an Office file", |(seen, _)| seen), RESAVE));
    }
    MAGIC.iter().find(|(magic, ..)| bytes.starts_with(magic)).map(|&(_, seen, hint)| (seen, hint))
}

/// Whether files of a known but unsupported format are text or binary.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Zipped,
    Binary,
    Textual,
}

/// The expected kind of a file with this extension, for known but unsupported formats.
fn format_named(extension: &str) -> Option<(&'static str, Family)> {
    Some(match extension {
        "docx" | "docm" => ("a Word document", Family::Zipped),
        "xlsx" | "xlsm" => ("an Excel workbook", Family::Zipped),
        "pptx" | "pptm" => ("a PowerPoint presentation", Family::Zipped),
        "odt" | "ods" | "odp" => ("an OpenDocument file", Family::Zipped),
        "epub" => ("an EPUB book", Family::Zipped),
        "pdf" => ("a PDF", Family::Binary),
        "parquet" => ("a Parquet file", Family::Binary),
        "doc" => ("a Word document", Family::Binary),
        "xls" => ("an Excel workbook", Family::Binary),
        "ppt" => ("a PowerPoint presentation", Family::Binary),
        "msg" => ("an Outlook message", Family::Binary),
        "png" | "jpg" | "jpeg" | "gif" | "tif" | "tiff" | "webp" | "bmp" => {
            ("an image", Family::Binary)
        }
        "mbox" => ("a mailbox", Family::Textual),
        "rtf" => ("an RTF document", Family::Binary),
        "svg" => ("an SVG image", Family::Textual),
        _ => return None,
    })
}

/// Whether the file is a PDF; a file named as one may begin with other bytes.
fn is_pdf(extension: &str, bytes: &[u8]) -> bool {
    let start = bytes.get(..1024).unwrap_or(bytes);
    let inside = || start.windows(5).any(|window| window == b"%PDF-");
    bytes.starts_with(b"%PDF") || extension == "pdf" && inside()
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
