//! What does parsing hand on? A document: its text, its layout, its links, its problems.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A half-open range of bytes of a document's text; both ends lie on character boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The text under the span, or `None` where the span does not fit the text.
    pub fn of<'a>(&self, text: &'a str) -> Option<&'a str> {
        text.get(self.start..self.end)
    }
}

/// One document as a parser read it. A file holds one, or many (one per JSONL record).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Place inside the file: empty for the file itself, else a record's identifier.
    pub fragment: String,
    /// Title as the document states it, else made from the file name. Never empty.
    pub title: String,
    /// Media type, such as `text/markdown`.
    pub media_type: String,
    /// The text that every span counts in. For plain text and Markdown in UTF-8: the file's own
    /// bytes, so that a span can be opened in the file; else the text as parsed.
    pub text: String,
    /// Layout in reading order; spans rise and do not overlap.
    pub blocks: Vec<Block>,
    /// Links to other documents, in reading order.
    pub links: Vec<Link>,
    /// Who decides where chunks end.
    pub chunking: Chunking,
    /// What the document says of itself (author, date, …), sorted by key.
    pub metadata: BTreeMap<String, String>,
}

/// Who decides where chunks end?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Chunking {
    /// Ours: split by structure and size.
    Free,
    /// The file's: the document is one chunk already (a record of a chunk or corpus file).
    Given,
}

/// A piece of layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Where it stands in the document's text.
    pub span: Span,
    /// Page, from 1, where the format has pages.
    pub page: Option<u32>,
}

/// What a piece of layout is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "block")]
pub enum BlockKind {
    /// A heading; level 1 is the highest.
    Heading {
        /// 1 to 6.
        level: u8,
    },
    /// Running text.
    Paragraph,
    /// One item of a list.
    Item,
    /// A table: the span covers its text rendering, one line per row.
    Table(Table),
    /// Program text or other preformatted text.
    Code,
    /// A caption of a figure or table.
    Caption,
}

/// A table with its cells kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Column names; empty where the table states none.
    pub header: Vec<String>,
    /// Cells by row.
    pub rows: Vec<Vec<String>>,
    /// Where each line of the table stands in the document's text, header first: a chunk may end
    /// between two of them, never inside one.
    pub lines: Vec<Span>,
}

/// A link out of a document, as written there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The target as written: a path, a URL, a title.
    pub target: String,
    /// Where the link stands in the document's text.
    pub span: Span,
}

/// Something a parser could not read; the rest of the file is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Where: a line number, a page, a record; empty for the file as a whole.
    pub place: String,
    /// What is wrong, for a person.
    pub reason: String,
}
