//! Lists the formats that can be read, with their extensions.

pub(crate) mod detect;
pub(crate) mod group;
pub(crate) mod refused;

use serde::{Deserialize, Serialize};

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::VariantArray)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Plain text, and any text of unknown format.
    Text,
    /// Markdown: `CommonMark` with tables, footnotes, task lists and strikethrough.
    Markdown,
    /// HTML and XHTML.
    Html,
    /// One JSON value: a list of records, or anything else.
    Json,
    /// One JSON value per line.
    Jsonl,
    /// Values separated by commas, semicolons, tabs or bars.
    Csv,
    /// Values separated by tabs.
    Tsv,
    /// Any XML; JATS articles get their own reader.
    Xml,
    /// An EPUB book.
    Epub,
    /// An e-mail with its attachments.
    Eml,
    /// Rich Text Format.
    Rtf,
    /// Subtitles: `WebVTT` or `SubRip`.
    Subtitles,
    /// reStructuredText.
    Rst,
    /// `AsciiDoc`.
    AsciiDoc,
    /// Org mode.
    Org,
    /// A picture; its words are recognised.
    Png,
    /// As above.
    Jpeg,
    /// As above; only the first picture of an animation is read.
    Gif,
    /// As above; it may have several pages.
    Tiff,
    /// As above.
    Webp,
    /// As above.
    Bmp,
    /// A Word document, with macros or without.
    Docx,
    /// A `PowerPoint` presentation.
    Pptx,
    /// An Excel workbook.
    Xlsx,
    /// An `OpenDocument` text.
    Odt,
    /// An `OpenDocument` spreadsheet.
    Ods,
    /// An `OpenDocument` presentation.
    Odp,
    /// A Word document from before 2007; read through [`crate::ExternalTools`].
    Doc,
    /// An Excel workbook from before 2007.
    Xls,
    /// A `PowerPoint` presentation from before 2007.
    Ppt,
    /// PDF, digital or scanned.
    Pdf,
    /// An SQLite database.
    Sqlite,
    /// Apache Parquet: a table, stored by columns.
    Parquet,
}

/// What shows the format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Its bytes, whatever its name. The extension decides only if the bytes fit several formats.
    Content,
    /// The extension of its name, if its bytes are text.
    Extension,
}

impl Format {
    /// All formats.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The extensions of its files, in lower case and without the dot, the usual one first. Empty
    /// if files of the format have any extension, and their bytes show it.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["txt", "text", "log"],
            Self::Markdown => &["md", "markdown", "mdown", "mkd"],
            Self::Html => &["html", "htm", "xhtml", "xht"],
            Self::Json => &["json"],
            Self::Jsonl => &["jsonl", "ndjson"],
            Self::Csv => &["csv"],
            Self::Tsv => &["tsv", "tab"],
            Self::Xml => &["xml", "nxml"],
            Self::Epub => &["epub"],
            Self::Eml => &["eml"],
            Self::Rtf => &["rtf"],
            Self::Subtitles => &["vtt", "srt"],
            Self::Rst => &["rst"],
            Self::AsciiDoc => &["adoc", "asciidoc"],
            Self::Org => &["org"],
            Self::Png => &["png"],
            Self::Jpeg => &["jpg", "jpeg"],
            Self::Gif => &["gif"],
            Self::Tiff => &["tif", "tiff"],
            Self::Webp => &["webp"],
            Self::Bmp => &["bmp"],
            Self::Docx => &["docx", "docm"],
            Self::Pptx => &["pptx", "pptm"],
            Self::Xlsx => &["xlsx", "xlsm"],
            Self::Odt => &["odt"],
            Self::Ods => &["ods"],
            Self::Odp => &["odp"],
            Self::Doc => &["doc"],
            Self::Xls => &["xls"],
            Self::Ppt => &["ppt"],
            Self::Pdf => &["pdf"],
            Self::Sqlite => &[],
            Self::Parquet => &["parquet"],
        }
    }

    /// The format whose files have this extension, in lower case and without the dot.
    pub(crate) fn of_extension(extension: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.extensions().contains(&extension))
    }

    /// What shows that a file has the format.
    pub fn evidence(self) -> Evidence {
        match self {
            Self::Text
            | Self::Markdown
            | Self::Html
            | Self::Json
            | Self::Jsonl
            | Self::Csv
            | Self::Tsv
            | Self::Xml
            | Self::Eml
            | Self::Subtitles
            | Self::Rst
            | Self::AsciiDoc
            | Self::Org => Evidence::Extension,
            Self::Epub
            | Self::Rtf
            | Self::Png
            | Self::Jpeg
            | Self::Gif
            | Self::Tiff
            | Self::Webp
            | Self::Bmp
            | Self::Docx
            | Self::Pptx
            | Self::Xlsx
            | Self::Odt
            | Self::Ods
            | Self::Odp
            | Self::Doc
            | Self::Xls
            | Self::Ppt
            | Self::Pdf
            | Self::Sqlite
            | Self::Parquet => Evidence::Content,
        }
    }

    /// Its media type, such as `text/markdown`.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::Markdown => "text/markdown",
            Self::Html => "text/html",
            Self::Json => "application/json",
            Self::Jsonl => "application/jsonl",
            Self::Csv => "text/csv",
            Self::Tsv => "text/tab-separated-values",
            Self::Xml => "application/xml",
            Self::Epub => "application/epub+zip",
            Self::Eml => "message/rfc822",
            Self::Rtf => "application/rtf",
            Self::Subtitles => "text/vtt",
            Self::Rst => "text/x-rst",
            Self::AsciiDoc => "text/asciidoc",
            Self::Org => "text/org",
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Tiff => "image/tiff",
            Self::Webp => "image/webp",
            Self::Bmp => "image/bmp",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Pptx => {
                "application/vnd.openxmlformats-officedocument.presentationml.presentation"
            }
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Odt => "application/vnd.oasis.opendocument.text",
            Self::Ods => "application/vnd.oasis.opendocument.spreadsheet",
            Self::Odp => "application/vnd.oasis.opendocument.presentation",
            Self::Doc => "application/msword",
            Self::Xls => "application/vnd.ms-excel",
            Self::Ppt => "application/vnd.ms-powerpoint",
            Self::Pdf => "application/pdf",
            Self::Sqlite => "application/vnd.sqlite3",
            Self::Parquet => "application/vnd.apache.parquet",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format_of;
    use crate::test_support::ole;

    /// The first bytes of a file of the format.
    fn sample(format: Format) -> Vec<u8> {
        match format {
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
            | Format::Org => b"words".to_vec(),
            // Without a declaration inside, the extension decides.
            Format::Epub
            | Format::Docx
            | Format::Pptx
            | Format::Xlsx
            | Format::Odt
            | Format::Ods
            | Format::Odp => b"PK\x03\x04".to_vec(),
            Format::Rtf => b"{\\rtf1 words}".to_vec(),
            Format::Png => b"\x89PNG\r\n\x1a\n".to_vec(),
            Format::Jpeg => b"\xff\xd8\xff\xe0".to_vec(),
            Format::Gif => b"GIF89a".to_vec(),
            Format::Tiff => b"II*\0".to_vec(),
            Format::Webp => b"RIFF\0\0\0\0WEBP".to_vec(),
            Format::Bmp => b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec(),
            Format::Doc => ole("WordDocument"),
            Format::Xls => ole("Workbook"),
            Format::Ppt => ole("PowerPoint Document"),
            // A few bytes come before the mark, so the extension decides.
            Format::Pdf => b"\n\n%PDF-1.7".to_vec(),
            Format::Sqlite => b"SQLite format 3\0".to_vec(),
            Format::Parquet => b"PAR1, cut off".to_vec(),
        }
    }

    #[test]
    fn every_extension_is_detected_as_its_format() {
        for &format in Format::ALL {
            for extension in format.extensions() {
                for name in [format!("a.{extension}"), format!("A.{}", extension.to_uppercase())] {
                    assert_eq!(format_of(&name, &sample(format)), Ok(format), "{name}");
                }
                assert_eq!(Format::of_extension(extension), Some(format), "{extension} is twice");
            }
        }
    }

    #[test]
    fn formats_without_an_extension_are_detected_by_their_content() {
        let without = Format::ALL.iter().filter(|format| format.extensions().is_empty());
        let without: Vec<Format> = without.copied().collect();
        assert_eq!(without, [Format::Sqlite]);
        for format in without {
            assert_eq!(format.evidence(), Evidence::Content);
            for name in ["a", "a.db", "a.txt", "a.pdf"] {
                assert_eq!(format_of(name, &sample(format)), Ok(format), "{name}");
            }
        }
    }

    #[test]
    fn text_under_the_name_of_another_format_is_refused() {
        for &format in Format::ALL {
            for extension in format.extensions() {
                let found = format_of(&format!("a.{extension}"), b"words");
                assert_eq!(found.is_ok(), format.evidence() == Evidence::Extension, "{extension}");
            }
        }
    }
}
