//! Describes the groups of formats in English.

use super::{FormatGroup, FormatWords};

/// Has no pages, or no headings and tables.
const NONE: &str = "none";

/// What is read of a group.
#[expect(clippy::too_many_lines, reason = "one match gives every group its words")]
pub(super) fn words(group: FormatGroup) -> FormatWords {
    let [name, headings_and_tables, pages_and_boxes, also_read, needs] = match group {
        FormatGroup::Pdf => [
            "PDF",
            "headings by size and weight; tables with and without rules; contents and indexes with dots; code",
            "page, and box of each piece and line",
            "columns in order; external links; figures; headers and footers once; hyphenated words joined; Chinese radicals as characters; drawn notes",
            "Tesseract for scanned pages",
        ],
        FormatGroup::Word => [
            "Word",
            "styles with their numbers (`2.1`); tables, merged cells repeated",
            "none: Word sets pages when it draws",
            "templates; lists; footnotes, endnotes, comments behind their paragraph; text boxes; formulas as LaTeX; charts as tables; pictures; headers and footers last; not deletions",
            "",
        ],
        FormatGroup::PowerPoint => [
            "PowerPoint",
            "slide titles; tables",
            "slide, and box of each shape",
            "templates and shows; notes; comments with author; charts as tables; diagrams as text; pictures",
            "",
        ],
        FormatGroup::Excel => [
            "Excel",
            "a sheet is a page, its name the heading; each table apart, with titles as captions",
            "sheet",
            "templates; values as displayed; stored results of formulas; comments, links, charts as tables, pictures",
            "",
        ],
        FormatGroup::OpenDocument => [
            "OpenDocument text, spreadsheet, presentation",
            "as Word, Excel and PowerPoint",
            "as Word, Excel and PowerPoint",
            "notes, remarks, pictures",
            "",
        ],
        FormatGroup::OldOffice => [
            "Word, Excel, PowerPoint before 2007",
            "converted by LibreOffice, then as the newer formats",
            "as the newer formats",
            "",
            "LibreOffice",
        ],
        FormatGroup::Html => [
            "HTML",
            "headings; tables, spans repeated",
            NONE,
            "links; alternative texts; not navigation, forms and hidden parts",
            "",
        ],
        FormatGroup::Epub => ["EPUB", "chapters in order, each as HTML", NONE, "", ""],
        FormatGroup::Mail => [
            "e-mail",
            "subject, then the body, HTML before plain text",
            NONE,
            "attachments as documents, in messages up to three deep; not logos and buttons",
            "",
        ],
        FormatGroup::Rtf => ["RTF", "styles, tables, lists", NONE, "links", ""],
        FormatGroup::Xml => [
            "XML",
            "records become rows; JATS articles become pages with authors, journal, date, DOI",
            NONE,
            "",
            "",
        ],
        FormatGroup::Markup => [
            "Markdown, reStructuredText, AsciiDoc, Org",
            "headings, tables, lists, code",
            NONE,
            "links; front matter and fields as metadata; HTML blocks in Markdown",
            "",
        ],
        FormatGroup::PlainText => [
            "plain text, also under unknown names",
            NONE,
            NONE,
            "paragraphs between blank lines; a short first line is the title; a text under an unknown name that begins like a web page is read as HTML",
            "",
        ],
        FormatGroup::Separated => {
            ["CSV, TSV", "one table; delimiter and header detected from the content", NONE, "", ""]
        }
        FormatGroup::Sqlite => [
            "SQLite databases",
            "each table below a heading with its name",
            NONE,
            "not views, extension tables, bytes, and rows that are only in a `-wal` file (reported)",
            "",
        ],
        FormatGroup::Parquet => [
            "Parquet",
            "one table: numbers with all digits, dates and times in ISO 8601, lists, structs and maps as JSON",
            NONE,
            "Snappy, gzip, LZ4, Zstandard, uncompressed; non-text bytes are left out and counted; a damaged file is refused",
            "",
        ],
        FormatGroup::Json => [
            "JSON, JSON Lines",
            "one document per record; fields as metadata or text",
            NONE,
            "corpora of BEIR and HippoRAG, chunk files of PIKE-RAG",
            "",
        ],
        FormatGroup::Subtitles => {
            ["subtitles", NONE, NONE, "time and speaker before each paragraph", ""]
        }
        FormatGroup::Picture => [
            "pictures: PNG, JPEG, GIF, TIFF, WebP, BMP",
            "recognised words, also in tables; the picture as a figure",
            "box, in pixels",
            "the first picture of an animation",
            "Tesseract",
        ],
    };
    FormatWords { name, headings_and_tables, pages_and_boxes, also_read, needs }
}
