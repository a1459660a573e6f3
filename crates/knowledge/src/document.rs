//! Defines the output of parsing: a document with its text, layout, links and problems.

use crate::problem::ProblemFact;
use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

/// A half-open range of bytes of a document's text; both ends lie on character boundaries.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
pub struct Span {
    /// Its first byte, from 0.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The text under the span, or `None` if the span does not fit the text.
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
    /// The text that every span refers to. For plain text and Markdown in UTF-8 these are the
    /// file's own bytes, so that a span can be opened in the file; else the text as parsed.
    pub text: String,
    /// Layout in reading order; spans rise and do not overlap.
    pub blocks: Vec<Block>,
    /// Links to other documents, in reading order.
    pub links: Vec<Link>,
    /// Its pictures, to which [`BlockKind::Figure`] refers by position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Who determines the ends of chunks.
    pub chunking: Chunking,
    /// The document's metadata (author, date, …), sorted by key.
    pub metadata: BTreeMap<String, String>,
}

/// Who determines the ends of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Chunking {
    /// Our chunker: it splits by structure and size.
    Free,
    /// The file: the document is one chunk already (a record of a chunk or corpus file).
    Given,
}

/// A piece of layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Determines how the block is split, and whether it opens a section.
    pub kind: BlockKind,
    /// Its span in the document's text.
    pub span: Span,
    /// Page, slide or sheet, from 1, if the format has them.
    pub page: Option<u32>,
    /// Its place on the page, if the format gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
    /// The place of each of its lines, in reading order, if the format gives it; a paragraph may
    /// continue in the next column or on the next page. If empty, only `page` and `area` are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boxes: Vec<PageBox>,
    /// Readers of the page cannot see it: invisible ink, outside the page, a hidden sheet. It is
    /// kept and shown as hidden; no answer uses it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

impl Block {
    /// A block of a format without pages.
    pub fn new(kind: BlockKind, span: Span) -> Self {
        Self { kind, span, page: None, area: None, boxes: Vec::new(), hidden: false }
    }
}

/// A box on a page, in points (1/72 inch) from the upper left corner of the page as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Area {
    /// Left edge: points from the left edge of the page.
    pub left: f32,
    /// Upper edge: points down from the upper edge of the page.
    pub top: f32,
    /// Right edge, at least `left`.
    pub right: f32,
    /// Lower edge, at least `top`.
    pub bottom: f32,
}

impl Area {
    /// The smallest box around both.
    #[must_use]
    pub fn around(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// A part of a document's text, with its place on a page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PageBox {
    /// The part, in bytes of the document's text.
    pub span: Span,
    /// Its page, from 1; none for a picture, which has only one.
    #[schema(required)]
    pub page: Option<u32>,
    /// Its place on the page.
    pub area: Area,
}

impl PageBox {
    /// The part within a span; the area stays whole. `None` if they do not overlap.
    pub fn within(self, span: Span) -> Option<Self> {
        let (start, end) = (self.span.start.max(span.start), self.span.end.min(span.end));
        (start < end).then_some(Self { span: Span { start, end }, ..self })
    }
}

/// A picture in the form that a vision model receives.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Media type of the bytes, such as `image/png`.
    pub media_type: String,
    /// The file's bytes; in JSON as base64.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({}, {} bytes)", self.media_type, self.bytes.len())
    }
}

impl Image {
    /// A `data:` URL, as chat messages carry pictures.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, STANDARD.encode(&self.bytes))
    }
}

fn to_base64<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(text).map_err(serde::de::Error::custom)
}

/// The kind of a piece of layout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "block")]
pub enum BlockKind {
    /// A heading; level 1 is the highest.
    Heading {
        /// From 1, the highest, to 6.
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
    /// A figure, chart or scanned page. Its span covers its text: its alternative text, the
    /// recognised words, or a line such as `[Figure 3]`.
    Figure {
        /// Its position in [`Document::images`]; `None` if the picture could not be kept.
        image: Option<usize>,
    },
}

/// A table with its cells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Table {
    /// Column names; empty where the table states none.
    pub header: Vec<String>,
    /// Cells by row, without the header; each from left to right.
    pub rows: Vec<Vec<String>>,
    /// The span of each line of the table in the document's text, header first: a chunk may end
    /// between two of them, never inside one.
    pub lines: Vec<Span>,
    /// The number of leading columns that identify a row; 0 unless the source states a key, as a
    /// database does.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub key: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A row that can be found and read alone: `Name: Ada; Born: 1815`; empty cells are skipped.
pub fn named_row(header: &[String], row: &[String]) -> String {
    let names = header.iter().map(Some).chain(std::iter::repeat(None));
    let mut cells = Vec::new();
    for (name, cell) in names.zip(row) {
        match name {
            _ if cell.is_empty() => {}
            Some(name) if !name.is_empty() => cells.push(format!("{name}: {cell}")),
            _ => cells.push(cell.clone()),
        }
    }
    cells.join("; ")
}

/// A link out of a document, as written there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The target as written: a path, a URL, a title.
    pub target: String,
    /// The link's span in the document's text.
    pub span: Span,
}

/// A part that a parser could not read; the rest of the file is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ReadingProblem)]
pub struct Problem {
    /// The place: `line 3`, `page 3`, `record 3`, `slide 3`, `column NAME`, `table NAME`, or a name
    /// in the file; empty for the whole file.
    pub place: String,
    /// The problem in English, for a person.
    pub reason: String,
    /// The same in Chinese; only in answers to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_zh: Option<String>,
    /// The problem as a fact: its `code`, and numbers and names of its own. Reports of earlier
    /// versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub fact: Option<ProblemFact>,
}

impl Problem {
    /// A problem at a place, with its English words.
    pub fn new(place: impl Into<String>, fact: ProblemFact) -> Self {
        let reason = fact.to_string();
        Self { place: place.into(), reason, reason_zh: None, fact: Some(fact) }
    }
}
