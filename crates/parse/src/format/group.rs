//! Groups formats that are read alike, and describes what is read of them.

mod chinese;
mod english;

use serde::Serialize;

use super::Format;

/// Formats that are read alike: a row of the table of formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub enum FormatGroup {
    /// PDF.
    Pdf,
    /// Word.
    Word,
    /// `PowerPoint`.
    PowerPoint,
    /// Excel.
    Excel,
    /// `OpenDocument` texts, spreadsheets and presentations.
    OpenDocument,
    /// Word, Excel and `PowerPoint` from before 2007.
    OldOffice,
    /// Web pages.
    Html,
    /// Books.
    Epub,
    /// E-mails.
    Mail,
    /// Rich Text Format.
    Rtf,
    /// XML.
    Xml,
    /// Texts with light marks.
    Markup,
    /// Plain texts.
    PlainText,
    /// Tables as text.
    Separated,
    /// Databases.
    Sqlite,
    /// Parquet.
    Parquet,
    /// JSON.
    Json,
    /// Subtitles.
    Subtitles,
    /// Pictures.
    Picture,
}

/// A program that reads what this crate cannot; see [`crate::ExternalTools`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::VariantArray)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// Recognises the words on pictures.
    Tesseract,
    /// Converts documents of old formats.
    LibreOffice,
}

impl Tool {
    /// All programs.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name of the program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tesseract => "Tesseract",
            Self::LibreOffice => "LibreOffice",
        }
    }
}

/// What is read of a group of formats, in one language. Back quotes mark code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FormatWords {
    /// The name for people.
    pub name: &'static str,
    /// The headings and tables that are found.
    pub headings_and_tables: &'static str,
    /// The places of pieces: pages, and boxes on them.
    pub pages_and_boxes: &'static str,
    /// Other content that is read, and content that is not; may be empty.
    pub also_read: &'static str,
    /// The program that is needed, and the files that need it; empty without a [`Tool`].
    pub needs: &'static str,
}

impl Format {
    /// The group of formats that are read alike.
    pub fn group(self) -> FormatGroup {
        match self {
            Self::Pdf => FormatGroup::Pdf,
            Self::Docx => FormatGroup::Word,
            Self::Pptx => FormatGroup::PowerPoint,
            Self::Xlsx => FormatGroup::Excel,
            Self::Odt | Self::Ods | Self::Odp => FormatGroup::OpenDocument,
            Self::Doc | Self::Xls | Self::Ppt => FormatGroup::OldOffice,
            Self::Html => FormatGroup::Html,
            Self::Epub => FormatGroup::Epub,
            Self::Eml => FormatGroup::Mail,
            Self::Rtf => FormatGroup::Rtf,
            Self::Xml => FormatGroup::Xml,
            Self::Markdown | Self::Rst | Self::AsciiDoc | Self::Org => FormatGroup::Markup,
            Self::Text => FormatGroup::PlainText,
            Self::Csv | Self::Tsv => FormatGroup::Separated,
            Self::Sqlite => FormatGroup::Sqlite,
            Self::Parquet => FormatGroup::Parquet,
            Self::Json | Self::Jsonl => FormatGroup::Json,
            Self::Subtitles => FormatGroup::Subtitles,
            Self::Png | Self::Jpeg | Self::Gif | Self::Tiff | Self::Webp | Self::Bmp => {
                FormatGroup::Picture
            }
        }
    }
}

impl FormatGroup {
    /// All groups, in the order of the documentation.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The formats of the group, at least one.
    pub fn formats(self) -> impl Iterator<Item = Format> {
        Format::ALL.iter().copied().filter(move |format| format.group() == self)
    }

    /// The program without which such files, or some of their pages, are not read.
    pub fn tool(self) -> Option<Tool> {
        match self {
            Self::Pdf | Self::Picture => Some(Tool::Tesseract),
            Self::OldOffice => Some(Tool::LibreOffice),
            Self::Word
            | Self::PowerPoint
            | Self::Excel
            | Self::OpenDocument
            | Self::Html
            | Self::Epub
            | Self::Mail
            | Self::Rtf
            | Self::Xml
            | Self::Markup
            | Self::PlainText
            | Self::Separated
            | Self::Sqlite
            | Self::Parquet
            | Self::Json
            | Self::Subtitles => None,
        }
    }

    /// What is read, in English.
    pub fn english(self) -> FormatWords {
        english::words(self)
    }

    /// What is read, in Chinese.
    pub fn chinese(self) -> FormatWords {
        chinese::words(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_formats() {
        for &group in FormatGroup::ALL {
            assert!(group.formats().next().is_some(), "{group:?}");
        }
    }

    #[test]
    fn words_name_the_needed_program_and_no_other() {
        for &group in FormatGroup::ALL {
            for words in [group.english(), group.chinese()] {
                let named = Tool::ALL.iter().find(|tool| words.needs.contains(tool.name()));
                assert_eq!(named.copied(), group.tool(), "{group:?}: {}", words.needs);
                assert_eq!(words.needs.is_empty(), group.tool().is_none(), "{group:?}");
            }
        }
    }

    #[test]
    fn words_are_in_their_language() {
        let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        for &group in FormatGroup::ALL {
            let (english, chinese) = (group.english(), group.chinese());
            for (english, chinese) in [
                (english.headings_and_tables, chinese.headings_and_tables),
                (english.pages_and_boxes, chinese.pages_and_boxes),
                (english.also_read, chinese.also_read),
                (english.needs, chinese.needs),
            ] {
                assert!(!is_chinese(english), "{english}");
                assert_eq!(english.is_empty(), chinese.is_empty(), "{english:?}: {chinese:?}");
            }
            for text in [chinese.headings_and_tables, chinese.pages_and_boxes] {
                assert!(is_chinese(text), "{group:?}: {text:?}");
            }
            assert!(!english.name.is_empty() && !chinese.name.is_empty(), "{group:?}");
        }
    }
}
