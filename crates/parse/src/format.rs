//! Lists the formats that can be read.

pub(crate) mod detect;

use serde::{Deserialize, Serialize};

/// A format that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

impl Format {
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
